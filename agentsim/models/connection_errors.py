"""Connection errors: what an exception of the HTTP layer says of a connection, in words that hold no header and no key.

Which error of ours it becomes belongs to `faults`.
"""

from __future__ import annotations

import errno
import os
import socket
import ssl

__all__ = ["NoAnswer", "Unacceptable", "is_connecting", "is_of_proxy", "root", "shortage", "system_words"]

# What HTTP libraries (httpx2's and aiohttp's) call it, by name: here none of them is loaded.
_OF_PROXY = frozenset(("ProxyError", "ClientProxyConnectionError", "ClientHttpProxyError"))
_CONNECTING = frozenset(("ConnectError", "ConnectTimeout", "ClientConnectorError"))
# What the system has too little of, for this process or for all.
_SHORT = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))


class NoAnswer(Exception):
    """No connection, or one that ended before the answer did; the cause says why."""


class Unacceptable(Exception):
    """An answer that is not taken in; `str()` says why, in words for a person and none of the server's."""


def shortage(error: BaseException) -> str | None:
    """Where there was no connection because this machine has none to give, the system's words: nothing was sent."""
    cause = root(error)
    short = is_connecting(error) and isinstance(cause, OSError) and cause.errno in _SHORT
    return system_words(cause) if short else None


def is_connecting(error: BaseException) -> bool:
    """Whether there was no connection yet."""
    cause = root(error)
    return isinstance(cause, (ConnectionRefusedError, socket.gaierror, ssl.SSLError)) or _is_any(error, _CONNECTING)


def is_of_proxy(error: BaseException) -> bool:
    """Whether it was the proxy that could not be reached, or did not connect us."""
    return _is_any(error, _OF_PROXY)


def _is_any(error: BaseException, names: frozenset[str]) -> bool:
    return any(kind.__name__ in names for step in _chain(error) for kind in type(step).__mro__)


def _chain(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    step: BaseException | None = error
    while step is not None and step not in chain:
        chain.append(step)
        if isinstance(step, BaseExceptionGroup) and step.exceptions:
            step = step.exceptions[0]
        else:
            step = step.__cause__ or step.__context__
    return chain


def root(error: BaseException) -> BaseException:
    """The system's own error inside the HTTP layer's, or else the innermost one."""
    chain = _chain(error)
    system = [step for step in chain if isinstance(step, OSError) and not isinstance(step, TimeoutError)]
    return system[-1] if system else chain[-1]


def system_words(error: BaseException) -> str:
    """The operating system's words for an error; str() of others may hold a header, and a header the key."""
    if isinstance(error, (socket.gaierror, ssl.SSLError)):
        return error.strerror or type(error).__name__
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    status = getattr(error, "status", None) if type(error).__name__ == "ClientHttpProxyError" else None
    return f"HTTP {status}" if isinstance(status, int) else type(error).__name__
