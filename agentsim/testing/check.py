"""Check: a test that applies to any game. Report: the findings of one check in one game, with locations and advice.

A check is a generator of (location, problem), or (location, problem, advice). It returns a description of what it
examined, which begins with "nothing" if the game gave it nothing to examine. The first line of its docstring states
what it checks; the rest is the advice of findings without their own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from inspect import getdoc
from typing import Any, NamedTuple, TypeAlias

from agentsim.errors import location_of
from agentsim.lazy import dataclass
from agentsim.testing.case import Case, Checkable, case_of

MOST_FINDINGS = 20
"""The most findings of one check, since a fault that all questions share shows in each of them."""
_LONGEST = 400
Findings: TypeAlias = Generator[tuple[str, str] | tuple[str, str, str], None, str]


class Stopped(Exception):
    """A game stopped in another process. `found` has the location and the error, as `raised` returns them."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(where, what)
        self.found = (where, what)


class Finding(NamedTuple):
    """The problem `what` at the location `where`, and advice.

    `stopped` means that the game raised an error and the check ended.
    """

    where: str
    what: str
    advice: str
    stopped: bool = False

    def __str__(self) -> str:
        return f"{self.where}: {self.what[:_LONGEST]}. {self.advice}"


class Report(NamedTuple):
    """The findings of one check in one game, and what it examined."""

    looked_at: str
    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings)) or self.looked_at


@dataclass(frozen=True)
class Check:
    """A check of any game. Called with a game's name or `Case`, it returns a report."""

    look: Callable[[Case], Findings]

    @property
    def name(self) -> str:
        return self.look.__name__

    def __call__(self, game: Checkable, **changes: Any) -> Report:
        case = case_of(game, **changes)
        report = self._report(case)
        for other in case.others:
            name, (looked_at, findings) = other.name, self._report(other)
            looked_at = "" if findings or looked_at.startswith("nothing") else f"; {name}: {looked_at}"
            known = {finding.where for finding in report.findings}
            located = (
                each if each.stopped else each._replace(where=f"{name}, {each.where}")
                for each in findings
                if each.where not in known
            )
            report = Report(f"{report.looked_at}{looked_at}", (*report.findings, *located))
        return report

    def _report(self, case: Case) -> Report:
        looked_at, advice = "", " ".join((getdoc(self.look) or "").partition("\n")[2].split())
        found: dict[tuple[str, str], Finding] = {}
        looking = self.look(case)
        try:
            while len(found) < MOST_FINDINGS:
                where, what, *own = next(looking)
                found[where, what] = Finding(where, what, own[0] if own else advice)
        except StopIteration as stop:
            looked_at = stop.value
        except Exception as error:  # noqa: BLE001 - the code of a game may raise anything
            stopped = error.found if isinstance(error, Stopped) else raised(error)
            found[stopped] = Finding(*stopped, "No game may stop there.", stopped=True)
        return Report(looked_at, tuple(found.values()))


def raised(error: Exception) -> tuple[str, str]:
    """Return the location at which a game raised an error, and the error."""
    return location_of(error), f"{type(error).__name__}: {' '.join(str(error).split()).rstrip('.')}"
