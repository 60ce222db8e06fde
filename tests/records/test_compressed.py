"""A large history is compressed: what reads histories reads both, and says the same of both."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import AgentsimError, UsageError
from agentsim.records import run_files
from agentsim.records.load import list_runs, load_history
from agentsim.records.run_files import MOST_PLAIN, RunFiles, find_run
from agentsim.results import load, run_in
from agentsim.runs.replay import history_problem, prove, rebuild_history, without_volatile
from tests.amounts import some_of
from tests.cli.command_line import agentsim, trio
from tests.contract.harness import FEW, GAMES, on_server
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.playing import resume_run
from tests.records.sample import journal
from tests.runs.island import Mendable, play

pytestmark = pytest.mark.usefixtures("few_draws")

TEXT = b'{"game": "agent_island"}' * 100
EVERYTHING = ("--include-prompts", "--include-reasoning", "--include-usage")


@pytest.fixture
def compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every history is a large one."""
    monkeypatch.setattr(run_files, "MOST_PLAIN", 1_000)


def played(name: str, logs: Path) -> RunFiles:
    with FakeServer(varied_by_schema).in_thread() as server:
        result = on_server(name, server.url(), logs)
    assert result.status == "completed", result.error
    return result.files


@pytest.mark.usefixtures("compressed")
@some_of("name", GAMES, *FEW)
def test_what_reads_histories_says_the_same_of_a_compressed_one(name: str, tmp_path: Path) -> None:
    files = played(name, tmp_path / "logs")
    assert files.history.name == "run.json.gz"
    plain = RunFiles(tmp_path / "plain", "run")
    plain.directory.mkdir()
    plain.history.write_bytes(gzip.decompress(files.history.read_bytes()))
    plain.journal.write_bytes(files.journal.read_bytes())
    both = (files, plain)
    assert [prove(each).complete for each in both] == [True, True]
    assert [history_problem(each, closely=True) for each in both] == [None, None]
    assert run_in(files).history == run_in(plain).history
    for words, made in (
        (("logs", "--filename", "run", *EVERYTHING), "*.html"),
        (("export", "run", "--format", "csv"), "*.csv"),
        (("export", "run", "--format", "chat-jsonl"), "*.chat.jsonl"),
        (("runs", "--json"), None),
        (("diff", "run", "run", "--json"), None),
        (("report", "logs", "--format", "json"), None),
    ):
        found = []
        for each in both:
            (each.directory / "logs").unlink(missing_ok=True)
            (each.directory / "logs").symlink_to(".")
            said = agentsim(*words, cwd=each.directory)
            assert said.code == 0, said.err
            made_files = [] if made is None else each.directory.glob(made)
            found.append((said.out, {path.name: path.read_bytes() for path in made_files}))
        assert found[0] == found[1]
        assert any(found[0])


@pytest.mark.usefixtures("compressed")
def test_the_same_history_makes_the_same_bytes(tmp_path: Path) -> None:
    files = played("agent_island", tmp_path)
    raw = files.history.read_bytes()
    assert raw[:8] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00", "no file name, and no time"
    files.history.unlink()
    assert files.history.name == "run.json"
    rebuild_history(files)
    assert files.history.read_bytes() == raw


@pytest.mark.usefixtures("compressed")
def test_a_history_may_be_unpacked_by_hand(tmp_path: Path) -> None:
    files = played("agent_island", tmp_path)
    packed = files.history
    text = gzip.decompress(packed.read_bytes())
    packed.unlink()
    files.history.write_bytes(text)
    assert prove(files).complete
    assert run_in(files).history == json.loads(text)


@pytest.mark.usefixtures("compressed")
def test_a_compressed_history_that_was_changed_is_not_proved(tmp_path: Path) -> None:
    files = played("agent_island", tmp_path)
    text = gzip.decompress(files.history.read_bytes())
    files.history.write_bytes(gzip.compress(text.replace(b'"stage":"json"', b'"stage":"fenced"', 1)))
    with pytest.raises(AgentsimError, match="parse"):
        prove(files)
    assert history_problem(files, closely=True) == "is not what was written"


def test_a_history_that_grows_large_has_one_file_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Mendable().in_thread() as server:
        files = play(server.url(), tmp_path, "limits.max_calls=6").files
        whole = play(server.url(), tmp_path / "whole").files
        assert files.history.name == "run.json"
        monkeypatch.setattr(run_files, "MOST_PLAIN", 1_000)
        assert resume_run(files, env={}, max_calls=100) is not None
    assert [path.name for path in sorted(tmp_path.glob("run.json*"))] == ["run.json.gz", "run.jsonl"]
    assert without_volatile(run_in(files).history) == without_volatile(run_in(whole).history)
    monkeypatch.setattr(run_files, "MOST_PLAIN", MOST_PLAIN)
    rebuild_history(files)
    assert [path.name for path in sorted(tmp_path.glob("run.json*"))] == ["run.json", "run.jsonl"]


@pytest.mark.usefixtures("compressed")
def test_a_run_with_a_compressed_history_can_be_resumed_forked_bundled_and_opened(tmp_path: Path) -> None:
    config = trio(tmp_path)
    done = agentsim("run", "--config", str(config), "--name", "run", "--json", "--display", "none", cwd=tmp_path)
    assert json.loads(done.out)["history"] == "logs/run.json.gz"
    before = {path.name: path.read_bytes() for path in (tmp_path / "logs").iterdir()}
    again = agentsim("resume", "run", "--json", "--display", "none", cwd=tmp_path)
    assert (again.code, json.loads(again.out)["history"]) == (0, "logs/run.json.gz")
    assert {path.name: path.read_bytes() for path in (tmp_path / "logs").iterdir()} == before
    fork = agentsim("fork", "run", "--at", "3", "--name", "branch", "--display", "none", cwd=tmp_path)
    assert fork.code == 0, fork.err
    assert (tmp_path / "logs" / "branch.json.gz").is_file()
    assert [run.name for run in list_runs(tmp_path / "logs")] == ["run", "branch"]
    assert agentsim("bundle", "run", "--out", "run.zip", cwd=tmp_path).code == 0
    assert agentsim("replay", "run.zip", cwd=tmp_path).out.count("the history is identical") == 1
    found = load("run.json.gz", logs_dir=tmp_path / "logs"), load(tmp_path / "logs" / "run.json.gz")
    assert [each.name for each in found] == ["run", "run"]  # type: ignore[union-attr] # it is one run


@pytest.mark.usefixtures("compressed", "without_workers")
def test_a_batch_goes_on_with_its_compressed_histories(tmp_path: Path) -> None:
    words = ("batch", "--config", str(trio(tmp_path)), "--games", "3", "--out", "b", "--display", "none")
    assert agentsim(*words, cwd=tmp_path).code == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()}
    assert {"game_0001.json.gz", "game_0003.json.gz"} <= before.keys()
    (tmp_path / "b" / "game_0002.json.gz").unlink()
    assert agentsim(*words, cwd=tmp_path).code == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()} == before
    (tmp_path / "b" / "game_0002.jsonl").unlink()
    assert agentsim(*words, cwd=tmp_path).code == 0, "a whole history counts without its journal"
    report = agentsim("report", "b", "--format", "json", cwd=tmp_path)
    assert (report.code, "in 3 games" in report.out) == (0, True), report.err


@pytest.mark.usefixtures("compressed")
def test_nothing_is_overwritten_and_a_run_is_found_by_its_compressed_history(tmp_path: Path) -> None:
    played("agent_island", tmp_path).journal.unlink()
    assert find_run(tmp_path, "run.json.gz") == RunFiles(tmp_path, "run")
    assert [run.status for run in list_runs(tmp_path)] == ["completed"]
    book = journal(tmp_path)
    assert book.path.name == "run_2.jsonl"
    book.close()


def bomb() -> bytes:
    packing = zlib.compressobj(9, wbits=31)
    return b"".join([*(packing.compress(bytes(2**20)) for _ in range(40)), packing.flush()])


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (gzip.compress(TEXT)[:-9], "it is cut off, or something stands behind its end"),
        (gzip.compress(TEXT) + b"\0", "it is cut off, or something stands behind its end"),
        (gzip.compress(TEXT) * 2, "it is cut off, or something stands behind its end"),
        (gzip.compress(TEXT)[:-8] + bytes(8), "it cannot be decompressed: "),
        (TEXT, "it cannot be decompressed: "),
        (b"", "it is cut off"),
        (bomb(), "it is packed 200 to 1 and more, which no history is"),
        (gzip.compress(b"{}"), "format: "),
    ],
    ids=["cut off", "longer", "twice", "another sum", "plain", "empty", "a bomb", "no history"],
)
def test_a_file_that_is_no_compressed_history_is_refused_in_one_line(tmp_path: Path, raw: bytes, why: str) -> None:
    path = tmp_path / "run.json.gz"
    path.write_bytes(raw)
    with pytest.raises(UsageError, match=r"^[^\n]*run\.json\.gz: is not an agentsim history: [^\n]+\Z") as refused:
        load_history(path)
    assert why in str(refused.value)
    (listed,) = list_runs(tmp_path)
    assert (listed.status, listed.trouble) == ("unreadable", str(refused.value))


def test_the_page_of_the_format_says_which_histories_are_compressed() -> None:
    page = (Path(__file__).parents[2] / "docs" / "history_format.md").read_text(encoding="utf-8")
    found: Any = re.search(r"larger than (\d+) MiB", page)
    assert int(found[1]) * 2**20 == MOST_PLAIN
