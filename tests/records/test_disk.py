"""Disk: a write that fails for want of room says which file, what it needs and what is free."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentsim.errors import AgentsimError
from agentsim.records.disk import write_problem
from agentsim.records.run_files import RunFiles, write_history, write_whole, written_beside
from tests.playing import resume_run
from tests.runs.island import Mendable, journaled, play, stable


def failure(code: int) -> OSError:
    return OSError(code, os.strerror(code))


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk with seven bytes left."""
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: SimpleNamespace(free=7))


@pytest.mark.usefixtures("free")
@pytest.mark.parametrize(
    ("code", "needed", "said"),
    [
        (errno.ENOSPC, 4096, "No space left on device; 4096 bytes are needed and 7 free in {}"),
        (errno.ENOSPC, 1, "No space left on device; 1 byte is needed and 7 free in {}"),
        (errno.ENOSPC, 0, "No space left on device; 7 free in {}"),
        (errno.EDQUOT, 4096, "Disk quota exceeded; 4096 bytes are needed"),
        (errno.EFBIG, 4096, "File too large; 4096 bytes are needed"),
        (errno.EROFS, 4096, "Read-only file system"),
        (errno.EACCES, 4096, "Permission denied"),
        (errno.EIO, 4096, "Input/output error"),
    ],
)
def test_a_write_without_room_says_what_it_needs_and_what_is_free(
    tmp_path: Path, code: int, needed: int, said: str
) -> None:
    assert write_problem(failure(code), tmp_path / "run.json", needed) == said.format(tmp_path)
    assert write_problem(failure(code), tmp_path / "gone" / "run.json", needed) == said.format(tmp_path)


@pytest.mark.usefixtures("free")
def test_a_disk_without_room_for_one_more_file_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _folder: SimpleNamespace(f_files=9, f_favail=0))
    said = write_problem(failure(errno.ENOSPC), tmp_path / "run.json", 5)
    assert said == "No space left on device; 5 bytes are needed and no more files fit there"


def test_a_failed_write_is_told_by_the_files_own_name_and_never_by_none(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with pytest.raises(OSError, match="No space") as caught, written_beside(path):
        raise failure(errno.ENOSPC)
    assert caught.value.filename == str(path)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS], ids=errno.errorcode.get)
def test_a_history_or_a_page_without_room_names_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def full(_handle: int) -> None:
        raise failure(code)

    monkeypatch.setattr(os, "fsync", full)
    room = code in {errno.ENOSPC, errno.EDQUOT}
    files = RunFiles(tmp_path, "run")
    writes: list[Callable[[], None]] = [
        lambda: write_whole(files.history, "é" * 10),
        lambda: write_history(files, lambda: [b"x" * 15, b"y" * 5], lambda _digest: None),
    ]
    for write in writes:
        with pytest.raises(AgentsimError) as caught:
            write()
        assert str(caught.value).startswith(f"{files.history}: cannot be written: {os.strerror(code)}")
        assert ("; 20 bytes are needed" in str(caught.value)) == room
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS], ids=errno.errorcode.get)
def test_a_run_without_room_for_its_journal_goes_on_later_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    with Mendable().in_thread() as server:
        whole = play(server.url(), tmp_path / "whole")
        calls, real = len(server.received), os.write

        def full(handle: int, data: Any) -> int:
            name = Path(f"/proc/self/fd/{handle}").resolve().name
            if name == "run.jsonl" and os.fstat(handle).st_size > 9_000:
                raise failure(code)
            return real(handle, data)

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(AgentsimError) as caught:
                play(server.url(), tmp_path / "part", "limits.concurrency=1")
        files = RunFiles(tmp_path / "part", "run")
        assert caught.value.exit_code == 1
        assert f"part/run.jsonl: cannot write the journal: {os.strerror(code)}" in str(caught.value)
        assert ("bytes are needed" in str(caught.value)) == (code != errno.EROFS)
        kept = len(journaled(files))
        paid = len(server.received) - calls
        assert 0 < kept <= paid < calls
        resume_run(files, env={})
        assert len(server.received) - calls - paid == calls - kept, "what is on the disk is not asked again"
    assert stable(files) == stable(whole.files)
