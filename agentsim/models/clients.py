"""The official clients at one address, and the HTTP transport under them.

`openai` serves chat completions and Responses, at OpenAI and at Azure. `anthropic` (an extra) serves messages, at
Anthropic, Bedrock and Vertex. Their own retries, timeouts, logs and traces are off: agentsim has its own. They send
through `Transport`, which limits how much is read, keeps keys from leaking, and follows agentsim's proxy rules. `wire`
and `faults` interpret answers and errors; `remote` makes a call within its deadline, and `pacing` repeats it. Import
this module only before the first request: the clients take half a second to import, and aiohttp 0.15 s.
"""

from __future__ import annotations

import base64
import errno
import functools
import importlib
import logging
import os
import socket
import ssl
import urllib.request
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

import aiohttp
import httpx2
import openai
from aiohttp.client_proto import ResponseHandler
from yarl import URL

from agentsim import __version__
from agentsim.errors import LocalShortage, ScenarioError
from agentsim.models.address import http_parts, is_azure_v1, is_excluded, is_own_machine
from agentsim.models.faults import AnswerNotRead, NoAnswer
from agentsim.models.pacing import connection_slots, soft_limit
from agentsim.patterns import Pattern

if TYPE_CHECKING:
    from aiohttp.client_reqrep import ConnectionKey

    from agentsim.models.profiles import Service


_MOST = 8 * 1024 * 1024  # bytes of an answer; the longest completions are under 1 MB
_MOST_OF_AN_ERROR = 64 * 1024  # bytes of an error's body; the rest is not read
_LONGEST_LINE = 64 * 1024  # bytes of a header: some gateways send policies longer than aiohttp's 8 KiB


_KEYS = frozenset(("authorization", "api-key", "x-api-key"))
_OF_A_CONNECTION = frozenset(("host", "connection", "cookie", "content-length", "transfer-encoding"))
_NOT_RECEIVED = frozenset((b"set-cookie", b"content-encoding", b"content-length", b"transfer-encoding"))


class Transport(httpx2.AsyncBaseTransport):
    """The transport that sends an official client's requests to one base URL over aiohttp.

    It belongs to one event loop. It opens as many connections as there are concurrent requests. It takes only the proxy
    from the environment: no netrc, no cookies, no redirects. A request is never sent twice: if the server closed a kept
    connection and that shows only after sending, `NoAnswer` is raised. Only `headers` are sent; if `own` is True (the
    service's own address) also those that the client makes (`OPENAI_ORG_ID`, custom headers), except keys.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str] = MappingProxyType({}), *, own: bool = False) -> None:
        self._said, self._own = {name.lower(): value for name, value in headers.items()}, own
        self._proxy, credentials = _proxy_for(base_url)
        self._secure = secure = base_url.lower().startswith("https://")
        # Through a tunnel these go to the proxy alone; without one the proxy removes them from the request.
        self._to_proxy = credentials if secure else {}
        self._headers = {} if secure else credentials
        self._tls = _tls() if secure or (self._proxy or "").startswith("https://") else None
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and return its whole answer, whatever its status; of an error's body the first 64 KiB.

        Raises `NoAnswer`, `AnswerNotRead` for an answer that is too long or compressed, and `LocalShortage` if this
        machine has no connection to give, so that nothing was sent. Canceling a request closes its connection.
        """
        if self._session is None:
            self._session = _session(self._tls)
        # Set headers per request: aiohttp sends session headers, keys included, to the proxy of a tunnel, too.
        ways: dict[str, Any] = {"proxy": self._proxy, "proxy_headers": self._to_proxy} if self._proxy else {}
        try:
            url, body = URL(str(request.url), encoded=True), await request.aread()
            async with self._session.request(
                request.method,
                url,
                data=body or None,
                headers=self._sent(request.headers),
                allow_redirects=False,
                **ways,
            ) as response:
                content = await _body(response)
        except (aiohttp.ClientError, OSError, ValueError) as error:  # ValueError: an invalid address
            raise no_answer(error, self._proxy) from error
        if self._proxy and not self._secure and _is_of_a_proxy(response, content):
            why = " ".join(filter(None, (f"HTTP {response.status}", _phrase(response.status))))
            raise NoAnswer("proxy", why, proxy=self._proxy, hint=_proxy_hint(response.status))
        return httpx2.Response(response.status, headers=_received(response), content=content)

    def _sent(self, headers: httpx2.Headers) -> dict[str, str]:
        """Return the headers to send. Compressed answers are refused: 200 KB of gzip can expand to 200 MB."""
        kept = (name for name in headers if self._own and name not in _OF_A_CONNECTION | _KEYS)
        more = {name: headers[name] for name in kept}
        return {**more, **self._said, "accept-encoding": "identity", **self._headers}

    async def aclose(self) -> None:
        """Close the connections; may be called again."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


def _received(response: aiohttp.ClientResponse) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer for the client, without cookies and without those that describe the encoding."""
    return [(name, value) for name, value in response.raw_headers if name.lower() not in _NOT_RECEIVED]


class Connector(aiohttp.TCPConnector):
    """A connector that discards a kept connection on which the server sent data without a request.

    aiohttp's own connector keeps such a connection, and would take that data for the answer to the next request.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        opened: type[ResponseHandler] = _Connection
        self._factory = functools.partial(opened, loop=self._loop)

    def _release(self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        super()._release(key, protocol, should_close=should_close)
        assert isinstance(protocol, _Connection)
        protocol.idle = True


class _Connection(ResponseHandler):
    """One connection; `idle` between an answer and the next request."""

    idle = False

    def set_response_params(self, **params: Any) -> None:
        self.idle = False
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        if self.idle and data:  # data is empty when reading resumes
            self.abort()  # discards the data
            return
        super().data_received(data)
        if self.idle and self.should_close:  # the end of an answer, followed by more data
            self.abort()


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """Return the body. Raises `AnswerNotRead` for a body over 8 MiB; an error's body is cut at 64 KiB."""
    good = 200 <= response.status < 300
    encodings = response.headers.get("content-encoding", "").lower().split(",")
    plain = {each.strip() for each in encodings} <= {"", "identity"}
    if good and not plain:
        raise AnswerNotRead("compressed, though that was not asked for")
    room = _MOST + 1 if good else _MOST_OF_AN_ERROR if plain else 0
    body = bytearray()
    while len(body) < room and (chunk := await response.content.readany()):
        body += chunk
    if good and len(body) > _MOST:
        raise AnswerNotRead(f"longer than {_MOST // 2**20} MiB")
    if len(body) >= room:
        response.close()  # do not read the rest
    return bytes(body[:room])


def _session(tls: ssl.SSLContext | None) -> aiohttp.ClientSession:
    # The rate limiter limits concurrent calls, and the caller sets the deadline.
    connector = Connector(
        limit=0, force_close=connection_slots().tight, ssl=tls or True, resolver=aiohttp.ThreadedResolver()
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        auto_decompress=False,
        max_line_size=_LONGEST_LINE,
        max_field_size=_LONGEST_LINE,
    )


def _tls() -> ssl.SSLContext:
    """Return an SSL context with the system's trust store.

    Raises `ScenarioError` if the certificates cannot be read.
    """
    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        raise ScenarioError(
            f"the certificates to trust cannot be read ({_system_words(error)})",
            valid="SSL_CERT_FILE and SSL_CERT_DIR unset, or where certificates are",
        ) from None


def _proxy_for(base_url: str) -> tuple[str | None, dict[str, str]]:
    """Return the proxy of the environment or the system for this address, and its header; (None, {}) on this machine.

    Raises `ScenarioError` for a proxy that is not HTTP, without repeating its address, which may hold a password.
    """
    parts = urlsplit(base_url)
    if is_own_machine(base_url):
        return None, {}
    no_proxy = urllib.request.getproxies_environment().get("no")
    if urllib.request.proxy_bypass(parts.netloc) if no_proxy is None else is_excluded(base_url, no_proxy):
        return None, {}
    named = urllib.request.getproxies()
    proxy = named.get(parts.scheme) or named.get("all")
    if not proxy:
        return None, {}
    at = http_parts(proxy if "://" in proxy else f"http://{proxy}")
    if at is None:
        raise ScenarioError(
            f"the proxy of the environment for {parts.scheme}:// addresses is not an HTTP proxy",
            valid=f"http://host:port; or NO_PROXY={parts.hostname} where no proxy is needed",
        )
    address = f"{at.scheme}://{at.netloc.rpartition('@')[2]}"
    if at.username is None:
        return address, {}
    words = f"{unquote(at.username)}:{unquote(at.password or '')}".encode()
    return address, {"Proxy-Authorization": f"Basic {base64.b64encode(words).decode()}"}


# The system has too few descriptors or too little memory, for this process or for all.
_SHORT = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))


def no_answer(error: BaseException, proxy: str | None = None) -> NoAnswer:
    """Convert an exception of the HTTP layer to `NoAnswer`, in words that contain no header and no key.

    Raises `LocalShortage` if this machine has no connection to give, so that nothing was sent.
    """
    chain = list(_chain(error))
    system = [step for step in chain if isinstance(step, OSError) and not isinstance(step, TimeoutError)]
    cause = system[-1] if system else chain[-1]
    words = _system_words(cause)
    connecting = isinstance(cause, (ConnectionRefusedError, socket.gaierror, ssl.SSLError)) or any(
        isinstance(step, aiohttp.ClientConnectorError) for step in chain
    )
    if connecting and isinstance(cause, OSError) and cause.errno in _SHORT:
        raise LocalShortage(f"no connection can be opened here: {words} (ulimit -n is {soft_limit()})") from None
    for step in chain:
        if isinstance(step, aiohttp.ClientHttpProxyError):
            return NoAnswer("proxy", words, proxy=proxy, hint=_proxy_hint(step.status))
        if isinstance(step, aiohttp.ClientProxyConnectionError):
            return NoAnswer("proxy", words, proxy=proxy)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return NoAnswer("certificate", words, proxy=proxy, hint=_certificate_hint(cause))
    if connecting and isinstance(cause, ssl.SSLError):
        return NoAnswer(
            "tls", words, proxy=proxy, hint="base_url may have to begin with http://, or to name another port"
        )
    return NoAnswer("connecting" if connecting else "broken", words, proxy=proxy)


# OpenSSL's numbers of certificate errors (`openssl verify`, X509_V_ERR_...).
_NOT_NOW = frozenset((9, 10))
_OF_ANOTHER_NAME = frozenset((62, 63, 64))


def _certificate_hint(error: ssl.SSLCertVerificationError) -> str:
    """Return advice on how to make a certificate trusted."""
    code = getattr(error, "verify_code", 0)
    if code in _NOT_NOW:
        return "it has to be renewed, unless the clock of this machine is wrong"
    if code in _OF_ANOTHER_NAME:
        return "base_url has to name the host as the certificate does"
    return "to trust it, let SSL_CERT_FILE name a PEM file with it or with the certificate of its issuer"


def _is_of_a_proxy(response: aiohttp.ClientResponse, content: bytes) -> bool:
    """Guess whether an answer comes from a proxy and not from the host behind it.

    Signs are status 407 (RFC 9110, section 15.5.8), a proxy's header (RFC 9209, Squid), or a gateway status without
    JSON.
    """
    if response.status < 400:
        return False
    if response.status == 407 or response.headers.keys() & {"Proxy-Status", "X-Squid-Error", "Proxy-Authenticate"}:
        return True
    return response.status in {403, 502, 503, 504} and content.lstrip()[:1] not in {b"{", b"["}


def _proxy_hint(status: int) -> str:
    return "it wants a user and a password, as in http://USER:PASSWORD@host:port" if status == 407 else ""


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in set(HTTPStatus) else ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes, outermost first; of an exception group, follow the first member."""
    seen: set[int] = set()
    step: BaseException | None = error
    while step is not None and id(step) not in seen:
        seen.add(id(step))
        yield step
        group = isinstance(step, BaseExceptionGroup) and step.exceptions
        step = group[0] if group else step.__cause__ or step.__context__


def _system_words(error: BaseException) -> str:
    """Return the operating system's words for an error. `str()` of other errors may contain headers, and so a key."""
    # absent if the error was constructed by hand
    if isinstance(error, ssl.SSLCertVerificationError) and hasattr(error, "verify_message"):
        return error.verify_message.rstrip(".")
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.replace("_", " ").lower()
    if isinstance(error, (socket.gaierror, ssl.SSLError)):
        return error.strerror or type(error).__name__
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return f"HTTP {error.status}" if isinstance(error, aiohttp.ClientHttpProxyError) else type(error).__name__


_OWN_HOSTS = {"openai": "api.openai.com", "anthropic": "api.anthropic.com"}
_HEADER_NAME = Pattern(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = Pattern(r"[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*")
_VARIABLES = {"openai-organization": "OPENAI_ORG_ID", "openai-project": "OPENAI_PROJECT_ID"}
_CUSTOM = {"openai": "OPENAI_CUSTOM_HEADERS", "anthropic": "ANTHROPIC_CUSTOM_HEADERS"}
_NO_KEY = "none"  # the clients require a key; the header that would hold it is left out
# The version that accepts everything `wire.messages` sends. The client's default version refuses a temperature.
_VERSIONS = {"anthropic": "2023-06-01", "bedrock": "bedrock-2023-05-31", "vertex": "vertex-2023-10-16"}


class Answer(NamedTuple):
    """A whole HTTP response, or the beginning of an error's body. `headers` are case-insensitive."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Client:
    """An official client at one base URL with one key. It belongs to one event loop.

    It sends the headers of `_said` and, at the service's own address, those that the client makes from the environment.
    Raises `ScenarioError` if the service's extra is not installed, or if a variable that becomes a header
    (`OPENAI_ORG_ID`, custom headers) holds characters that no header may have.
    """

    def __init__(self, service: Service, base_url: str, key: str | None, options: Mapping[str, str]) -> None:
        own = is_own_host(service, base_url)
        self._transport = Transport(base_url, _said(service, key, own), own=own)
        # The transport has its own rules for proxies, redirects and netrc.
        http = httpx2.AsyncClient(transport=self._transport, trust_env=False, follow_redirects=False)
        self._client, self._errors = _official(service, base_url, key or _NO_KEY, http, options, own=own)
        self._version = {} if service not in {"bedrock", "vertex"} else {"anthropic_version": _VERSIONS[service]}
        self._headers = _checked(self._client, service) if own else _omitted(self._client, self._errors)
        _silence()

    async def post(self, path: str, body: Mapping[str, Any]) -> Answer:
        """Send a POST request and return its whole answer, whatever its status. Raises what `Transport` raises."""
        return await self._request("post", path, body={**body, **self._version})

    async def get(self, path: str) -> Answer:
        """Send a GET request and return its answer, as `post` does."""
        return await self._request("get", path)

    async def _request(self, method: str, path: str, **body: Any) -> Answer:
        send = getattr(self._client, method)
        try:
            response = await send(path, cast_to=httpx2.Response, options={"headers": self._headers}, **body)
        except self._errors.APIStatusError as error:
            response = error.response
        except self._errors.APIConnectionError as error:  # one of the clients wraps the transport's exceptions
            raise error.__cause__ or error from None
        return Answer(response.status_code, response.headers, response.content)

    async def aclose(self) -> None:
        """Close the connections; may be called again."""
        await self._transport.aclose()


def is_own_host(service: Service, base_url: str) -> bool:
    """Return whether an address is the service's own, so that settings from the environment may go there."""
    host, own = urlsplit(base_url).hostname or "", _OWN_HOSTS.get(service)
    return own is not None and (host == own or host.endswith(f".{own}"))


def _official(
    service: Service, base_url: str, key: str, http: httpx2.AsyncClient, options: Mapping[str, str], *, own: bool
) -> tuple[Any, Any]:
    """Return the client of a service, and the module that defines its errors."""
    common: dict[str, Any] = {"max_retries": 0, "http_client": http, "timeout": None}
    if not own and service in {"openai", "azure"}:
        common["default_headers"] = dict.fromkeys(_custom_names("OPENAI_CUSTOM_HEADERS"), openai.Omit())
    if service == "openai":
        return openai.AsyncOpenAI(base_url=base_url, api_key=key, **common), openai
    if service == "azure":
        version = options.get("api_version")
        if is_azure_v1(base_url):
            query = {"api-version": version} if version else None
            return openai.AsyncOpenAI(base_url=base_url, api_key=key, default_query=query, **common), openai
        return openai.AsyncAzureOpenAI(base_url=base_url, api_key=key, api_version=version, **common), openai
    try:
        anthropic: Any = importlib.import_module("anthropic")
    except ImportError:
        problem = "this provider needs the extra `anthropic`"
        raise ScenarioError(problem, valid="pip install 'agentsim-games[anthropic]'") from None
    common["open_telemetry"] = False
    if not own:
        common["default_headers"] = dict.fromkeys(_custom_names("ANTHROPIC_CUSTOM_HEADERS"), anthropic.Omit())
    if service == "anthropic":
        base_url = base_url.removesuffix("/v1")  # the client puts it into each path
        return anthropic.AsyncAnthropic(base_url=base_url, api_key=key, **common), anthropic
    if service == "bedrock":
        region = options.get("region") or "us-east-1"
        return anthropic.AsyncAnthropicBedrock(base_url=base_url, api_key=key, aws_region=region, **common), anthropic
    project, region = options.get("project"), options.get("region") or "global"
    made = anthropic.AsyncAnthropicVertex(
        base_url=base_url, access_token=key, project_id=project, region=region, **common
    )
    return made, anthropic


def _said(service: Service, key: str | None, own: bool) -> dict[str, str]:
    """Return the headers of every request, with a key only if given.

    Custom headers of the environment cannot change them.
    """
    said = {"accept": "application/json", "content-type": "application/json"}
    if not own:
        said["user-agent"] = f"agentsim/{__version__}"
    if service == "anthropic":
        said["anthropic-version"] = _VERSIONS[service]
    if key is not None:
        said |= {"api-key": key} if service == "azure" else {"authorization": f"Bearer {key}"}
    return said


def _custom_names(variable: str) -> list[str]:
    """Return the names of the headers that a client takes from an environment variable."""
    lines = os.environ.get(variable, "").split("\n")
    return [name.strip() for name, colon, _ in (line.partition(":") for line in lines) if colon]


def _checked(client: Any, service: Service) -> dict[str, Any]:
    """Return no extra headers. Raises `ScenarioError` if one of the client's headers cannot be sent."""
    for name, value in client.default_headers.items():
        if isinstance(value, str) and not (_HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value)):
            variable = _VARIABLES.get(name.lower(), _CUSTOM.get(service, "the client's headers"))
            raise ScenarioError(f"the environment variable {variable} has characters that no header has (a line break)")
    return {}


def _omitted(client: Any, module: Any) -> dict[str, Any]:
    """Return the client's default headers, each set to be omitted, so that none of them can fail to be encoded."""
    return {name: module.Omit() for name in client.default_headers}


def _silence() -> None:
    """Turn off the clients' logs, whatever `OPENAI_LOG` and `ANTHROPIC_LOG` say: they hold prompts and replies."""
    for name in ("openai", "anthropic", "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
