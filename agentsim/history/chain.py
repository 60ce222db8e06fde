"""chain: what makes a change to a journal show: each line ends in a digest of itself and of the line before it.

The digest is no signature: it finds what was changed by accident or in passing, not an author who computes it anew.
What the lines say is `contents`, writing and syncing them `journal`.
"""

from __future__ import annotations

import hashlib
import re

__all__ = ["Chain"]

_HEX = 32  # 128 bits of SHA-256
_TAIL = re.compile(rb',"chain":"([0-9a-f]{32})"\}\n\Z')
_TAIL_BYTES = len(b',"chain":""}\n') + _HEX


class Chain:
    """The digests of one journal, in the order of its lines.

    The first line says whether a journal has them (`protected`, None before it): those of earlier versions have none.
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
