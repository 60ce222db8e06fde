"""A compact history stands for exactly the full one: what reads histories reads both, and says the same of both."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import AgentsimError, UsageError
from agentsim.history import compact, making
from agentsim.history.compact import compact_bytes
from agentsim.history.copies import RATIO, Allowance, Copies, whole
from agentsim.history.expanded import COMPACT, compact_in
from agentsim.history.fold import dump_history
from agentsim.history.load import load_history, parsed
from agentsim.history.making import MOST_WHOLE
from agentsim.history.record import History
from agentsim.history.run_files import RunFiles
from agentsim.history.versions import HISTORY_FORMAT as FORMAT
from agentsim.results import run_in
from agentsim.runner.replay import prove, rebuilt, unfit
from tests.cli.command_line import agentsim
from tests.contract.golden import GOLDEN
from tests.contract.harness import GAMES, on_server
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer

HISTORIES = sorted(path.stem for path in GOLDEN.glob("*.json"))
WORDS = "I would say: the bridge needs nine planks, and the mill none at all. Who carries them there by night?"


def short_of(history: History) -> bytes:
    return b"".join(compact_bytes(history))


@pytest.mark.parametrize("stem", HISTORIES)
def test_a_history_of_each_game_comes_back_byte_for_byte_and_is_smaller(stem: str) -> None:
    full = (GOLDEN / f"{stem}.json").read_bytes()
    short = short_of(parsed(full, Path(stem)))
    assert json.loads(short)["format"] == COMPACT
    assert dump_history(parsed(short, Path(stem))).encode() == full
    assert json.dumps(compact_in(short)) == json.dumps(json.loads(full)), "the values of Python programs too"
    assert len(short) < 0.65 * len(full)


def played(name: str, logs: Path, stem: str) -> RunFiles:
    with FakeServer(varied_by_schema).in_thread() as server:
        result = on_server(name, server.url(), logs, stem=stem)
    assert result.status == "completed", result.error
    return result.files


@pytest.mark.parametrize("name", GAMES)
def test_a_long_game_leaves_a_compact_history_of_which_all_that_reads_one_says_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "MOST_WHOLE", 3)
    files = played(name, tmp_path / "logs", "run")
    whole_files = RunFiles(tmp_path / "whole", "run")
    whole_files.directory.mkdir()
    history = load_history(files.history)
    whole_files.history.write_text(dump_history(history), encoding="utf-8")
    whole_files.journal.write_bytes(files.journal.read_bytes())
    assert json.loads(files.history.read_bytes())["format"] == COMPACT
    assert json.loads(whole_files.history.read_bytes())["format"] == FORMAT
    assert prove(files).complete
    assert unfit(files, closely=True) is None
    one, other = (run_in(each) for each in (files, whole_files))
    assert json.dumps(one.history) == json.dumps(other.history)
    assert dump_history(one.record) == dump_history(other.record)
    everything = ("--include-prompts", "--include-reasoning", "--include-usage")
    for words, made in (
        (("logs", "--filename", "run", *everything), "html"),
        (("export", "run", "--format", "csv"), "csv"),
        (("export", "run", "--format", "chat-jsonl"), "jsonl"),
        (("runs", "--json"), ""),
    ):
        said = [agentsim(*words, "--logs-dir", each.directory.name, cwd=tmp_path) for each in (files, whole_files)]
        assert [each.code for each in said] == [0, 0], said[0].err
        if not made:
            assert said[0].out == said[1].out
            continue
        found = [
            {path.name: path.read_bytes() for path in each.directory.glob(f"*.{made}") if path != each.journal}
            for each in (files, whole_files)
        ]
        assert found[0] == found[1] != {}


def test_a_history_in_full_of_a_long_game_is_still_proved_and_a_lost_one_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = played("agent_island", tmp_path, "run")
    full = files.history.read_bytes()
    monkeypatch.setattr(making, "MOST_WHOLE", 3)
    assert prove(files).complete, "it was written before there was another format"
    files.history.unlink()
    rebuilt(files)
    assert json.loads(files.history.read_bytes())["format"] == COMPACT
    assert prove(files).complete
    assert json.dumps(run_in(files).history) == json.dumps(json.loads(full))


def test_a_compact_history_that_was_changed_is_not_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "MOST_WHOLE", 3)
    files = played("agent_island", tmp_path, "run")
    raw = files.history.read_bytes()
    files.history.write_bytes(raw.replace(b'"stage":"json"', b'"stage":"fenced"', 1))
    assert files.history.read_bytes() != raw
    with pytest.raises(AgentsimError, match="parse"):
        prove(files)


def test_only_a_long_game_has_a_compact_history() -> None:
    history = load_history(GOLDEN / "agent_island.json")
    assert b"".join(compact.file_bytes(history)) == (GOLDEN / "agent_island.json").read_bytes()
    more = history.model_copy(update={"decisions": history.decisions * (MOST_WHOLE // len(history.decisions) + 1)})
    assert next(compact.file_bytes(more)).startswith(b'{\n"format":"agentsim-history/2"')


def test_words_stand_once_however_often_they_are_quoted(tmp_path: Path) -> None:
    """A reply, the decision that was read from it, the event, and the line in a later prompt: one text."""
    full = json.loads((GOLDEN / "agent_island.json").read_bytes())
    place = full["decisions"][0]["tries"][-1]["reply"][0]
    [event] = [each for part in full["rounds"] for each in part["events"] if each["metadata"] == {"decision": 1}][:1]
    full["texts"][place] = f'```json\n{{"pitch": "{WORDS}"}}\n```'
    full["decisions"][0]["decision"] = {"pitch": WORDS}
    event["content"] = WORDS
    full["texts"].append(f'{{"round": "Round 1", "event": "Player A\'s pitch", "words": "{WORDS}"}}')
    history = parsed(json.dumps(full).encode(), tmp_path)
    assert dump_history(history).count(WORDS) == 4
    short = short_of(history)
    assert short.decode().count(WORDS) == 1
    assert dump_history(parsed(short, tmp_path)) == dump_history(history)


def test_any_texts_come_back_whatever_they_hold() -> None:
    draw = random.Random(5)
    parts = ["The mill stands still. ", 'He said: "no\\n" ', "\n", "\u2028\U0001f33e ", "é", WORDS, "x", '{"a": "b"}']
    texts = list(dict.fromkeys("".join(draw.choices(parts, k=draw.randrange(14))) for _ in range(400)))
    copies, found = Copies(Allowance()), list[str]()
    written = [copies.add(text) for text in texts]
    for each in json.loads(json.dumps(written)):
        found.append(whole(each, found, 10_000))
    assert found == texts
    assert sum(isinstance(each, list) for each in written) > 100
    assert len(json.dumps(written)) < 0.7 * len(json.dumps(texts))


def test_what_is_known_of_a_record_is_told_from_what_is_only_alike(tmp_path: Path) -> None:
    """`1`, `1.0` and `true` are equal in Python and three things in JSON."""
    full = json.loads((GOLDEN / "auction.json").read_bytes())
    for said, decided in (('{"bid": 1}', 1.0), ('{"bid": 1}', True), ('{"bid": 1.0}', 1), ('{"bid": 1}', 1)):
        place = full["decisions"][0]["tries"][-1]["reply"][0]
        full["texts"][place] = said
        full["decisions"][0]["decision"] = {"bid": decided}
        history = parsed(json.dumps(full).encode(), tmp_path)
        assert dump_history(parsed(short_of(history), tmp_path)) == dump_history(history)


def _event_of(full: dict[str, Any]) -> dict[str, Any]:
    """An event that a decision led to."""
    return next(each for part in full["rounds"] for each in part["events"] if each["metadata"])


ODD: tuple[Callable[[dict[str, Any]], object], ...] = (
    lambda full: _event_of(full).update(role="player Nobody"),
    lambda full: _event_of(full).update(prompt=[0, 2, 1]),
    lambda full: _event_of(full).update(prompt=None),
    lambda full: _event_of(full).update(reasoning=[1]),
    lambda full: _event_of(full).update(metadata={"decision": 999}),
    lambda full: _event_of(full).update(metadata={"decision": True}),
    lambda full: _event_of(full).update(metadata={"decision": 1, "more": None}),
    lambda full: _event_of(full).update(seq=77),
    lambda full: full["decisions"][2].update(index=5_000),
    lambda full: full["decisions"][0].update(wave=7, player=full["decisions"][-1]["player"]),
    lambda full: full["decisions"][0].update(decision={}, parse=None, source="fallback"),
    lambda full: full["decisions"][0].update(tries=[], usage=None),
    lambda full: full["decisions"][0]["tries"][0].update(reply=None, error={"code": "timeout", "message": "late"}),
    lambda full: full["decisions"][0]["tries"][0].update(messages=[]),
)


@pytest.mark.parametrize("change", ODD, ids=map(str, range(len(ODD))))
def test_a_history_that_no_game_of_ours_would_write_comes_back_as_well(
    change: Callable[[dict[str, Any]], object], tmp_path: Path
) -> None:
    full = json.loads((GOLDEN / "agent_island.json").read_bytes())
    change(full)
    history = parsed(json.dumps(full).encode(), tmp_path)
    assert dump_history(parsed(short_of(history), tmp_path)) == dump_history(history)


def _doubling(full: dict[str, Any]) -> None:
    full["texts"][0] = "x" * 64
    full["texts"][1:1] = [[[place, 0, 64 << place]] * 2 for place in range(40)]


def _long_run(full: dict[str, Any]) -> None:
    full["decisions"][0]["tries"][0]["messages"] = [["user", [[0, 10**12]]]]


def _behind(full: dict[str, Any]) -> None:
    full["texts"][1] = [[2, 0, 5]]


def _below(full: dict[str, Any]) -> None:
    full["texts"][1] = [[0, -5, 5]]


def _flag(full: dict[str, Any]) -> None:
    full["texts"][1] = [[0, 0, True]]


def _in_common(full: dict[str, Any]) -> None:
    full["common"]["event"]["visibility"] = ["A"] * 10_000


def _stranger(full: dict[str, Any]) -> None:
    full["rounds"][1]["events"][0]["decision"] = 9_999


def _nothing(full: dict[str, Any]) -> None:
    del full["common"]


def _listed(full: dict[str, Any]) -> None:
    full["decisions"][0] = []


def _numbered(full: dict[str, Any]) -> None:
    full["rounds"][0]["events"][0]["seq"] = "one"


def _no_number(full: dict[str, Any]) -> None:
    full["decisions"][0]["decision"] = ['{"bid": NaN}']


BROKEN = (_doubling, _long_run, _behind, _below, _flag, _in_common, _stranger, _nothing, _listed, _numbered, _no_number)


@pytest.mark.parametrize("spoil", BROKEN, ids=[each.__name__[1:] for each in BROKEN])
def test_a_compact_history_that_cannot_be_one_is_refused_in_one_line(
    spoil: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    full = json.loads(short_of(load_history(GOLDEN / "agent_island.json")))
    spoil(full)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(full), encoding="utf-8")
    with pytest.raises(UsageError, match=r"^[^\n]*run\.json: is not an agentsim history: [^\n]+\Z"):
        load_history(path)


def test_what_is_written_never_stands_for_more_than_a_reader_takes() -> None:
    """Lines that differ in a number alone copy so much that some are written in full."""
    copies, line = Copies(Allowance()), "All is well in the town tonight. " * 100
    texts = [f"{number}. {line}" for number in range(3_000)]
    written = [copies.add(text) for text in texts]
    assert sum(map(len, texts)) <= RATIO * len(json.dumps(written))
    assert sum(isinstance(each, str) for each in written) > 10


def test_the_page_of_the_format_says_which_games_are_compact() -> None:
    page = (Path(__file__).parents[2] / "docs" / "history_format.md").read_text(encoding="utf-8")
    [most] = re.findall(r"more than ([\d,]+) decisions", page)
    assert int(most.replace(",", "")) == MOST_WHOLE
    assert f'"{COMPACT}"' in page
    assert f"{RATIO} times" in page
