"""Chain of digests over the lines of a journal.

It shows what was changed by accident or in passing. It is no signature: the author of a change can compute the digests
anew.
"""

from __future__ import annotations

import hashlib
import re

_HEX = 32  # 128 bits of SHA-256
_TAIL = re.compile(rb',"chain":"([0-9a-f]{32})"\}\n\Z')
_TAIL_BYTES = len(b',"chain":""}\n') + _HEX


class Chain:
    """The digests of one journal, each of a line and of the digest before it.

    `protected` is None before the first line, and False for journals of earlier versions, which have no digests.
    """

    def __init__(self) -> None:
        self.protected: bool | None = None
        self._last = b""

    def sealed(self, line: bytes) -> bytes:
        """A JSON object as the journal's next line, with its digest as the last member."""
        if not self.protected:
            return line + b"\n"
        self._last = _digest(self._last, line)
        return b'%b,"chain":"%b"}\n' % (line[:-1], self._last)

    def follow(self, raw: bytes) -> None:
        """Take in the next line as it was read; `ValueError` where it is not the one that was written."""
        found = _TAIL.search(raw, max(0, len(raw) - _TAIL_BYTES))
        if self.protected is None:
            self.protected = found is not None
        if not self.protected and found is None:
            return
        self._last = _digest(self._last, raw[:-_TAIL_BYTES] + b"}")
        if not self.protected or found is None or found[1] != self._last:
            raise ValueError("was changed, or is not the line that was written here")


def _digest(before: bytes, line: bytes) -> bytes:
    return hashlib.sha256(before + line).hexdigest()[:_HEX].encode()
