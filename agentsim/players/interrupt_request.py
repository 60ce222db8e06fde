"""Interrupt request: a person who is not at every question presses Ctrl-C, and is asked at the next one on call.

Which questions these are says the request (`Request.on_call`); signals belong to `runner.signals`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["InterruptRequest"]


def _silently() -> None:
    """Nobody has to know."""


@dataclass
class InterruptRequest:
    """Where nobody is `attended` to, it cannot be rung. `noticed` lets whoever rang know that it was heard."""

    attended: bool = False
    rung: bool = False
    noticed: Callable[[], None] = _silently

    def ring(self) -> bool:
        """Whether this counts as a ring: not where nobody may ring, nor before the last one was answered."""
        if not self.attended or self.rung:
            return False
        self.rung = True
        return True

    def answered(self) -> None:
        """Whoever rang has been asked."""
        self.rung = False
