"""A journal that is removed or replaced during a run: the run stops, and files on disk are left alone."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import AgentsimError
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles
from agentsim.runs.replay import prove
from tests.cli.command_line import agentsim
from tests.fakes.replies import varied_by_schema
from tests.playing import resume_run
from tests.records.sample import entry, journal
from tests.runs.island import Mendable, journaled, play, scenario_text, stable

CALLS, LOST_AT = 18, 6
LOST = "cannot write the journal: it was removed or replaced while the run was played; the history has what was decided"


def _removed(files: RunFiles) -> None:
    files.journal.unlink()


def _replaced(files: RunFiles) -> None:
    copy = files.journal.with_suffix(".copy")
    shutil.copy(files.journal, copy)
    copy.replace(files.journal)


def _folder_removed(files: RunFiles) -> None:
    shutil.rmtree(files.directory)


@pytest.mark.parametrize("lose", [_removed, _replaced, _folder_removed], ids=["removed", "replaced", "with its folder"])
def test_a_lost_journal_stops_the_run_before_the_next_call_and_leaves_what_is_on_the_disk(
    tmp_path: Path, lose: Callable[[RunFiles], None]
) -> None:
    server = Mendable()
    files = RunFiles(tmp_path / "logs", "run")
    left: list[bytes | None] = []

    def reply(body: dict[str, Any]) -> str:
        if server.started["ok"] == LOST_AT:
            lose(files)
            left.append(files.journal.read_bytes() if files.journal.exists() else None)
        return varied_by_schema(body)

    with server.in_thread():
        whole = play(server.url(), tmp_path / "whole")
        server.started["ok"], server.reply = 0, reply
        (tmp_path / "island.toml").write_text(scenario_text(server.url()), encoding="utf-8")
        words = ("--name", "run", "--display", "none", "--set", "limits.concurrency=1")
        said = agentsim("run", "--config", "island.toml", *words, cwd=tmp_path)
        assert (said.code, said.line) == (1, f"logs/run.jsonl: {LOST}")
        assert server.started["ok"] == LOST_AT, "no call is begun after it"
        assert left == [files.journal.read_bytes() if files.journal.exists() else None]
        assert files.directory.exists() == (lose is not _folder_removed)
        if lose is not _folder_removed:
            history = load_history(files.history)
            assert (history.status, len(history.decisions)) == ("failed", LOST_AT), "whatever was paid for"
        if lose is _replaced:
            had = len(journaled(files))
            assert resume_run(files, env={}) is not None
            assert stable(files) == stable(whole.files)
            assert server.started["ok"] == CALLS + LOST_AT - had, "what the copy has is not paid for again"
            assert prove(files).complete


def test_a_game_of_bots_that_loses_its_journal_says_so_at_its_end(tmp_path: Path) -> None:
    """Its decisions are buffered in memory; they cost nothing."""
    book = journal(tmp_path)
    book.append_decision(entry(1, source="bot", attempts=(), parse=None), write_now=False)
    book.path.unlink()
    for last in (book.sync, lambda: book.append_stop("failed", "now", 1.0, "0" * 32)):
        with pytest.raises(AgentsimError, match=LOST):
            last()
    book.close()
    assert list(tmp_path.iterdir()) == []


def test_a_journal_that_others_write_to_is_not_written_to_any_more(tmp_path: Path) -> None:
    book = journal(tmp_path)
    book.append_decision(entry(1), write_now=True)
    book.sync()
    book.path.write_bytes(book.path.read_bytes()[:-20])
    size = book.path.stat().st_size
    for each in (book.sync, lambda: book.append_decision(entry(2), write_now=True)):
        with pytest.raises(AgentsimError, match=r"run\.jsonl: .*: another process has written to it; the history has"):
            each()
    assert book.path.stat().st_size == size
    book.close()


def test_a_journal_that_is_closed_has_nothing_to_sync(tmp_path: Path) -> None:
    book = journal(tmp_path)
    book.close()
    book.sync()
