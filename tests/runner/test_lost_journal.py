"""A journal that is removed or replaced while it is written: the run stops, and what was paid for is on the disk."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import AgentsimError
from agentsim.history.journal import Journal
from agentsim.history.run_files import RunFiles
from agentsim.runner.replay import prove
from agentsim.runner.session import go_on
from tests.fakes.replies import varied_by_schema
from tests.history.sample import entry, journal
from tests.runner.island import Mendable, journaled, play, stable

CALLS, LOST_AT = 18, 6


def _removed(files: RunFiles) -> None:
    files.journal.unlink()


def _replaced(files: RunFiles) -> None:
    copy = files.journal.with_suffix(".copy")
    shutil.copy(files.journal, copy)
    copy.replace(files.journal)


def _folder_removed(files: RunFiles) -> None:
    shutil.rmtree(files.directory)


@pytest.mark.parametrize(
    ("lose", "saved"),
    [(_removed, "run"), (_replaced, "run_2"), (_folder_removed, "run")],
    ids=["removed", "replaced", "with its folder"],
)
def test_a_lost_journal_stops_the_run_and_nothing_of_it_is_paid_for_twice(
    tmp_path: Path, lose: Callable[[RunFiles], None], saved: str
) -> None:
    server = Mendable()

    def reply(body: dict[str, Any]) -> str:
        if server.started["ok"] == LOST_AT:
            lose(RunFiles(tmp_path / "logs", "run"))
        return varied_by_schema(body)

    with server.in_thread():
        whole = play(server.url(), tmp_path / "whole")
        server.started["ok"], server.reply = 0, reply
        result = play(server.url(), tmp_path / "logs")
        assert result.status == "failed"
        files = RunFiles(tmp_path / "logs", saved)
        assert result.files == files
        assert str(result.error) == (
            f"{tmp_path / 'logs' / 'run.jsonl'}: the journal was removed or replaced while the run was played; "
            f"what it held is saved as {files.journal}: `agentsim resume {saved}` goes on"
        )
        calls = server.started["ok"]
        assert calls < CALLS
        assert len(journaled(files)) == calls, "whatever had come before it was noticed"
        assert prove(files).decisions == calls
        assert go_on(files, env={}) is not None
        assert (stable(files), server.started["ok"]) == (stable(whole.files), CALLS)


def test_a_game_of_bots_that_loses_its_journal_says_so_at_its_end(tmp_path: Path) -> None:
    """Its decisions wait in memory; nothing of them is paid for."""
    book = journal(tmp_path)
    book.decided(entry(1, source="bot", attempts=(), parse=None), sync=False)
    book.path.unlink()
    with pytest.raises(AgentsimError, match="was removed or replaced while the run was played"):
        book.sync()
    book.stopped("failed", "now", 1.0, "0" * 32)
    book.close()
    again = Journal.reopen(book.path)
    assert list(again.contents.entries) == [(1, 0)]
    again.close()


def test_a_journal_that_others_write_to_is_not_written_to_any_more(tmp_path: Path) -> None:
    book = journal(tmp_path)
    book.decided(entry(1), sync=True)
    book.sync()
    book.path.write_bytes(book.path.read_bytes()[:-20])
    with pytest.raises(AgentsimError, match=r"run\.jsonl: another process has written to it; the history has"):
        book.sync()
    size = book.path.stat().st_size
    with pytest.raises(AgentsimError, match="another process has written to it"):
        book.decided(entry(2), sync=True)
    assert book.path.stat().st_size == size
    book.close()


def test_a_journal_that_cannot_be_saved_says_why(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    book = journal(folder)
    shutil.rmtree(folder)
    folder.write_text("in the way", encoding="utf-8")
    with pytest.raises(AgentsimError, match="it was removed, and cannot be saved whole: File exists"):
        book.sync()
    book.close()


def test_a_journal_that_is_closed_has_nothing_to_sync(tmp_path: Path) -> None:
    book = journal(tmp_path)
    book.close()
    book.sync()


def test_a_disk_that_takes_the_saved_journal_in_pieces_gets_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = journal(tmp_path)
    book.decided(entry(1), sync=True)
    book.sync()
    whole = book.path.read_bytes()
    book.path.unlink()
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda handle, data: real(handle, bytes(data)[:100]))
        with pytest.raises(AgentsimError, match="what it held is saved"):
            book.sync()
    book.close()
    assert book.path.read_bytes() == whole
