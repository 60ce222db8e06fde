"""The intake: how much of an answer is taken in, whatever carries it."""

from __future__ import annotations

import pytest

from agentsim.models.faults import Unacceptable
from agentsim.models.transport import Intake

MOST = 8 * 2**20


def test_a_good_answer_is_taken_whole_up_to_8_mib() -> None:
    intake = Intake(200, {})
    assert intake.taken(b"x" * (MOST - 1)) == b"x" * (MOST - 1)
    assert intake.taken(b"y") == b"y"
    assert not intake.full
    with pytest.raises(Unacceptable, match="longer than 8 MiB"):
        intake.taken(b"z")


@pytest.mark.parametrize("encoding", ["gzip", "br", "Deflate", "identity, gzip"])
def test_a_packed_answer_is_refused_before_a_byte_of_it(encoding: str) -> None:
    with pytest.raises(Unacceptable, match="compressed"):
        Intake(200, {"content-encoding": encoding})
    assert Intake(401, {"content-encoding": encoding}).full, "an error is told by its status"


@pytest.mark.parametrize("encoding", ["", "identity", " Identity ", "identity, identity", ","])
def test_a_plain_answer_is_taken(encoding: str) -> None:
    assert Intake(200, {"content-encoding": encoding}).taken(b"x") == b"x"


def test_an_answer_that_declares_too_much_is_refused_before_a_byte_of_it() -> None:
    with pytest.raises(Unacceptable, match="longer than 8 MiB"):
        Intake(200, {"content-length": str(MOST + 1)})
    for junk in ("-1", "x", "9" * 400, ""):
        Intake(200, {"content-length": junk})


def test_of_an_error_the_beginning_is_enough() -> None:
    intake = Intake(500, {"content-length": str(10**9)})
    assert len(intake.taken(b"x" * 100_000)) == 65_536
    assert intake.full
    assert intake.taken(b"y") == b""
