"""Address: the socket of a site on this machine and, behind a proxy, its public URL."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from agentsim.errors import UsageError
from agentsim.patterns import Pattern

HOST: Final = "127.0.0.1"
_DEFAULT_PORTS = {"http": 80, "https": 443}
_NAME = Pattern(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|[0-9a-f:.]*:[0-9a-f:.]*")


@dataclass(frozen=True)
class Address:
    """The address to serve at. `port` 0 takes a free one. `origin` is the origin of the public URL, or ""."""

    port: int
    host: str = HOST
    origin: str = ""

    @classmethod
    def asked(cls, port: int, host: str | None, public_url: str | None) -> Address:
        """Return the address that the options of a command ask for. Raises `UsageError` for an invalid public URL."""
        return cls(port, HOST if host is None else host, "" if public_url is None else origin_of(public_url))

    @contextmanager
    def bound(self) -> Iterator[socket.socket]:
        """Yield a socket that is bound to this address. Raises `UsageError` if it cannot be bound."""
        with socket.socket(socket.AF_INET6 if ":" in self.host else socket.AF_INET, socket.SOCK_STREAM) as bound:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                bound.bind((self.host, self.port))
            except OSError as error:
                where = f"--port {self.port}" if self.host == HOST else f"--host {self.host} --port {self.port}"
                raise UsageError(f"{where}: {error.strerror or error} (0 takes a free one)") from None
            yield bound

    def local(self, listening: socket.socket) -> str:
        """Return the URL of the socket, with the machine's name if it is bound to all addresses."""
        host = self.host
        if host in {"0.0.0.0", "::"}:  # noqa: S104 - compared, not bound
            host = socket.gethostname()
        return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"


def origin_of(public_url: str) -> str:
    """Return the origin of a public URL as browsers write it. Raises `UsageError` if it is invalid."""
    given = f"--public-url {public_url[:80]!r}"
    try:
        parts = urlsplit(public_url)
        name, port = parts.hostname or "", parts.port
    except ValueError:
        name, port = "", None
    if not _NAME.fullmatch(name) or parts.scheme not in _DEFAULT_PORTS or "@" in parts.netloc:
        raise UsageError(f"{given}: must be http or https and a host, such as https://lab.example.org")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise UsageError(f"{given}: a path is not supported; give the site a host name or a port of its own")
    at = "" if port in {None, _DEFAULT_PORTS[parts.scheme]} else f":{port}"
    return f"{parts.scheme}://{f'[{name}]' if ':' in name else name}{at}"


def is_loopback(host: str) -> bool:
    """Return whether a host is a loopback address or `localhost`."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
