"""Every line of a journal ends in a digest of itself and of the line before it: no changed byte is read in silence."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from agentsim.errors import JournalCorrupt
from agentsim.records.journal import Journal, JournalContents, read_journal
from tests.fakes.journals import plain, resealed
from tests.records.sample import entry, failed, journal, paid

REPEATS = 400


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A head, texts, attempts of a decided request, two decisions, an unfinished decision's attempt."""
    book = journal(tmp_path)
    book.append_attempts(1, 0, "A", [failed(), paid("bad", code="unreadable")])
    book.append_decision(entry(1, attempts=(failed(), paid("bad", code="unreadable"), paid())), write_now=True)
    book.append_stop("interrupted", "2026-01-01T00:00:01.000Z", 1.0, "0" * 32)
    book.append_decision(entry(2), write_now=True)
    book.append_attempts(3, 0, "A", [paid("worse", code="illegal")])
    book.close()
    return book.path


def read(path: Path) -> tuple[object, ...]:
    contents = read_journal(path)
    return contents.head, contents.decisions, contents.attempts, contents.stops, contents.texts


def test_a_flipped_byte_is_refused_or_tears_the_last_line(written: Path) -> None:
    """The byte that ends the file's last line makes it a torn one: such a line counts as never written."""
    whole, rng = written.read_bytes(), random.Random(18)
    places = [*rng.sample(range(len(whole) - 1), REPEATS), len(whole) - 1]
    for at in places:
        written.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << rng.randrange(8))]) + whole[at + 1 :])
        if at < len(whole) - 1:
            with pytest.raises(JournalCorrupt) as caught:
                read(written)
            line = whole.count(b"\n", 0, at) + 1
            assert caught.value.line == line
        else:
            assert read_journal(written).open_attempts(3, 0) == []


@pytest.mark.parametrize("what", ["removed", "swapped", "repeated"])
def test_lines_stand_in_the_order_in_which_they_were_written(written: Path, what: str) -> None:
    lines = written.read_bytes().splitlines(keepends=True)
    for at in range(1, len(lines) - 1):
        changed = {
            "removed": [*lines[:at], *lines[at + 1 :]],
            "swapped": [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]],
            "repeated": [*lines[: at + 1], *lines[at:]],
        }[what]
        written.write_bytes(b"".join(changed))
        with pytest.raises(JournalCorrupt) as caught:
            read_journal(written)
        assert caught.value.line == (at + 2 if what == "repeated" else at + 1)


def test_a_line_needs_a_digest(written: Path) -> None:
    lines = written.read_bytes().splitlines(keepends=True)
    for at in (0, 1, len(lines) - 1):
        written.write_bytes(b"".join([*lines[:at], *plain(lines[at:])]))
        with pytest.raises(JournalCorrupt, match=f"^line {at + 1}: "):
            read_journal(written)


def test_a_journal_that_is_gone_on_with_has_the_digests_of_one_that_was_written_at_once(written: Path) -> None:
    book = Journal.reopen(written)
    book.append_decision(entry(4), write_now=True)
    book.close()
    lines = written.read_bytes().splitlines(keepends=True)
    assert lines == resealed(lines)
    assert isinstance(read_journal(written), JournalContents)


def test_the_attempts_of_a_decision_are_those_that_were_recorded_before_it(tmp_path: Path) -> None:
    """Also where the digests are made anew: who changes one of the two changes only one."""
    book = journal(tmp_path)
    book.append_attempts(1, 0, "A", [paid("bad", code="unreadable")])
    book.append_decision(entry(1, attempts=(paid("good", code="unreadable"), paid())), write_now=True)
    book.close()
    with pytest.raises(JournalCorrupt, match="decision 1 has other attempts than were recorded before it"):
        read_journal(book.path)


def test_a_resumed_run_may_need_fewer_attempts_than_there_were(tmp_path: Path) -> None:
    """A model may have no attempts left."""
    book = journal(tmp_path)
    book.append_attempts(1, 0, "A", [paid("bad", code="unreadable"), paid("worse", code="unreadable")])
    book.append_decision(entry(1, attempts=(paid("bad"),)), write_now=True)
    book.close()
    assert list(read_journal(book.path).decisions) == [(1, 0)]
