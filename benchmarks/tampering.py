"""Journals, histories and bundles changed by somebody else: is any change read in silence?

    python -m benchmarks.tampering                 # 10,000 flipped bytes, 100 + 100 alterations
    python -m benchmarks.tampering --flips 500 --alterations 20 --json

Every game, played by a model that answers equal requests equally, has a whole run and one that stopped half way.
`resume` must refuse a flipped byte in the journal of the second, or end with the history of the first. `replay` must
refuse a flipped byte in the first, unless the journal still says the same. `replay` must refuse an altered history or
bundle. Both must refuse an exchanged reply or decision, even if every digest and the history are made again. Each
silent change is printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import shutil
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from agentsim import games
from agentsim.engine.codec import text_id
from agentsim.errors import AgentsimError
from agentsim.records.bundle import pack, unpack
from agentsim.records.run_files import RunFiles
from agentsim.runs import game_in_progress
from agentsim.runs.replay import prove, rebuild_history
from tests.contract.harness import on_server
from tests.fakes.journals import change_line, plain
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.playing import resume_run


@dataclass(frozen=True)
class Played:
    """The runs of one game, the whole one's history without `volatile`, and a folder for changed copies."""

    game: str
    whole: RunFiles
    part: RunFiles
    wanted: str
    scratch: Path

    def copy(self, files: RunFiles) -> RunFiles:
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()
        for path in (files.journal, files.history):
            shutil.copy(path, self.scratch)
        return RunFiles(self.scratch, files.name)


def stable(files: RunFiles) -> str:
    """Return the history without the part that may differ between two executions."""
    return files.history.read_text(encoding="utf-8").partition('"volatile":')[0]


def played(game: str, url: str, folder: Path) -> Played:
    """Play a game, and half of it again."""
    whole = on_server(game, url, folder / game, stem="whole")
    assert whole.status == "completed", whole.error
    calls = max(2, whole.history["usage"]["calls"] // 2)
    part = on_server(game, url, folder / game, f"limits.max_calls={calls}", stem="part")
    assert part.status == "stopped_budget", part.error
    return Played(game, whole.files, part.files, stable(whole.files), folder / f"{game}-changed")


def outcome(use: Callable[[], object], files: RunFiles, wanted: str | None = None) -> str:
    """Return `refused`, `same` if the history is the wanted one afterwards, or else `SILENT`.

    Errors other than `AgentsimError` propagate.
    """
    try:
        use()
    except AgentsimError:
        return "refused"
    return "same" if stable(files) == wanted else "SILENT"


def flips(of: Played, number: int, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Flip one bit at a time, alternately for `resume` and for `replay`, and yield the outcome and the place."""
    for turn in range(number):
        source = of.part if turn % 2 else of.whole
        files = of.copy(source)
        raw = bytearray(source.journal.read_bytes())
        at = rng.randrange(len(raw))
        raw[at] ^= 1 << rng.randrange(8)
        files.journal.write_bytes(raw)
        if turn % 2:
            came = outcome(partial(resume_run, files, env={}, max_calls=10_000), files, of.wanted)
        else:
            came = outcome(partial(prove, files), files, of.wanted)
        yield came, f"{of.game} {source.name}: byte {at}"


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*path, key)
            yield from _places(part, (*path, key))


def _other(value: Any, rng: random.Random) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + rng.choice((1, -1, 10))
        case str():
            return value[:-1] if value and rng.random() < 0.5 else f"{value}!"
        case list():
            return value[:-1] or [0]
        case None:
            return 0
    return {**value, "more": 1}


def altered(text: str, rng: random.Random) -> str:
    """Return a history with one member changed, removed or exchanged, or with another whitespace."""
    history = json.loads(text)
    *outer, key = rng.choice(list(_places(history)))
    inside = history
    for step in outer:
        inside = inside[step]
    match rng.randrange(4):
        case 0 if isinstance(inside, dict):
            del inside[key]
        case 1 if isinstance(inside, list) and len(inside) > 1:
            other = rng.randrange(len(inside))
            inside[key], inside[other] = copy.deepcopy(inside[other]), inside[key]
        case 2:
            at = rng.randrange(len(text))
            return text[:at] + rng.choice(" \n") + text[at:]
        case _:
            inside[key] = _other(inside[key], rng)
    changed = json.dumps(history, ensure_ascii=False)
    return changed if changed != json.dumps(json.loads(text), ensure_ascii=False) else text + " "


def alterations(of: Played, number: int, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Change histories and members of bundles without new digests, and yield the outcomes."""
    for turn in range(number):
        files = of.copy(rng.choice((of.whole, of.part)))
        if turn % 2:
            text = altered(files.history.read_text(encoding="utf-8"), rng)
            files.history.write_text(text, encoding="utf-8")
            yield outcome(partial(prove, files), files), f"{of.game} {files.name}: a history"
            continue
        bundle, other = of.scratch / "one.zip", of.scratch / "other.zip"
        pack([files], bundle)
        with zipfile.ZipFile(bundle) as source, zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as target:
            names = source.namelist()
            which = rng.choice(names)
            for name in names:
                raw = bytearray(source.read(name))
                if name == which:
                    raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
                target.writestr(source.getinfo(name), bytes(raw))
        yield outcome(partial(_proved, other, of.scratch / "out"), files), f"{of.game} bundle: {which}"


def _proved(bundle: Path, folder: Path) -> None:
    folder.mkdir()
    for run in unpack(bundle, folder).runs:
        prove(run)


def lies(of: Played, number: int, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Exchange a decision or a reply for another of its kind, and yield the outcomes.

    All digests and the history are made again, so that they fit.
    """
    lines = [json.loads(line) for line in plain(of.whole.journal.read_bytes().splitlines(keepends=True))]
    said = [line for line in lines if line["record"] == "decision" and line["source"] == "model"]
    told = 0
    while told < number:
        one = rng.choice(said)
        others = [line for line in said if line["kind"] == one["kind"] and line["decision"] != one["decision"]]
        if not others:
            continue
        other, of_reply = rng.choice(others), rng.random() < 0.5
        if of_reply:  # a record refers to texts that precede it
            other, one = sorted((one, other), key=said.index)
        files = of.copy(of.whole)
        reply = other["attempts"][-1]["completion"]["text"]
        named = f'{{"record":"decision","index":{one["index"]},'
        change_line(files.journal, named, partial(_say, reply) if of_reply else partial(_decide, other["decision"]))
        try:
            with patch.object(game_in_progress, "_says", return_value=True):  # or the lie would be found here already
                rebuild_history(files)  # the history of the changed journal
        except AgentsimError:
            continue  # it is not legal there, or changes later questions
        history = text_id(files.history.read_text(encoding="utf-8"))
        change_line(files.journal, '"record":"stop"', partial(dict.update, history=history))
        told += 1
        what = f"{of.game} decision {one['index']}: its {'reply' if of_reply else 'decision'}"
        yield outcome(partial(prove, files), files), what
        files.history.unlink()
        yield outcome(partial(resume_run, files, env={}), files), f"{what}, resumed"


def _say(reply: str, line: dict[str, Any]) -> None:
    line["attempts"][-1]["completion"]["text"] = reply


def _decide(decision: Any, line: dict[str, Any]) -> None:
    line["decision"] = decision


def main() -> int:
    """Change all files, and print the outcomes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--flips", type=int, default=10_000, help="bytes flipped in journals")
    parser.add_argument("--alterations", type=int, default=100, help="of histories and bundles, and as many lies")
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    given = parser.parse_args()
    rng, names = random.Random(given.seed), games.names()
    found: dict[str, Counter[str]] = {}
    silent = []
    with tempfile.TemporaryDirectory() as folder, FakeServer(varied_by_schema).in_thread() as server:
        for game in names:
            of = played(game, server.url(), Path(folder))
            for kind, make, number in (
                ("flipped bytes", flips, given.flips),
                ("altered histories and bundles", alterations, given.alterations),
                ("lies with new digests", lies, given.alterations),
            ):
                for came, what in make(of, -(-number // len(names)), rng):
                    found.setdefault(kind, Counter())[came] += 1
                    if came == "SILENT":
                        silent.append(f"{kind}: {what}")
    if given.json:
        print(json.dumps({kind: dict(counts) for kind, counts in found.items()}))
    else:
        for kind, counts in found.items():
            print(f"{kind}: {', '.join(f'{number:,} {came}' for came, number in sorted(counts.items()))}")
    for line in silent:
        print(f"  in silence: {line}", file=sys.stderr)
    return int(bool(silent))


if __name__ == "__main__":
    sys.exit(main())
