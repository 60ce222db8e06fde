"""Connector: kept connections of which one that has said anything unasked is never used again.

What travels over a connection is `transport`'s; this is a module of its own because aiohttp takes 0.15 s to import.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from aiohttp import TCPConnector
from aiohttp.client_proto import ResponseHandler

if TYPE_CHECKING:
    from aiohttp.client_reqrep import ConnectionKey

__all__ = ["Connector"]


class Connector(TCPConnector):
    """aiohttp's own keeps such a connection, and what it said would be the answer to somebody else's next request."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        opened: type[ResponseHandler] = _Line
        self._factory = functools.partial(opened, loop=self._loop)

    def _release(self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        super()._release(key, protocol, should_close=should_close)
        assert isinstance(protocol, _Line)
        protocol.idle = True


class _Line(ResponseHandler):
    """One connection; `idle` between an answer and the next request."""

    idle = False

    def set_response_params(self, **params: Any) -> None:
        self.idle = False
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        if self.idle and data:  # nothing at all is said where reading goes on
            self.abort()  # not a word of it is read
            return
        super().data_received(data)
        if self.idle and self.should_close:  # an answer's end and more behind it
            self.abort()
