"""Golden playthroughs: all questions, prompts and events of a game as text.

A leak, a changed word or a changed rule shows as a diff.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from agentsim.engine.event import EveryoneType, LoggedEvent
from agentsim.engine.wording import counted
from agentsim.records.run_files import RunFiles
from agentsim.runs.replay import prove
from agentsim.testing.case import Case, SampleGame
from agentsim.testing.check import Check, Findings


@Check
def golden_files(case: Case) -> Findings:
    """The playthrough is the golden one, and the journal that is kept beside it, `GAME.jsonl`, replays.

    If the change is meant: `agentsim check GAME --golden DIR --update`, and review the diff.
    """
    if case.golden is None:
        return "nothing: no folder of golden files is given (--golden DIR)"
    path = case.golden / f"{case.game.name}.txt"
    now = playthrough(case)
    if written := case.update or not path.exists():
        case.golden.mkdir(parents=True, exist_ok=True)
        path.write_text(now, encoding="utf-8")
    was = path.read_text(encoding="utf-8").splitlines()
    for number, (before, after) in enumerate(zip_longest(was, now.splitlines()), start=1):
        if before != after:
            yield f"{path}:{number}", f"it says {before!r}, and the game now {after!r}"
            break
    if (files := RunFiles(case.golden, case.game.name)).journal.exists():
        prove(files)
    return f"{path}{', written now' if written else ''}"


def playthrough(case: Case) -> str:
    """Return the tiny game, played by bots, as text."""
    return "\n".join(_lines(case.game_by())) + "\n"


def _lines(played: SampleGame) -> Iterator[str]:
    shown: dict[str, tuple[str, ...]] = {}
    log, told = played.log, 0
    for wave in played.waves:
        upto = _told_before(log, wave[0].ask.index, told)
        yield from map(_event, log[told:upto])
        told = upto
        yield f"\n=== wave {wave[0].ask.wave}"
        for ask, decision, *_ in wave:
            request, prompt = ask.request, ask.request.prompt()
            yield f"--- {ask.index}. {request.player} is asked {request.kind} (number {ask.nth})"
            before = shown.get(request.player)
            if before is None:
                yield from _quoted(prompt.rules)
            same = before is not None and prompt.history[: len(before)] == before
            known = len(before or ()) if same else 0
            yield f"  (sees {counted(known, 'line')} as before, and)" if same else "  (sees)"
            yield from _quoted(prompt.history[known:])
            yield from _quoted((*prompt.state, *prompt.question))
            shown[request.player] = prompt.history
            yield f"  options {json.dumps(request.schema()['properties'], ensure_ascii=False)}"
            yield f"  decides {decision.model_dump_json()}"
    yield ""
    yield from map(_event, log[told:])
    yield f"\n=== {played.outcome.reason}"
    for standing in played.outcome.standings:
        yield f"{standing.rank or 0}. {standing.player} {dict(standing.score)}"


def _told_before(log: Sequence[LoggedEvent], decision: int, start: int) -> int:
    """Return the index at which the events of earlier decisions, or of none, end in the log."""
    return next((at for at in range(start, len(log)) if (log[at].decision or 0) >= decision), len(log))


def _event(told: LoggedEvent) -> str:
    to = "everyone" if isinstance(told.to, EveryoneType) else ", ".join(told.to) or "the log alone"
    return f"* [{to}] {told.event.kind}: {told.event.heading} | {told.event.content}"


def _quoted(lines: tuple[str, ...]) -> Iterator[str]:
    for line in "\n".join(lines).split("\n"):
        yield f"  | {line}"
