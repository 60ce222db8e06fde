"""The bytecode of templates, kept where Python keeps that of the package: to compile them takes longer than a page."""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from threading import get_ident

from jinja2 import BytecodeCache, __version__
from jinja2.bccache import Bucket

_DIGEST = sha256().digest_size


class KeptBytecode(BytecodeCache):
    """Files beside the package's own bytecode, where those can be written; what does not fit its template is made anew.

    What a template says of constants is worked out when it is compiled. So the source of its filters, whose modules
    are `makers`, counts as part of its own.
    """

    def __init__(self, makers: Iterable[str]) -> None:
        self._made_by = __version__.encode() + b"".join(Path(maker).read_bytes() for maker in sorted(makers))
        self._directory = Path(cache_from_source(__file__)).parent

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take what was kept of this very source, whole as it was written."""
        with suppress(OSError):
            kept = self._path(bucket).read_bytes()
            if kept[:_DIGEST] == self._digest(bucket, kept[_DIGEST:]):
                bucket.code = marshal.loads(kept[_DIGEST:])  # noqa: S302 (as trusted as the package's own bytecode there)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep it for other processes, unless Python is to keep none; a directory that takes no file is no error."""
        if sys.dont_write_bytecode:
            return
        code, path = marshal.dumps(bucket.code), self._path(bucket)
        beside = path.with_name(f"{path.name}.{os.getpid()}.{get_ident()}")
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(self._digest(bucket, code) + code)
            beside.replace(path)

    def _path(self, bucket: Bucket) -> Path:
        return self._directory / f"{bucket.key}.{sys.implementation.cache_tag}.template"

    def _digest(self, bucket: Bucket, code: bytes) -> bytes:
        return sha256(b"\0".join((self._made_by, bucket.checksum.encode(), code))).digest()
