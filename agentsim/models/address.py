"""Address: checks of a URL before a call: is it usable, is it on this machine, does `NO_PROXY` exempt it.

`profiles` maps providers to addresses; `transport` connects. Nothing here resolves names.
"""

from __future__ import annotations

import ipaddress
import re
from fnmatch import fnmatchcase
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

from agentsim.patterns import Pattern

_PRIVATE_NAMES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
_PLACE = Pattern(r"(\[[^\[\]\s]+\]|[^\[\]:\s]+)(:\d*)?")


def http_parts(address: str) -> SplitResult | None:
    """Return the parts of an HTTP address, or None if it is not one."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        usable = parts.scheme in {"http", "https"} and host and parts.port != 0
        if not usable or not _PLACE.fullmatch(parts.netloc.rpartition("@")[2]):
            return None
        host.encode("idna")  # as the resolver does: fails if a label is empty or longer than 63 characters
    except ValueError:
        return None
    return parts


def url_problem(address: str) -> str | None:
    """Return the problem of a base address, or None.

    The text does not repeat the address, which may hold a password.
    """
    parts = http_parts(address)
    if parts is None:
        return "must look like http://host:port/v1"
    if "@" in parts.netloc or "?" in address or "#" in address:  # an empty query would still swallow the path
        return "must not hold a user, a password, a query or a fragment"
    if not re.fullmatch(r"[\x21-\x7e]+", address):
        return "must be printable ASCII without spaces"
    return None


def normal(address: str) -> str:
    """Return the address in the form to which paths are appended: scheme in lower case, no slash at the end."""
    scheme, mark, rest = address.partition("://")
    return f"{scheme.lower()}{mark}{rest.rstrip('/')}"


def is_own_machine(address: str) -> bool:
    """Return whether an address is on this machine, which no proxy can reach."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_private_address(address: str) -> bool:
    """Return whether an address is on this machine or a private network, by its text alone: no name is resolved."""
    host = urlsplit(address).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:  # a name
        plain = "." not in host and not host[:1].isdigit()  # a number is an address in another notation
        return bool(host) and (plain or host.endswith(_PRIVATE_NAMES))


def is_azure_v1(address: str) -> bool:
    """Return whether an address is the base of Azure's newest API, which has OpenAI's paths and no version."""
    return urlsplit(address).path.rstrip("/").endswith("/openai/v1")


def is_excluded(address: str, no_proxy: str) -> bool:
    """Return whether `NO_PROXY` exempts an address from the proxy.

    Entries are separated by commas, semicolons or spaces, in any case: `*`; a network (`10.0.0.0/8`, `fd00::/8`); an
    address; a name, with all names below it (`example.com`, `.example.com`, `*.example.com`). Each but a network may
    have a port, and then matches that port alone. Nothing resolves names.
    """
    parts = http_parts(address)
    if parts is None:
        return False
    host, port = _host(parts.hostname or ""), parts.port or {"https": 443}.get(parts.scheme, 80)
    return any(_excludes(entry, host, port) for entry in re.split(r"[\s,;]+", no_proxy.lower()) if entry)


_Host: TypeAlias = "str | ipaddress.IPv4Address | ipaddress.IPv6Address"


def _host(name: str) -> _Host:
    """Return a host as an IP address (IPv4-mapped IPv6 as IPv4), or as a name in IDNA form."""
    try:
        found = ipaddress.ip_address(name.strip("[]").partition("%")[0])
    except ValueError:
        try:
            return name.lower().rstrip(".").encode("idna").decode()
        except UnicodeError:
            return name.lower().rstrip(".")
    return getattr(found, "ipv4_mapped", None) or found


def _excludes(entry: str, host: _Host, port: int) -> bool:
    """Return whether one entry of NO_PROXY matches a host and port."""
    if entry == "*":
        return True
    entry = entry.rpartition("://")[2]
    if "/" in entry:
        try:
            network = ipaddress.ip_network(entry.replace("[", "").replace("]", ""), strict=False)
        except ValueError:
            entry = entry.partition("/")[0]  # an address with a path
        else:
            return not isinstance(host, str) and host in network
    if with_port := re.fullmatch(r"(\[.*\]|[^:]*):(\d+)", entry):
        entry = with_port[1]
        if int(with_port[2]) != port:
            return False
    wanted = _host(entry.removeprefix("*").lstrip("."))
    if isinstance(wanted, str) and isinstance(host, str):
        return bool(wanted) and (host == wanted or host.endswith(f".{wanted}"))
    return fnmatchcase(str(host), entry) if isinstance(wanted, str) and "*" in entry else wanted == host


def ollama_address(host: str) -> str:
    """Return the base URL for OLLAMA_HOST, `[scheme://]host[:port]` with all parts optional, like Ollama's client."""
    scheme, separator, rest = host.rpartition("://")
    scheme = scheme.lower()
    authority, _, path = rest.partition("/")
    name, _, port = authority.rpartition(":") if re.search(r":\d*$", authority) else (authority, "", "")
    default = {"http": "80", "https": "443"}.get(scheme, "11434") if separator else "11434"
    path = re.sub(r"(^|/)v1/*$", "", path)  # some users append it, as the base of the API
    # The same variable tells a server to listen on 0.0.0.0, which a client cannot call.
    name = "127.0.0.1" if name in {"", "0.0.0.0"} else name  # noqa: S104 - compared, not bound
    return f"{scheme or 'http'}://{name}:{port or default}/{path.strip('/') + '/' if path.strip('/') else ''}v1"
