"""Golden playthroughs: what each player was asked, told and could see, as text; and a journal that must replay.

`python -m tests.contract.golden` writes them anew; what changes is then reviewed as a diff. A changed journal
means changed rules, and those need a new `rules_version`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentsim import games
from agentsim.engine.codec import text_id
from agentsim.engine.event import EveryoneType, LogEntry
from agentsim.engine.simulate import Simulation
from agentsim.history.contents import Chain
from agentsim.history.fold import dump_history
from agentsim.history.run_files import RunFiles
from tests.contract.harness import GAMES, on_bots, on_server, some_bot
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer

GOLDEN = Path(__file__).parent.parent / "golden"


def playthrough(name: str) -> str:
    """The tiny game on bots, in words."""
    played = on_bots(name, some_bot(games.find(name)))
    return "\n".join(_lines(played)) + "\n"


def _lines(played: Simulation) -> Iterator[str]:
    shown: dict[str, tuple[str, ...]] = {}
    log = list(played.log)
    told = 0
    for wave, decisions in played.waves:
        upto = _told_before(log, wave.asks[0].index, told)
        yield from map(_event, log[told:upto])
        told = upto
        yield f"\n=== wave {wave.number}"
        for ask, decision in zip(wave.asks, decisions, strict=True):
            request, prompt = ask.request, ask.request.prompt()
            yield f"--- {ask.index}. {request.player} is asked {request.kind} (number {ask.nth})"
            before = shown.get(request.player)
            if before is None:
                yield from _quoted((*prompt.rules,))
            same = before is not None and prompt.history[: len(before)] == before
            yield "  (sees)" if before is None or not same else f"  (sees {len(before or ())} lines as before, and)"
            yield from _quoted(prompt.history[len(before) :] if before is not None and same else prompt.history)
            yield from _quoted((*prompt.state, *prompt.question))
            shown[request.player] = prompt.history
            yield f"  options {json.dumps(request.schema()['properties'], ensure_ascii=False)}"
            yield f"  decides {decision.model_dump_json()}"
    yield ""
    yield from map(_event, log[told:])
    yield f"\n=== {played.outcome.reason}"
    for place in played.outcome.standings:
        yield f"{place.rank}. {place.player} {dict(place.score)}"


def _told_before(log: list[LogEntry], decision: int, start: int) -> int:
    """Where in the log the events end that were told before that decision: those of earlier decisions, or none."""
    upto = start
    for place in range(start, len(log)):
        if (log[place].decision or 0) < decision:
            upto = place + 1
        else:
            break
    return upto


def _event(told: LogEntry) -> str:
    to = "everyone" if isinstance(told.to, EveryoneType) else ", ".join(told.to) or "the log alone"
    return f"* [{to}] {told.event.kind}: {told.event.heading} | {told.event.content}"


def _quoted(lines: tuple[str, ...]) -> Iterator[str]:
    for line in "\n".join(lines).split("\n"):
        yield f"  | {line}"


def record(name: str, directory: Path) -> RunFiles:
    """The tiny game on a fake model: a journal and a history that hold no path and no port of this machine."""
    with tempfile.TemporaryDirectory() as scratch, FakeServer(varied_by_schema).in_thread() as server:
        result = on_server(name, server.url(), Path(scratch), stem=name)
        assert result.status == "completed", result.error
        journal = [json.loads(line) for line in result.files.journal.read_text(encoding="utf-8").splitlines()]
        _without_machine(journal[0]["run"])
        history = json.loads(result.files.history.read_text(encoding="utf-8"))
    files = RunFiles(directory, name)
    _without_machine(history["volatile"]["run"])
    dumped = dump_history(history)
    files.history.write_text(dumped, encoding="utf-8")
    journal[-1]["history"] = text_id(dumped)
    chain = Chain()
    chain.protected = True
    with files.journal.open("wb") as out:
        for line in journal:
            del line["chain"]
            out.write(chain.sealed(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()))
    return files


def _without_machine(run: dict[str, Any]) -> None:
    run["base_urls"] = {"fake": "http://127.0.0.1:9/v1"}
    run["paths"]["config"] = "/tiny.toml"


def main() -> None:
    """Write every game's golden files."""
    GOLDEN.mkdir(exist_ok=True)
    for name in GAMES:
        (GOLDEN / f"{name}.txt").write_text(playthrough(name), encoding="utf-8")
        record(name, GOLDEN)


if __name__ == "__main__":
    main()
