"""The journal: what is written is read back, what is torn is left out, what is corrupt is named by its line."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.steering import Announcement
from agentsim.errors import AgentsimError, JournalCorrupt, JournalError
from agentsim.records.journal import MOST_UNWRITTEN, DecisionRecord, Journal, JournalContents, Stop, read_journal
from agentsim.records.run_files import is_running
from agentsim.records.versions import JOURNAL_FORMAT
from tests.amounts import examples
from tests.fakes.journals import change_line, resealed
from tests.records.sample import HEAD, entries, entry, failed, journal, paid

FIRST = {"record": "run", "format": JOURNAL_FORMAT, **HEAD}
DIGEST = "0" * 32


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Head, texts, an unfinished decision's attempts, three decisions of which one is of the same wave, a stop."""
    book = journal(tmp_path)
    book.append_attempts(1, 0, "A", [failed(), paid("bad", code="unreadable")])
    book.append_decision(entry(1, attempts=(failed(), paid("bad", code="unreadable"), paid())), write_now=True)
    book.append_decision(entry(2, wave=2, place=1), write_now=False)
    book.append_decision(entry(3, wave=2, place=0), write_now=True)
    book.append_attempts(3, 0, "A", [paid("worse", code="illegal")])
    book.append_stop("interrupted", "2026-01-01T00:00:01.000Z", 1.23456, DIGEST)
    book.close()
    return book.path


def signature(contents: JournalContents) -> tuple[Any, ...]:
    return (
        dict(contents.head),
        dict(contents.decisions),
        {key: list(attempts) for key, attempts in contents.attempts.items()},
        list(contents.stops),
    )


def test_what_is_written_is_read_back(written: Path) -> None:
    contents = read_journal(written)
    assert contents.head == {"record": "run", "format": JOURNAL_FORMAT, **HEAD}
    assert list(contents.decisions) == [(1, 0), (2, 1), (2, 0)]
    assert contents.decisions[2, 0] == entry(3, wave=2, place=0)
    assert contents.open_attempts(1, 0) == list(contents.decisions[1, 0].attempts[:2])
    assert contents.open_attempts(3, 0) == [paid("worse", code="illegal")]
    assert contents.undecided() == [("A", paid("worse", code="illegal"))]
    assert contents.stops == [Stop("interrupted", "2026-01-01T00:00:01.000Z", 1.235, DIGEST)]
    assert contents.last_wave == 2
    assert contents.size == written.stat().st_size


def test_a_text_stands_once_and_before_its_first_use(written: Path) -> None:
    known: list[str] = []
    for raw in written.read_text(encoding="utf-8").splitlines():
        line = json.loads(raw)
        if line["record"] == "texts":
            known += line["texts"]
        else:
            assert max(places(line), default=-1) < len(known)
    assert len(set(known)) == len(known) == 8


def places(line: dict[str, Any]) -> Iterator[int]:
    for attempt in [*line.get("attempts", []), *([line["attempt"]] if "attempt" in line else [])]:
        for _, segments in attempt["messages"]:
            for segment in segments:
                yield from segment if isinstance(segment, list) else [segment]
        if attempt["completion"] is not None:
            yield attempt["completion"]["text"]


def test_a_journal_reopened_knows_its_texts(written: Path) -> None:
    before = written.read_bytes()
    book = Journal.reopen(written)
    book.append_decision(entry(4), write_now=True)
    book.close()
    added = written.read_bytes().removeprefix(before).splitlines()
    assert [json.loads(line)["record"] for line in added] == ["decision"]
    assert read_journal(written).decisions[4, 0] == entry(4)


def test_what_costs_nothing_to_repeat_waits_for_what_does_and_stands_before_it(written: Path) -> None:
    before = written.read_bytes()
    book = Journal.reopen(written)
    book.append_decision(entry(4), write_now=False)
    book.sync()
    assert written.read_bytes() == before
    book.append_decision(entry(5), write_now=True)
    added = [json.loads(line) for line in written.read_bytes().removeprefix(before).splitlines()]
    assert [line["index"] for line in added if line["record"] == "decision"] == [4, 5]
    book.close()


def test_what_waits_is_written_once_it_is_much_and_when_the_journal_is_closed(written: Path) -> None:
    before = written.stat().st_size
    book = Journal.reopen(written)
    index = 4
    while written.stat().st_size == before:
        book.append_decision(entry(index), write_now=False)
        index += 1
    assert written.stat().st_size - before < 2 * MOST_UNWRITTEN
    book.append_decision(entry(index), write_now=False)
    assert max(read_journal(written).decisions)[0] == index - 1
    book.close()
    assert max(read_journal(written).decisions)[0] == index


@pytest.mark.parametrize("cut", [1, 2, 20, 80])
def test_a_torn_tail_is_ignored_and_cut_off_before_anything_is_appended(written: Path, cut: int) -> None:
    whole = written.read_bytes()
    written.write_bytes(whole[:-cut])
    torn = read_journal(written)
    assert written.read_bytes() == whole[:-cut], "reading alone changes nothing"
    assert torn.stops == []
    assert torn.size == len(b"".join(whole.splitlines(keepends=True)[:-1]))
    book = Journal.reopen(written)
    assert written.stat().st_size == torn.size
    book.append_stop("failed", "now", 2.0, DIGEST)
    book.close()
    assert [stop.status for stop in read_journal(written).stops] == ["failed"]


def test_any_prefix_of_a_journal_is_a_prefix_of_its_entries(written: Path) -> None:
    whole = written.read_bytes()
    wanted = read_journal(written)
    keys, head_end = list(wanted.decisions), whole.index(b"\n") + 1
    for size in range(len(whole)):
        written.write_bytes(whole[:size])
        if size < head_end:
            with pytest.raises(JournalError, match="ended before its journal began"):
                read_journal(written)
            continue
        part = read_journal(written)
        assert list(part.decisions) == keys[: len(part.decisions)]
        assert all(part.decisions[key] == wanted.decisions[key] for key in part.decisions)
        assert all(attempts == wanted.attempts[key][: len(attempts)] for key, attempts in part.attempts.items())
        assert part.size <= size < part.size + max(map(len, whole.splitlines(keepends=True)))


@examples(60)
@given(st.lists(entries, max_size=4, unique_by=lambda one: (one.wave, one.place)), st.data())
def test_any_prefix_of_any_journal_is_a_prefix_of_its_entries(
    decisions: list[DecisionRecord], data: st.DataObject
) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        book = journal(folder)
        start = book.path.stat().st_size
        for decision in decisions:
            book.append_decision(decision, write_now=False)
        book.close()
        whole = book.path.read_bytes()
        assert list(read_journal(book.path).decisions.values()) == decisions
        size = data.draw(st.integers(start, len(whole)))
        book.path.write_bytes(whole[:size])
        found = list(read_journal(book.path).decisions.values())
        assert found == decisions[: len(found)]
        assert size < len(whole) or len(found) == len(decisions)
    finally:
        shutil.rmtree(folder)


def line_of(record: dict[str, Any], **changes: Any) -> bytes:
    return json.dumps({**record, **changes}).encode() + b"\n"


DECISION = {
    "record": "decision",
    "index": 9,
    "wave": 9,
    "place": 0,
    "player": "A",
    "kind": "pitch",
    "fingerprint": "f",
    "decision": {},
    "source": "bot",
    "fallback_reason": None,
    "attempts": [],
    "parse": None,
}
STOP = {"record": "stop", "status": "completed", "at": "now", "wall_s": 1.0, "history": DIGEST}
CORRUPT = [
    pytest.param(b"\n", "was changed", id="blank"),
    pytest.param(b"{]}\n", "Expecting property name", id="no JSON"),
    pytest.param(b"\xff\xfe\n", "", id="no UTF-8"),
    pytest.param(b"\x00\x00\x00\x00\n", "", id="zeros, as a file system leaves them"),
    pytest.param(b"[1]\n", "", id="a list"),
    pytest.param(b"5\n", "", id="a number"),
    pytest.param(b"null\n", "", id="null"),
    pytest.param(b'{"what": 1}\n', "missing 'record'", id="no record"),
    pytest.param(b'{"record": "poem"}\n', "unexpected record 'poem'", id="unknown record"),
    pytest.param(b'{"record": ["run"]}\n', "unexpected record", id="a record that is a list"),
    pytest.param(b"[" * 100_000 + b"\n", "", id="nested too deep"),
    pytest.param(b'{"record": "stop", "wall_s": ' + b"9" * 5000 + b"}\n", "", id="a number of 5000 digits"),
    pytest.param(line_of({"record": "run", "format": JOURNAL_FORMAT, **HEAD}), "unexpected record", id="2nd head"),
    pytest.param(b'{"record": "texts", "texts": [5]}\n', "a text is no text", id="a number among texts"),
    pytest.param(b'{"record": "texts", "texts": ["\\ud800"]}\n', "", id="no Unicode among texts"),
    pytest.param(b'{"record": "texts", "texts": 5}\n', "", id="texts that are a number"),
    pytest.param(b'{"record": "texts"}\n', "missing 'texts'", id="no texts"),
    pytest.param(line_of(DECISION, wave=2, place=1), "a second decision for wave 2, place 1", id="2nd decision"),
    pytest.param(line_of(DECISION, source="oracle"), "source: Input should be 'model', 'bot'", id="unknown source"),
    pytest.param(line_of(DECISION, index="9"), "index: Input should be a valid integer", id="an index in words"),
    pytest.param(line_of(DECISION, wave=-1), "wave: Input should be greater", id="a negative wave"),
    pytest.param(line_of(DECISION, attempts=[{}]), "attempts.0.messages: Field required", id="an empty try"),
    pytest.param(line_of(DECISION, decision={"bid": float("nan")}), "nan", id="NaN"),
    pytest.param(line_of(DECISION).replace(b"{}", b'{"bid": 1e999}'), "1e999 is not a finite number", id="1e999"),
    pytest.param(
        line_of({"record": "attempt", "wave": True, "place": 0, "attempt": {}}),
        "wave: Input should be a valid integer",
        id="try of True",
    ),
    pytest.param(
        line_of({"record": "attempt", "wave": 1, "place": 0, "player": "A"}),
        "attempt: Field required",
        id="a try without one",
    ),
    pytest.param(line_of(STOP, wall_s=float("inf")), "inf", id="infinite"),
    pytest.param(line_of(STOP, wall_s="long"), "", id="a time in words"),
    pytest.param(b'{"record": "stop"}\n', "status: Field required", id="an empty stop"),
]


@pytest.mark.parametrize(("bad", "says"), CORRUPT)
@pytest.mark.parametrize("from_end", [0, 1, 4])
def test_a_corrupt_line_is_named_and_nothing_is_touched(written: Path, bad: bytes, says: str, from_end: int) -> None:
    lines = written.read_bytes().splitlines(keepends=True)
    at = len(lines) - from_end if "wave 2" not in says else len(lines)
    lines.insert(at, bad)
    written.write_bytes(b"".join(resealed(lines)))
    before = written.read_bytes()
    for use in (read_journal, Journal.reopen):
        with pytest.raises(JournalCorrupt) as caught:
            use(written)
        assert caught.value.line == at + 1
        assert str(caught.value).startswith(f"line {at + 1}: run.jsonl: ")
        assert says.casefold() in str(caught.value).casefold()
        assert caught.value.exit_code == 2
    assert written.read_bytes() == before
    assert not is_running(written), "a journal that cannot be used is not held"


@pytest.mark.parametrize("key", sorted(HEAD))
def test_a_head_needs_every_part(tmp_path: Path, key: str) -> None:
    path = tmp_path / "run.jsonl"
    head = {"record": "run", "format": JOURNAL_FORMAT, **HEAD}
    path.write_bytes(resealed([line_of({name: value for name, value in head.items() if name != key})])[0])
    with pytest.raises(JournalCorrupt, match=f"^line 1: .*missing '{key}'"):
        read_journal(path)


def test_the_first_line_must_be_the_head_of_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    for first, says in ((STOP, "must describe the run"), ({**FIRST, "format": "poem/1"}, "format 'poem/1', this")):
        path.write_bytes(resealed([line_of(first)])[0])
        with pytest.raises(JournalCorrupt, match=rf"line 1: .*{says}"):
            read_journal(path)


@pytest.mark.parametrize("content", [b"", b'{"record":"run"'], ids=["empty", "torn"])
def test_a_journal_that_never_began_is_no_run(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    for use in (read_journal, Journal.reopen):
        with pytest.raises(JournalError, match="nothing to resume"):
            use(path)


def test_a_missing_journal_is_an_error_of_one_line(tmp_path: Path) -> None:
    for use in (read_journal, Journal.reopen):
        with pytest.raises(JournalError, match="No such file or directory"):
            use(tmp_path / "run.jsonl")


def test_a_full_disk_fails_the_write_that_meets_it_and_lets_nothing_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even when there is room again: half a line stands at the end."""
    book = journal(tmp_path)
    book.append_decision(entry(1), write_now=True)
    book.sync()
    real, written = os.write, [0]

    def full(handle: int, data: Any) -> int:
        written.append(len(data))
        if len(written) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(handle, bytes(data)[:50] if len(written) == 2 else data)

    monkeypatch.setattr(os, "write", full)
    book.check()
    failure = (
        r"run\.jsonl: cannot write the journal: No space left on device; \d+ bytes are needed and .*resume` goes on"
    )
    for index in (2, 3):
        with pytest.raises(AgentsimError, match=failure):
            book.append_decision(entry(index), write_now=True)
    with pytest.raises(AgentsimError, match=failure):
        book.check()
    assert len(written) == 3
    book.close()
    again = Journal.reopen(book.path)
    assert list(again.contents.decisions) == [(1, 0)]
    again.close()
    assert [path.name for path in tmp_path.iterdir()] == ["run.jsonl"]


def test_a_first_line_that_cannot_be_written_gives_the_name_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(
            AgentsimError,
            match=r"run\.jsonl: cannot be written: No space left on device; \d+ bytes are needed and \d+ free in /",
        ):
            journal(tmp_path)
    assert list(tmp_path.iterdir()) == []
    journal(tmp_path).close()


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    assert not is_running(tmp_path / "run.jsonl"), "nothing is there"
    first = journal(tmp_path)
    assert is_running(first.path)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(2):
        with pytest.raises(JournalError, match=r"^run\.jsonl: another process is playing this run$"):
            Journal.reopen(first.path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before, "a second writer leaves no file open"
    first.append_decision(entry(1), write_now=True)
    first.close()
    first.close()
    assert not is_running(first.path)
    second = Journal.reopen(first.path)
    assert second.contents.decisions == {(1, 0): entry(1)}
    second.close()


@pytest.mark.parametrize("sync", [True, False])
def test_a_decision_is_on_the_disk_when_it_was_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sync: bool
) -> None:
    book = journal(tmp_path)
    synced: list[int] = []

    def fsync(handle: int) -> None:
        synced.append(os.fstat(handle).st_size)

    monkeypatch.setattr(os, "fsync", fsync)
    book.append_decision(entry(1), write_now=sync)
    book.append_decision(entry(2), write_now=False)
    assert synced == [], "decisions that come together are synced together"
    book.sync()
    book.sync()
    assert synced == ([book.path.stat().st_size] if sync else []), "synced once, with everything in the file"
    book.close()


def test_bad_replies_are_written_at_once_and_synced_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book, fsync = journal(tmp_path), os.fsync
    synced: list[int] = []

    def noted(handle: int) -> None:
        fsync(handle)
        synced.append(os.fstat(handle).st_size)

    monkeypatch.setattr(os, "fsync", noted)
    book.append_attempts(1, 0, "A", [paid("bad", code="unreadable")])
    book.append_attempts(1, 1, "B", [paid("worse", code="illegal")])
    assert [*read_journal(book.path).attempts] == [(1, 0), (1, 1)], "a killed process leaves them"
    assert synced == []
    book.sync()
    assert synced == [book.path.stat().st_size]
    book.close()


def on_disk(book: Journal, decision: DecisionRecord) -> None:
    book.append_decision(decision, write_now=True)
    book.sync()


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_after_a_write_that_failed_nothing_more_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    book = journal(tmp_path)
    book.append_decision(entry(1), write_now=True)
    with monkeypatch.context() as patch:

        def fail(*_: object) -> int:
            raise OSError(28, "No space left on device")

        patch.setattr(os, call, fail)
        with pytest.raises(AgentsimError, match=r"run\.jsonl: cannot write the journal: No space left on device"):
            on_disk(book, entry(2))
    size = book.path.stat().st_size
    with pytest.raises(AgentsimError, match="No space left on device"):
        book.append_decision(entry(3), write_now=True)
    with pytest.raises(AgentsimError, match="No space left on device"):
        book.append_stop("failed", "now", 1.0, DIGEST)
    assert book.path.stat().st_size == size
    book.close()
    assert (1, 0) in read_journal(book.path).decisions


def test_a_short_write_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = journal(tmp_path)
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda handle, data: real(handle, bytes(data)[:7]))
        book.append_decision(entry(1), write_now=True)
    book.close()
    assert read_journal(book.path).decisions == {(1, 0): entry(1)}


def test_a_number_that_is_none_is_never_written(tmp_path: Path) -> None:
    book = journal(tmp_path)
    before = book.path.stat().st_size
    with pytest.raises(ValueError, match="JSON compliant"):
        book.append_decision(entry(1, decision={"bid": float("nan")}), write_now=True)
    assert book.path.stat().st_size == before
    book.close()


def test_whoever_only_looks_whether_a_run_is_played_stops_nobody_from_playing_it(tmp_path: Path) -> None:
    """`agentsim runs` and `watch` hold the lock for a moment; a run that begins in that moment begins."""
    first = journal(tmp_path)
    first.close()
    with first.path.open("rb") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        gone = threading.Timer(0.05, lambda: fcntl.flock(looking, fcntl.LOCK_UN))
        gone.start()
        again = Journal.reopen(first.path)
        gone.join()
    again.close()


def test_what_is_steered_stands_before_a_wave_that_has_not_begun(written: Path) -> None:
    """Waves 1 and 2 are decided, and the third has a try: whatever is said now cannot have been heard in them."""
    said = Announcement(said="Be brief.")
    book = Journal.reopen(written)
    before = written.read_bytes()
    for wave in (1, 2, 3):
        with pytest.raises(ValueError, match=f"wave {wave} is steered, and wave 3 has begun"):
            book.append_steering(wave, said)
    assert written.read_bytes() == before
    book.append_steering(4, said)
    book.close()
    assert read_journal(written).steered == {4: [said]}
    for wave in (1, 3):
        change_line(written, '"steered"', lambda line, wave=wave: line.update(wave=wave))  # type: ignore[misc] # the default keeps this turn's
        with pytest.raises(JournalCorrupt, match=f"wave {wave} is steered"):
            read_journal(written)
