"""Intake: the bytes of an answer as they arrive, and the most of them that are taken in.

Every way for answers to travel reads its bytes through one of these. What the bytes say does not belong here.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["ASKED_ENCODING", "Intake", "Unacceptable"]

ASKED_ENCODING = "identity"
"""What a request's `Accept-Encoding` says: 200 KB of gzip can hold 200 MB."""

_MOST = 8 * 1024 * 1024  # bytes of an answer; the longest completion of today's models is under 1 MB
_MOST_OF_AN_ERROR = 64 * 1024  # what stands behind that is not looked at


class Unacceptable(Exception):
    """An answer that is not taken in; `str()` says why, in words for a person and none of the server's."""


class Intake:
    """Takes the chunks of one answer in their order; raises `Unacceptable` instead of holding more than 8 MiB.

    Errors are told by their status, so that of one only the beginning is kept, and nothing if it is compressed.
    """

    def __init__(self, status: int, headers: Mapping[str, str]) -> None:
        encodings = headers.get("content-encoding")
        plain = encodings is None or {each.strip() for each in encodings.lower().split(",")} <= {"", ASKED_ENCODING}
        self._good = 200 <= status < 300
        if self._good and not plain:
            raise Unacceptable("compressed, though that was not asked for")
        if self._good and _declared(headers) > _MOST:
            raise _too_long()
        self._room = _MOST if self._good else _MOST_OF_AN_ERROR if plain else 0

    def taken(self, chunk: bytes) -> bytes:
        """What is kept of a chunk."""
        if self._good and len(chunk) > self._room:
            raise _too_long()
        kept = chunk[: self._room]
        self._room -= len(kept)
        return kept

    @property
    def full(self) -> bool:
        """Whether nothing that follows would be kept."""
        return not self._room and not self._good


def _declared(headers: Mapping[str, str]) -> int:
    length = headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() and len(length) < 20 else 0


def _too_long() -> Unacceptable:
    return Unacceptable(f"longer than {_MOST // 2**20} MiB")
