"""Address: where a site is reached: at a socket of this machine and, behind a proxy, by a public URL."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from agentsim.errors import UsageError

HOST: Final = "127.0.0.1"
_DEFAULT_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|[0-9a-f:.]*:[0-9a-f:.]*")


@dataclass(frozen=True)
class Address:
    """What a server is asked to serve at; `port` 0 is a free one. `origin` is that of the public URL, "" for none."""

    port: int
    host: str = HOST
    origin: str = ""

    @classmethod
    def asked(cls, port: int, host: str | None, public_url: str | None) -> Address:
        """As the options say it; `UsageError` for a public URL that cannot be."""
        return cls(port, HOST if host is None else host, "" if public_url is None else origin_of(public_url))

    @contextmanager
    def bound(self) -> Iterator[socket.socket]:
        """A socket at this address; `UsageError` where it cannot be had."""
        with socket.socket(socket.AF_INET6 if ":" in self.host else socket.AF_INET, socket.SOCK_STREAM) as bound:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                bound.bind((self.host, self.port))
            except OSError as error:
                where = f"--port {self.port}" if self.host == HOST else f"--host {self.host} --port {self.port}"
                raise UsageError(f"{where}: {error.strerror or error} (0 takes a free one)") from None
            yield bound

    def local(self, listening: socket.socket) -> str:
        """The URL of the socket; of one at all addresses of this machine, with the machine's name."""
        host = self.host
        if host in {"0.0.0.0", "::"}:  # noqa: S104 - compared, not bound
            host = socket.gethostname()
        return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"


def origin_of(public_url: str) -> str:
    """The origin of a public URL as browsers write it; `UsageError` for what is none."""
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
    """Whether this is the address of this machine that no other reaches, or its name."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
