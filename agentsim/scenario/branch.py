"""Branch: where a fork left the run that it came from. Making one is the runner's business."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Branch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A run that shares another's past.

    `of` is the parent's name, `at` the decision that is made anew, or `instead`; `number` tells several branches apart.
    `salts` are the waves, with a word each, after which chance goes its own way; a fork of a fork may have two.
    `changed` are the settings that are not the parent's, as `KEY=VALUE`. `wave` is that of the decision, and `beside`
    the decisions of that wave that are the parent's too; with wave 0, of branches of old, nobody knows any more.
    """

    of: str
    at: int
    number: int | None = None
    instead: Mapping[str, Any] | None = None
    changed: tuple[str, ...] = ()
    salts: tuple[tuple[int, str], ...] = ()
    wave: int = 0
    beside: tuple[int, ...] = ()

    def inherits(self, wave: int, index: int) -> bool:
        """Whether a decision is the parent's, which was paid for there."""
        return wave < self.wave or index in self.beside

    def same_arm(self, other: Branch) -> bool:
        """Whether both do the same to the same run, so that only their numbers tell their futures apart."""
        return (self.of, self.at, self.instead, self.changed) == (other.of, other.at, other.instead, other.changed)

    def record(self) -> dict[str, Any]:
        """As journals and histories keep it."""
        return {
            "of": self.of,
            "at": self.at,
            "branch": self.number,
            "instead": None if self.instead is None else dict(self.instead),
            "changed": list(self.changed),
            "salts": [list(branch_seed) for branch_seed in self.salts],
            **({"wave": self.wave, "beside": list(self.beside)} if self.wave else {}),
        }

    @classmethod
    def restore(cls, record: Mapping[str, Any]) -> Branch:
        """The branch that `record()` came from; `KeyError`, `TypeError` or `ValueError` where it is none."""
        number, instead = record["branch"], record["instead"]
        if not (instead is None or isinstance(instead, Mapping)):
            raise TypeError("fork.instead is no decision")
        return cls(
            of=str(record["of"]),
            at=int(record["at"]),
            number=None if number is None else int(number),
            instead=instead,
            changed=tuple(map(str, record["changed"])),
            salts=tuple((int(wave), str(word)) for wave, word in record["salts"]),
            wave=int(record.get("wave", 0)),
            beside=tuple(map(int, record.get("beside", ()))),
        )
