"""Runs in one file: proved from it anywhere, the same bytes for the same runs, and nothing taken from it on trust."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import stat
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import UsageError
from agentsim.records.bundle import pack, unpack
from agentsim.records.run_files import MANIFEST, RunFiles
from agentsim.scenario.load import load
from tests.cli.command_line import TRIO, agentsim, trio
from tests.cli.processes import CommandProcess
from tests.fakes.journals import change_line
from tests.playing import play_scenario

pytestmark = pytest.mark.usefixtures("without_workers")


@pytest.fixture
def run(tmp_path: Path) -> RunFiles:
    config = trio(tmp_path, TRIO.replace('id = "B"', 'id = "B"\nprompt = "Be kind."'))
    return play_scenario(load(config), tmp_path / "logs", env={}, stem="one").files


def test_a_bundle_proves_its_run_somewhere_else(run: RunFiles, tmp_path: Path) -> None:
    assert agentsim("bundle", "one", "--out", "one.zip", cwd=tmp_path).code == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "one.zip").rename(elsewhere / "one.zip")
    proved = agentsim("replay", "one.zip", "--json", cwd=elsewhere)
    assert (proved.code, json.loads(proved.out)["identical"]) == (0, True)
    assert [path.name for path in elsewhere.iterdir()] == ["one.zip"]


def test_scenario_and_prompts_can_be_read_without_us(run: RunFiles, tmp_path: Path) -> None:
    pack([run], tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert archive.read("one/prompts/B.txt") == b"Be kind."
        assert json.loads(archive.read("one/scenario.json"))["game"] == "agent_island"
        index = json.loads(archive.read("bundle.json"))
    assert set(index["versions"]["one"]) >= {"agentsim", "python", "pydantic"}


def test_the_same_runs_make_the_same_bytes(run: RunFiles, tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        pack([run], tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with pytest.raises(UsageError, match="already exists"):
        pack([run], tmp_path / "a.zip")


def test_a_batch_is_bundled_whole(tmp_path: Path) -> None:
    words = ("batch", "--config", str(trio(tmp_path)), "--games", "3", "--out", "b", "--display", "none")
    assert agentsim(*words, cwd=tmp_path).code == 0
    assert agentsim("bundle", "b", cwd=tmp_path).code == 0
    (tmp_path / "out").mkdir()
    found = unpack(tmp_path / "b" / "b.zip", tmp_path / "out")
    assert [files.name for files in found.runs] == ["game_0001", "game_0002", "game_0003"]
    assert [path.name for path in found.others] == [MANIFEST]
    assert agentsim("replay", "b/b.zip", cwd=tmp_path).out.count("the history is identical") == 3


def test_a_recording_may_be_put_in_too(run: RunFiles, tmp_path: Path) -> None:
    (tmp_path / "replies.jsonl").write_text("{}\n", encoding="utf-8")
    words = ("bundle", "one", "--out", "b.zip", "--cassette", "replies.jsonl")
    assert agentsim(*words, cwd=tmp_path).code == 0
    (tmp_path / "out").mkdir()
    assert [path.name for path in unpack(tmp_path / "b.zip", tmp_path / "out").others] == ["replies.jsonl"]


def test_later_interviews_and_codes_of_a_run_go_along_and_those_of_another_stay(run: RunFiles, tmp_path: Path) -> None:
    observed = {f"one.promises.{'m' * 60}-0a1b2c.codes": b"codes\n", "one.trust.interview": b"answers\n"}
    for name, content in observed.items() | {"two.promises.human.codes": b"of another\n"}.items():
        (run.directory / name).write_bytes(content)
    assert agentsim("bundle", "one", "--out", "one.zip", cwd=tmp_path).code == 0
    found = unpack(tmp_path / "one.zip", tmp_path)
    assert {path.name: path.read_bytes() for path in found.others} == observed


def _altered(path: Path, name: str, content: bytes, listed: str | None = None) -> Path:
    """A copy in which one file holds something else, and the index lists it, too, where `listed` is its digest."""
    out = path.with_name("altered.zip")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            kept = old.read(info)
            if info.filename == "bundle.json" and listed is not None:
                index = json.loads(kept)
                index["files"][name] = listed
                kept = json.dumps(index).encode()
            if info.filename != name:
                new.writestr(info, kept)
        new.writestr(name, content)
    return out


@pytest.mark.parametrize(
    ("name", "listed", "problem"),
    [
        ("one.jsonl", None, "one.jsonl is not what was bundled"),
        ("..", "00", "is not the name"),
        ("C:\\x", "00", "is not the name"),
        ("extra.txt", "00", "is not what was bundled"),
        ("one/scenario.json", None, "one/scenario.json differs from the journal"),
    ],
)
def test_what_was_altered_is_refused(
    name: str, listed: str | None, problem: str, run: RunFiles, tmp_path: Path
) -> None:
    pack([run], tmp_path / "b.zip")
    (tmp_path / "out").mkdir()
    with pytest.raises(UsageError, match=problem):
        unpack(_altered(tmp_path / "b.zip", name, b"x", listed), tmp_path / "out")
    assert {path.parent for path in tmp_path.rglob("*.txt")} <= {tmp_path}


@pytest.mark.parametrize("content", [b"", b"no zip", b'{"format": 1}'])
def test_what_is_no_bundle_is_said_in_one_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(content)
    refused = agentsim("replay", "x.zip", cwd=tmp_path)
    assert (refused.code, "is not an agentsim bundle" in refused.line) == (2, True)
    assert agentsim("replay", "nowhere.zip", cwd=tmp_path).code == 2


def test_a_changed_history_is_found_even_where_the_index_agrees(run: RunFiles, tmp_path: Path) -> None:
    text = run.history.read_text("utf-8")
    run.history.write_text(text.replace('"reason":"jury vote"', '"reason":"luck"'), "utf-8")
    assert text != run.history.read_text("utf-8")
    change_line(run.journal, '"record":"stop"', None)  # or it would not be bundled
    pack([run], tmp_path / "b.zip")
    refused = agentsim("replay", "b.zip", cwd=tmp_path)
    assert (refused.code, "outcome.reason" in refused.line) == (1, True)


def test_a_damaged_bundle_is_said_in_one_line_wherever_it_is_damaged(run: RunFiles, tmp_path: Path) -> None:
    """A byte changed in what is packed is found by the unpacking, before any digest is compared."""
    pack([run], tmp_path / "b.zip")
    whole = (tmp_path / "b.zip").read_bytes()
    for index in range(60, 1000, 47):
        damaged = bytearray(whole)
        damaged[index] ^= 0x55
        (tmp_path / "x.zip").write_bytes(damaged)
        (out := tmp_path / f"out{index}").mkdir()
        with pytest.raises(UsageError, match=r"x\.zip: "):
            unpack(tmp_path / "x.zip", out)


def test_a_bundle_without_runs_proves_nothing(tmp_path: Path) -> None:
    pack([], tmp_path / "b.zip")
    refused = agentsim("replay", "b.zip", cwd=tmp_path)
    assert (refused.code, "holds no run" in refused.line) == (2, True)


def test_what_would_be_too_large_is_not_read(run: RunFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack([run], tmp_path / "b.zip")
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_: pytest.fail("it was read"))
    for limit, problem in (("MOST_BYTES", "when unpacked"), ("_LONGEST_INDEX", "bundle.json is larger")):
        with monkeypatch.context() as patched:
            patched.setattr(f"agentsim.records.bundle.{limit}", 100)
            with pytest.raises(UsageError, match=problem):
                unpack(tmp_path / "b.zip", tmp_path)


def _with(path: Path, info: zipfile.ZipInfo, content: bytes) -> Path:
    """The bundle with one member more."""
    with zipfile.ZipFile(path, "a") as archive, warnings.catch_warnings(action="ignore"):
        archive.writestr(info, content)
    return path


def _member(name: str, mode: int = 0) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = mode << 16
    return info


@pytest.mark.parametrize(
    ("info", "size", "problem"),
    [
        (_member("one.json"), 1, "holds 'one.json' twice"),
        (_member("link", stat.S_IFLNK | 0o777), 1, "'link' is not a plain file"),
        (_member("pipe", stat.S_IFIFO | 0o644), 1, "'pipe' is not a plain file"),
        (_member("bomb"), 2**24 + 1, "'bomb' is packed 200 to 1 and more"),
    ],
)
def test_what_no_bundle_of_ours_holds_is_refused_before_anything_is_unpacked(
    info: zipfile.ZipInfo, size: int, problem: str, run: RunFiles, tmp_path: Path
) -> None:
    pack([run], tmp_path / "b.zip")
    _with(tmp_path / "b.zip", info, b"0" * size)
    refused = agentsim("replay", "b.zip", cwd=tmp_path)
    assert (refused.code, problem in refused.line) == (2, True), refused.line


def test_a_member_is_unpacked_a_piece_at_a_time(run: RunFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack([run], tmp_path / "b.zip")
    read, most = zipfile.ZipExtFile.read, []

    def counted(self: zipfile.ZipExtFile, n: int | None = -1) -> bytes:
        piece = read(self, n)
        most.append(len(piece))
        return piece

    monkeypatch.setattr("agentsim.records.bundle._PIECE", 100)
    monkeypatch.setattr("agentsim.records.bundle.json.load", lambda member: json.loads(read(member)))
    monkeypatch.setattr(zipfile.ZipExtFile, "read", counted)
    (tmp_path / "out").mkdir()
    (files,) = unpack(tmp_path / "b.zip", tmp_path / "out").runs
    assert files.history.read_bytes() == run.history.read_bytes()
    assert max(most) <= 100 < run.history.stat().st_size


def test_a_bundle_that_is_broken_off_leaves_nothing(
    run: RunFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(zipfile.ZipFile, "writestr", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pack([run], tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


def test_a_bundle_that_is_killed_while_written_leaves_nothing_of_that_name(run: RunFiles, tmp_path: Path) -> None:
    """The last file that goes in is a pipe: what was read of it says that the zip is being written."""
    os.mkfifo(tmp_path / "replies.jsonl")
    words = ("bundle", "one", "--out", "b.zip", "--cassette", "replies.jsonl")
    with (
        CommandProcess(*words, cwd=tmp_path) as process,
        (tmp_path / "replies.jsonl").open("wb", buffering=0) as pipe,  # returns when the other end is open
    ):
        pipe.write(b"{}\n")
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not (tmp_path / "b.zip").exists()
    (tmp_path / "replies.jsonl").unlink()
    assert agentsim("bundle", "one", "--out", "b.zip", cwd=tmp_path).code == 0


def test_a_file_that_came_meanwhile_is_not_overwritten(
    run: RunFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = zipfile.ZipFile.writestr

    def meanwhile(self: zipfile.ZipFile, info: zipfile.ZipInfo, data: bytes) -> None:
        (tmp_path / "b.zip").write_bytes(b"precious")
        real(self, info, data)

    monkeypatch.setattr(zipfile.ZipFile, "writestr", meanwhile)
    with pytest.raises(UsageError, match=r"b\.zip: already exists"):
        pack([run], tmp_path / "b.zip")
    assert (tmp_path / "b.zip").read_bytes() == b"precious"
    assert not list(tmp_path.glob(".*"))


def _lying(path: Path, change: Callable[[dict[str, Any], dict[str, bytes]], None]) -> Path:
    """A copy in which index and members say something else, and digests are right again for what is listed still."""
    out = path.with_name("lying.zip")
    with zipfile.ZipFile(path) as old:
        members = {info.filename: old.read(info) for info in old.infolist()}
    index = json.loads(members.pop("bundle.json"))
    whole = dict(members)
    change(index, members)
    for name in index["files"] if isinstance(index["files"], dict) else ():
        if name in members and members[name] != whole.get(name):
            index["files"][name] = hashlib.sha256(members[name]).hexdigest()
    with zipfile.ZipFile(out, "w") as new:
        for name, content in {**members, "bundle.json": json.dumps(index).encode()}.items():
            new.writestr(name, content)
    return out


LIES: dict[str, tuple[Callable[[dict[str, Any], dict[str, bytes]], Any], str]] = {
    "another prompt": (
        lambda _, members: members.update({"one/prompts/B.txt": b"Be cruel."}),
        "one/prompts/B.txt differs from the journal",
    ),
    "another scenario": (
        lambda _, members: members.update(
            {"one/scenario.json": members["one/scenario.json"].replace(b"island", b"empire", 1)}
        ),
        "one/scenario.json differs from the journal",
    ),
    "a prompt of no player": (
        lambda index, members: (
            members.update({"one/prompts/X.txt": b"x"}),
            index["files"].update({"one/prompts/X.txt": ""}),
        ),
        "one/prompts/X.txt differs from the journal",
    ),
    "a prompt that is not listed": (
        lambda index, _: index["files"].pop("one/prompts/B.txt"),
        "'one/prompts/B.txt' is not listed in bundle.json",
    ),
    "a prompt that is missing": (
        lambda index, members: (index["files"].pop("one/prompts/B.txt"), members.pop("one/prompts/B.txt")),
        "one/prompts/B.txt is missing",
    ),
    "a prompt that is listed alone": (
        lambda _, members: members.pop("one/prompts/B.txt"),
        "is not an agentsim bundle: \"There is no item named 'one/prompts/B.txt' in the archive\"",
    ),
    "a file that is not listed": (
        lambda _, members: members.update({"readme.txt": b"Trust me."}),
        "'readme.txt' is not listed in bundle.json",
    ),
    "another version": (
        lambda index, _: index["versions"]["one"].update(agentsim="9.9"),
        "the versions in bundle.json are not those in the journals",
    ),
    "versions of no run": (
        lambda index, _: index["versions"].update(two={}),
        "the versions in bundle.json are not those in the journals",
    ),
    "no versions": (
        lambda index, _: index["versions"].clear(),
        "the versions in bundle.json are not those in the journals",
    ),
    "a run twice": (
        lambda index, _: index["runs"].append("one"),
        "is not an agentsim bundle: runs: names one twice",
    ),
    "runs that are a word": (
        lambda index, _: index.update(runs="one"),
        "is not an agentsim bundle: runs: must be",
    ),
    "files that are a list": (
        lambda index, _: index.update(files=list(index["files"])),
        "is not an agentsim bundle: files: must be",
    ),
}


@pytest.mark.parametrize(("change", "problem"), LIES.values(), ids=LIES)
def test_what_an_index_says_is_what_the_journals_say(
    change: Callable[[dict[str, Any], dict[str, bytes]], Any], problem: str, run: RunFiles, tmp_path: Path
) -> None:
    pack([run], tmp_path / "b.zip")
    _lying(tmp_path / "b.zip", change)
    refused = agentsim("replay", "lying.zip", cwd=tmp_path)
    assert (refused.code, refused.out, problem in refused.line) == (2, "", True), refused.line


def test_a_bundle_that_was_zipped_again_is_the_same_bundle(run: RunFiles, tmp_path: Path) -> None:
    """Other zips list their folders as well, which hold nothing."""
    pack([run], tmp_path / "b.zip")
    _with(_lying(tmp_path / "b.zip", lambda *_: None), _member("one/"), b"")
    assert agentsim("replay", "lying.zip", cwd=tmp_path).code == 0


@pytest.mark.parametrize("players", [None, [1], [{"prompt": "x"}], [{"id": "A", "prompt": "\ud800"}]], ids=repr)
def test_a_journal_whose_scenario_is_none_is_not_bundled(run: RunFiles, tmp_path: Path, players: object) -> None:
    change_line(run.journal, '"record":"run"', lambda head: head["scenario"].update(players=players))
    refused = agentsim("bundle", "one", cwd=tmp_path)
    assert (refused.code, refused.line) == (2, "line 1: one.jsonl: its scenario is not valid")
