"""`agentsim check`: whether a game keeps what every game promises."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentsim.cli import options as o
from agentsim.cli.terminal_output import say, shortened
from agentsim.engine.wording import counted
from agentsim.errors import UsageError

FOUND = 1
_LONGEST = 1000
_MOST = 5  # findings of a check that are said


def check(
    game: Annotated[str, typer.Argument(metavar="GAME", help="The game's name, as `agentsim games` lists it.")],
    *,
    golden: Annotated[
        Path | None, o.path_option("--golden", "Folder of golden files: compared, and written where not there.", "DIR")
    ] = None,
    update: Annotated[bool, o.option("--update", "Write the golden files anew.")] = False,
    seeds: Annotated[int, o.option("--seeds", "Games that a check plays.", "N", min=1)] = 20,
) -> None:
    """Check that a game keeps what every game promises.

    Each check plays the game's tiny scenario on bots and says in one line that nothing was found, or what, and where;
    what else it found stands indented below. An error that stops several checks is said once. Exit code 1 where
    anything is found.
    """
    from agentsim.testing import CHECKS, case_of

    if update and golden is None:
        raise UsageError("--update: which golden files? (--golden DIR)")
    case, failed = case_of(game, golden=golden, update=update, seeds=seeds), 0
    stopped: dict[str, list[str]] = {}  # the checks that an error stopped, by its place
    for name, look in CHECKS.items():
        looked_at, findings = look(case)
        failed += bool(findings)
        places = {finding.where for finding in findings if finding.stopped}
        findings = tuple(each for each in findings if not each.stopped or each.where not in stopped)
        for place in places:
            stopped.setdefault(place, []).append(name)
        if not findings and not places:
            say(shortened(f"ok {name}: {looked_at}", _LONGEST))
        for number, finding in enumerate(findings[:_MOST]):
            say(f"{'  ' if number else f'FAILED {name}: '}{shortened(str(finding), _LONGEST)}")
        if len(findings) > _MOST:
            say(f"  and {len(findings) - _MOST} more")
    for first, *others in stopped.values():
        if others:
            say(f"{counted(len(others), 'more check')} stopped at the error that {first} found: {', '.join(others)}")
    if failed:
        say(f"{game}: {failed} of {len(CHECKS)} checks found something")
        raise typer.Exit(FOUND)
