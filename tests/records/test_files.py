"""Files of a run: names that cannot lead anywhere else, nothing overwritten, and files that are whole or not there."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.errors import AgentsimError, UsageError
from agentsim.records.run_files import (
    NameTaken,
    RunFiles,
    default_stem,
    find_run,
    is_table,
    table_file,
    write_whole,
    written_beside,
)
from tests.amounts import examples

HOSTILE = (
    *("", ".", "..", "../up", "../../etc/passwd", "/etc/passwd", "a/b", "a\\b", "..\\up", "C:\\run", "%2e%2e%2fup"),
    *("nul\0byte", ".hidden", "-rf", "_first", "a b", "a\n", "a:b", "a*", "~root", "$HOME", "è", "\u202ecod"),
    *("con", "NUL", "aux.txt", "Com1", "lpt9", "x" * 300),
)


def made(folder: Path, stem: str) -> RunFiles:
    files, handle = RunFiles.reserve(folder, stem)
    os.write(handle, b"{}\n")  # an empty journal is no run
    os.close(handle)
    return files


@pytest.mark.parametrize("name", HOSTILE, ids=repr)
def test_a_name_that_is_more_than_a_name_is_refused_and_makes_nothing(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for use in (find_run, made):
        with pytest.raises(UsageError, match="is not the name of a run"):
            use(folder, name)
    assert [path.name for path in tmp_path.rglob("*")] == ["logs"]


@examples(150)
@given(st.text("./\\~a7_- \0\n", max_size=12) | st.text(max_size=12))
def test_whatever_the_name_is_nothing_is_made_outside_the_folder(name: str) -> None:
    root = Path(tempfile.mkdtemp())
    try:
        folder = root / "up" / "logs"
        try:
            made(folder, name)
        except UsageError:
            wanted = {root / "up", folder} if folder.exists() else set()
        else:
            wanted = {root / "up", folder, find_run(folder, name).journal}
        assert set(root.rglob("*")) == wanted
    finally:
        shutil.rmtree(root)


def test_an_empty_journal_that_a_killed_process_left_is_no_run_and_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").touch()
    files, handle = RunFiles.reserve(tmp_path, "mine", numbered=False)
    assert files.name == "mine"
    with pytest.raises(NameTaken, match="there is a run called mine already"):  # the first is about to begin it
        RunFiles.reserve(tmp_path, "mine", numbered=False)
    os.close(handle)


@pytest.mark.parametrize("name", ["run", "gameplay_20260101_000000", "a.b-c_d", "7", "x" * 100])
def test_a_run_is_found_by_its_name_and_by_the_name_of_each_of_its_files(tmp_path: Path, name: str) -> None:
    for suffix in ("", ".json", ".jsonl", ".html"):
        folder = tmp_path / f"made{suffix}"
        files = made(folder, name + suffix)
        assert files.name == name
        for other in ("", ".json", ".jsonl", ".html"):
            assert find_run(folder, name + other) == files


def test_a_clash_gets_the_next_number_and_every_run_is_found_again(tmp_path: Path) -> None:
    stem = "x" * 100
    runs = [made(tmp_path, stem) for _ in range(12)]
    assert [files.name for files in runs] == [stem, *(f"{stem}_{number}" for number in range(2, 13))]
    assert [find_run(tmp_path, files.name) for files in runs] == runs


@pytest.mark.parametrize("suffix", [".json", ".html", ".jsonl"])
def test_nothing_of_another_run_is_overwritten(tmp_path: Path, suffix: str) -> None:
    old = tmp_path / f"run{suffix}"
    old.write_text("precious", encoding="utf-8")
    assert made(tmp_path, "run").name == "run_2"
    assert old.read_text(encoding="utf-8") == "precious"


def test_a_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    files = made(tmp_path / "a" / "b", "run")
    assert files.journal == tmp_path / "a" / "b" / "run.jsonl"
    assert files.journal.read_bytes() == b"{}\n"


@pytest.mark.parametrize("below", [False, True], ids=["a file", "below a file"])
def test_a_file_where_a_folder_should_be_is_an_error_of_one_line(tmp_path: Path, below: bool) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    folder = tmp_path / "file" / "logs" if below else tmp_path / "file"
    with pytest.raises(UsageError, match=r"cannot write logs there: (File exists|Not a directory)$"):
        made(folder, "run")


def test_a_link_that_leads_out_is_not_followed(tmp_path: Path) -> None:
    outside, folder = tmp_path / "secret.json", tmp_path / "logs"
    outside.write_text("{}", encoding="utf-8")
    folder.mkdir()
    (folder / "run.json").symlink_to(outside)
    with pytest.raises(UsageError, match="leads out of"):
        find_run(folder, "run")
    made(folder, "other")
    (folder / "other.json").symlink_to(outside)
    with pytest.raises(UsageError, match="leads out of"):
        find_run(folder, "other")


def test_links_within_the_folder_and_to_it_are_followed(tmp_path: Path) -> None:
    files = made(tmp_path / "logs", "run")
    (files.directory / "again.jsonl").symlink_to(files.journal)
    assert find_run(files.directory, "again").name == "again"
    (tmp_path / "link").symlink_to(files.directory)
    assert find_run(tmp_path / "link", "run").name == "run"


def test_a_link_in_the_way_of_a_new_journal_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").symlink_to(tmp_path / "elsewhere")
    assert made(tmp_path, "run").name == "run_2"
    assert not (tmp_path / "elsewhere").exists()


def test_a_run_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    for name in ("nosuch", "folder"):
        with pytest.raises(UsageError, match=f"there is no run called '{name}'"):
            find_run(tmp_path, name)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        (None, "gameplay_20260203_040506"),
        ("island_small", "gameplay_20260203_040506_island_small"),
        ("../../etc/passwd", "gameplay_20260203_040506_..-..-etc-passwd"),
        ("a b\n\0c", "gameplay_20260203_040506_a-b-c"),
        ("x" * 500, "gameplay_20260203_040506_" + "x" * 60),
    ],
)
def test_a_default_name_is_a_legal_one(tmp_path: Path, name: str | None, stem: str) -> None:
    assert default_stem(datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC), name) == stem
    assert made(tmp_path, stem).name == stem


def test_a_file_is_written_whole_in_utf_8_with_newlines(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_whole(path, "é\n…\n")
    assert path.read_bytes() == "é\n…\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    write_whole(path, b"PAR1\r\n\xff")
    assert path.read_bytes() == b"PAR1\r\n\xff", "bytes are written as they are"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("old", [None, "old"], ids=["absent before", "there before"])
@pytest.mark.parametrize(("where", "failing"), [(os, "fsync"), (os, "fchmod"), (Path, "replace")])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["disk", "Ctrl-C"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    where: object,
    failing: str,
    error: BaseException,
    old: str | None,
) -> None:
    path = tmp_path / "run.json"
    if old is not None:
        path.write_text(old, encoding="utf-8")
    before = len(list(Path("/proc/self/fd").iterdir()))

    def fail(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(where, failing, fail)
        with pytest.raises((AgentsimError, KeyboardInterrupt)) as caught:
            write_whole(path, "new")
    if isinstance(error, OSError):
        why = f"{path}: cannot be written: No space left on device; 3 bytes are needed and "
        assert re.fullmatch(rf"{re.escape(why)}\d+ free in {re.escape(str(tmp_path))}", str(caught.value))
    assert (path.read_text(encoding="utf-8") if path.exists() else None) == old
    assert list(tmp_path.iterdir()) == ([path] if old is not None else [])
    assert len(list(Path("/proc/self/fd").iterdir())) == before, "a file was left open"


def test_a_folder_that_is_gone_is_an_error_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(AgentsimError, match=r"run\.json: cannot be written: No such file or directory"):
        write_whole(tmp_path / "gone" / "run.json", "new")


def test_the_file_and_its_folder_are_synced_in_this_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    real = Path.replace

    def fsync(handle: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")

    def replace(self: Path, target: Path) -> Path:
        steps.append("replace")
        return real(self, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", replace)
    write_whole(tmp_path / "run.json", "new")
    assert steps == ["file", "replace", "folder"]


@pytest.mark.parametrize("links", [True, False], ids=["a disk with links", "a disk without"])
def test_what_is_to_be_new_overwrites_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    if not links:
        monkeypatch.setattr(Path, "hardlink_to", no_links)
    path = tmp_path / "run.zip"
    with written_beside(path, new=True) as file:
        file.write(b"first")
    with pytest.raises(FileExistsError), written_beside(path, new=True) as file:
        file.write(b"second")
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


ROWS = b'{"Round":1,"Voter":"A"}\n{"Round":1,"Voter":"B"}\n'
NO_ROWS: dict[str, bytes] = {
    "a journal": b'{"record":"run","format":"agentsim-journal/1"}\n',
    "another journal": b'{"record":"run","format":"agentsim-journal/2"}\n',
    "a torn journal": b'{"record":"run","fo',
    "a torn row": ROWS[:10],
    "an object without anything": b"{}\n",
    "no object": b"[1]\n",
    "no JSON": b"round,voter\n",
    "an empty line": b"\n",
    "no text": b"\xff\xfe\n",
    "a bottomless one": b"[" * 100_000 + b"\n",
}


def test_rows_are_a_table_whatever_the_file_is_called(tmp_path: Path) -> None:
    for name in ("run.votes.jsonl", "votes.jsonl"):
        (tmp_path / name).write_bytes(ROWS)
        assert is_table(tmp_path / name)


@pytest.mark.parametrize("content", NO_ROWS.values(), ids=NO_ROWS)
def test_what_is_not_rows_is_no_table_and_stays_where_a_table_would_go(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.votes.jsonl"
    path.write_bytes(content)
    (tmp_path / "run.json").write_text("{}", encoding="utf-8")
    assert not is_table(path)
    with pytest.raises(UsageError, match=r"run\.votes\.jsonl: exists and is not an exported table"):
        table_file(tmp_path, "run", "votes", "jsonl")
    assert table_file(tmp_path, "run", "votes", "csv") == tmp_path / "run.votes.csv"


def test_a_file_without_a_line_is_a_table_where_its_name_says_so(tmp_path: Path) -> None:
    """A run that was killed before its journal began has left the same: it is told by whose name it bears."""
    folder = tmp_path / "lot"
    folder.mkdir()
    for name in ("first.votes", "lot.votes", "v1.2", "lot", ".votes"):
        (folder / f"{name}.jsonl").write_bytes(b"")
    (folder / "first.json").write_text("{}", encoding="utf-8")
    tables = {path.name for path in folder.glob("*.jsonl") if is_table(path)}
    assert tables == {"first.votes.jsonl", "lot.votes.jsonl"}
    assert not is_table(folder / "nosuch.jsonl")


def test_a_table_is_not_found_as_a_run_unless_it_has_a_history(tmp_path: Path) -> None:
    (tmp_path / "first.votes.jsonl").write_bytes(ROWS)
    with pytest.raises(UsageError, match=r"there is no run called 'first\.votes'"):
        find_run(tmp_path, "first.votes")
    (tmp_path / "first.votes.json").write_text("{}", encoding="utf-8")
    assert find_run(tmp_path, "first.votes") == RunFiles(tmp_path, "first.votes")


def test_a_run_is_found_out_by_the_name_that_its_scenario_has(tmp_path: Path) -> None:
    """Such a name goes behind the time; the newest of several is meant."""
    for day in (25, 26):
        RunFiles.reserve(tmp_path, default_stem(datetime(2026, 11, day, tzinfo=UTC), "wolves"))
    with pytest.raises(UsageError, match=r"'wolves' \(did you mean gameplay_20261126_000000_wolves\?\)"):
        find_run(tmp_path, "wolves")
