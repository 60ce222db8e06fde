"""The transport of requests, over sockets: kept connections, broken ones, proxies, TLS, and requests never sent."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import ANY

import httpx2
import openai
import pytest

from agentsim import __version__
from agentsim.errors import ModelError, ProviderRejected, RequestRefused, ScenarioError, TransportFailed
from agentsim.models.base import Call, Completion, Sampling
from agentsim.models.clients import Client, Transport, _proxy_for
from agentsim.models.profiles import BUILT_IN, ProviderSettings, resolve
from agentsim.models.remote import Endpoint, RemoteModel
from tests.fakes.replies import envelope
from tests.fakes.server import FakeServer, Raw
from tests.fakes.waiting import until
from tests.models.asking import tried

T = TypeVar("T")
KEY = "sk-canary-1234567890abcdef"
CALL = Call((("system", "Rules: ä, 漢字."), ("user", "Go.")))
LONG = replace(CALL, messages=(("user", "ä" * 500_000),))
SAMPLING = Sampling(max_tokens=64, timeout_s=5)
CERTIFICATE = Path(__file__).parents[1] / "fakes" / "localhost.pem"  # for localhost and 127.0.0.1, until 2126
ANSWER = Raw(body=envelope("said")).encoded()
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@dataclass
class Sockets:
    """A server of raw bytes; `requests` are by connection, and each gets the next of `answers` (the last repeats).

    An answer of None is a reset; with `hang_up` the connection is closed after each answer.
    """

    answers: list[bytes | None] = field(default_factory=lambda: [ANSWER])
    hang_up: bool = False
    tls: ssl.SSLContext | None = None
    requests: list[list[bytes]] = field(default_factory=list)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    host: str = "127.0.0.1"
    closed: int = 0
    port: int = 0

    @asynccontextmanager
    async def serve(self) -> Any:
        server = await asyncio.start_server(self._serve, self.host, 0, ssl=self.tls)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        mine: list[bytes] = []
        self.requests.append(mine)
        self.writers.append(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]
                mine.append(head + await reader.readexactly(int(length or 0)))
                answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                if answer is None:
                    connected = writer.get_extra_info("socket")
                    connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    writer.transport.abort()
                    return
                writer.write(answer)
                if self.hang_up:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.closed += 1
            writer.close()


def model_at(base_url: str, key: str | None = None) -> RemoteModel:
    profile = resolve("lab", {"lab": ProviderSettings(base_url=base_url, api_key_env="LAB_KEY" if key else None)}, {})
    return RemoteModel("lab/m", profile, Endpoint(profile.base_url, key))


def with_model(
    use: Callable[[RemoteModel], Awaitable[T]],
    server: Sockets | None = None,
    url: str = "http://127.0.0.1:{port}/v1",
    key: str | None = None,
) -> T:
    async def main() -> T:
        async with (server or Sockets()).serve() as running:
            model = model_at(url.format(port=running.port), key)
            try:
                return await use(model)
            finally:
                await model.aclose()

    return asyncio.run(main())


async def once(model: RemoteModel) -> Completion:
    return await model.complete(CALL, SAMPLING)


def sent(server: Sockets) -> list[int]:
    """Return the number of requests of each connection."""
    return [len(requests) for requests in server.requests]


def narrow(server: Sockets) -> None:
    """Give our ends of the connections small buffers; sockets of one machine would take a megabyte otherwise."""
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError), socket.socket(fileno=os.dup(int(entry.name))) as ours:
            if ours.family == socket.AF_INET and ours.getpeername()[1] == server.port:
                ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)


# ------------------------------------------------------------------------------------------------ connections


def test_a_connection_is_kept_for_the_next_request() -> None:
    async def thrice(model: RemoteModel) -> None:
        for _ in range(3):
            await once(model)

    server = Sockets()
    with_model(thrice, server)
    assert sent(server) == [3]


def test_a_connection_that_the_server_has_closed_meanwhile_is_replaced_unnoticed() -> None:
    async def twice(model: RemoteModel) -> None:
        await once(model)
        await until(lambda: server.closed == 1)
        for _ in range(20):
            await asyncio.sleep(0)  # lets the loop notice
        await once(model)

    server = Sockets(hang_up=True)
    with_model(twice, server)
    assert sent(server) == [1, 1]


def test_a_kept_connection_that_breaks_under_a_request_is_a_fault_and_nothing_is_sent_twice() -> None:
    """The server may have begun to work on the request, and a call is paid for."""

    async def twice(model: RemoteModel) -> TransportFailed:
        await once(model)
        with pytest.raises(TransportFailed, match="broke") as caught:
            await once(model)
        return caught.value

    server = Sockets([ANSWER, None])
    assert with_model(twice, server).code == "reset"
    assert sent(server) == [2]


UNASKED = [
    Raw(body=envelope("stale")).encoded(),
    Raw(body=envelope("stale")).encoded()[:20],
    Raw(408, b"").encoded(keep_alive=False),
]


@pytest.mark.parametrize("unasked", UNASKED, ids=["an-answer", "a-piece", "408"])
def test_a_kept_connection_that_says_something_unasked_is_not_used_again(unasked: bytes) -> None:
    """Otherwise its text would be the answer to the next request, perhaps of another player."""

    async def twice(model: RemoteModel) -> list[str]:
        first = await once(model)
        server.writers[0].write(unasked)
        await until(lambda: server.closed == 1)
        return [first.text, (await once(model)).text]

    server = Sockets()
    assert with_model(twice, server) == ["said", "said"]
    assert sent(server) == [1, 1]


def test_nor_is_one_whose_answer_has_more_behind_its_end() -> None:
    async def twice(model: RemoteModel) -> list[str]:
        task = asyncio.create_task(once(model))
        await until(lambda: sent(server) == [1])
        for _ in range(20):
            await asyncio.sleep(0)  # the headers are read, and the answer has begun
        server.writers[0].write(ANSWER[-10:] + UNASKED[0])
        first = await task
        return [first.text, (await once(model)).text]

    server = Sockets([ANSWER[:-10], ANSWER])
    assert with_model(twice, server) == ["said", "said"]
    assert sent(server) == [1, 1]


def test_a_request_that_the_sockets_cannot_take_at_once_follows_as_the_server_reads() -> None:
    async def use(model: RemoteModel) -> str:
        await once(model)
        narrow(server)
        return (await model.complete(LONG, SAMPLING)).text

    server = Sockets()
    assert with_model(use, server) == "said"
    sent = server.requests[0][1].partition(b"\r\n\r\n")[2]
    assert json.loads(sent)["messages"] == [{"role": "user", "content": LONG.messages[0][1]}]


async def sending(model: RemoteModel, server: Sockets) -> asyncio.Task[Completion]:
    """Start a call whose request is half sent, since the server has stopped reading."""
    await once(model)
    narrow(server)
    server.writers[0].transport.pause_reading()  # type: ignore[attr-defined]
    call = asyncio.create_task(model.complete(LONG, SAMPLING))
    await asyncio.sleep(0)
    return call


def test_a_connection_that_breaks_while_a_request_is_being_sent_is_a_fault() -> None:
    async def use(model: RemoteModel) -> str:
        call = await sending(model, server)
        server.writers[0].transport.abort()
        with pytest.raises(TransportFailed) as caught:
            await call
        return caught.value.code

    server = Sockets()
    assert with_model(use, server) == "reset"


def test_a_call_that_is_cancelled_while_its_request_is_being_sent_takes_its_connection_with_it() -> None:
    async def use(model: RemoteModel) -> str:
        call = await sending(model, server)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        server.writers[0].transport.resume_reading()  # type: ignore[attr-defined]
        return (await once(model)).text

    server = Sockets()
    assert with_model(use, server) == "said"
    assert [len(requests) for requests in server.requests] == [1, 1]


def test_there_are_as_many_connections_as_calls() -> None:
    server = FakeServer(latency_s=0.2)

    async def main() -> None:
        async with server:
            model = model_at(server.url())
            await asyncio.gather(*(once(model) for _ in range(150)))
            await model.aclose()

    asyncio.run(main())
    assert server.most_in_flight == 150


def test_a_cancelled_call_takes_its_connection_with_it() -> None:
    """Otherwise its late answer would be taken for that of the next call."""

    async def cancel(model: RemoteModel) -> str:
        task = asyncio.create_task(once(model))
        await until(lambda: sent(server) == [1])
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: server.closed == 1)
        return (await once(model)).text

    server = Sockets([b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{", ANSWER])
    assert with_model(cancel, server) == "said"
    assert sent(server) == [1, 1]


def test_a_redirect_is_not_followed() -> None:
    async def refused(model: RemoteModel) -> str:
        with pytest.raises(RequestRefused) as caught:
            await once(model)
        return caught.value.code

    server = Sockets([b"HTTP/1.1 307 Go\r\nLocation: /v2/chat/completions\r\nContent-Length: 0\r\n\r\n", ANSWER])
    assert with_model(refused, server, key=KEY) == "redirect"
    assert sent(server) == [1]


def test_of_an_error_that_never_ends_the_beginning_is_enough() -> None:
    async def refused(model: RemoteModel) -> str:
        with pytest.raises(TransportFailed) as caught:
            await once(model)
        return caught.value.code

    server = Sockets([b"HTTP/1.1 500 Oh\r\nContent-Length: 999999999\r\n\r\n" + b"x" * 100_000])
    assert with_model(refused, server) == "http_500"


@pytest.mark.parametrize("encoding", ["", "identity", " Identity ", "identity, identity", ","])
def test_an_answer_that_is_not_compressed_is_taken_up_to_8_mib(encoding: str) -> None:
    body = json.dumps(envelope("said")).encode().ljust(8 * 2**20)
    for more, said in ((b"", "said"), (b" ", "longer than 8 MiB")):
        raw = Raw(body=body + more, headers={"Content-Encoding": encoding})
        answer = tried(FakeServer(lambda _body, raw=raw: raw), CALL, SAMPLING)  # type: ignore[misc] # bound per loop
        assert said in (answer.text if isinstance(answer, Completion) else str(answer))


@pytest.mark.parametrize("encoding", ["gzip", "br", "Deflate", "identity, gzip"])
def test_a_compressed_answer_is_refused_and_an_error_told_by_its_status(encoding: str) -> None:
    for status, code in ((200, "bad_envelope"), (401, "bad_key")):
        raw = Raw(status, b"x" * 100_000, {"Content-Encoding": encoding})
        fault = tried(FakeServer(lambda _body, raw=raw: raw), CALL, SAMPLING)  # type: ignore[misc] # bound per loop
        assert isinstance(fault, TransportFailed | ProviderRejected)
        assert (fault.code, "compressed" in str(fault), "xxx" in str(fault)) == (code, status == 200, False)


def test_headers_of_many_kilobytes_are_read() -> None:
    body = json.dumps(envelope("said")).encode()
    head = f"HTTP/1.1 200 OK\r\nPolicy: {'p' * 30_000}\r\nContent-Length: {len(body)}\r\n\r\n"
    assert with_model(once, Sockets([head.encode() + body])).text == "said"


def test_what_is_no_http_is_a_fault() -> None:
    async def garbled(model: RemoteModel) -> str:
        with pytest.raises(TransportFailed) as caught:
            await once(model)
        assert "canary" not in str(caught.value)
        assert "HTTP" not in str(caught.value)
        return caught.value.code

    assert with_model(garbled, Sockets([b"SSH-2.0-canary\r\n\r\n"])) == "reset"


def test_a_host_that_is_not_known_is_named_with_its_port(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async def lost(model: RemoteModel) -> str:
        monkeypatch.setattr(socket, "getaddrinfo", unknown)
        with pytest.raises(TransportFailed, match=r"at nowhere\.invalid:8080 \(Name or service not known\)") as caught:
            await once(model)
        return caught.value.code

    assert with_model(lost, url="http://nowhere.invalid:8080/v1") == "unreachable"


# -------------------------------------------------------------------------------------------------------- TLS


@pytest.fixture
def secure() -> Sockets:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    return Sockets(tls=context)


def test_the_trust_store_of_the_system_decides(secure: Sockets, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    assert with_model(once, secure, "https://localhost:{port}/v1").text == "said"


def test_a_certificate_that_nobody_vouches_for_is_refused(secure: Sockets, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(model: RemoteModel) -> str:
        why = r"the certificate of localhost:\d+ is not trusted \(self-signed certificate\); .* SSL_CERT_FILE"
        with pytest.raises(TransportFailed, match=why) as caught:
            await once(model)
        assert "is the server running" not in str(caught.value)
        return caught.value.code

    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    assert with_model(refused, secure, "https://localhost:{port}/v1", KEY) == "unreachable"
    assert not any(secure.requests)


def test_a_certificate_of_another_host_is_told_by_its_name(secure: Sockets, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(model: RemoteModel) -> str:
        with pytest.raises(
            TransportFailed, match=r"of 127\.0\.0\.2:\d+ is not trusted \(IP address mismatch"
        ) as caught:
            await once(model)
        return str(caught.value)

    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    secure.host = "127.0.0.2"
    assert "base_url has to name the host as the certificate does" in with_model(
        refused, secure, "https://127.0.0.2:{port}/v1"
    )


def test_a_server_without_tls_is_told_from_one_that_does_not_run() -> None:
    async def main() -> str:
        async def plain(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(plain, "127.0.0.1", 0)
        model = model_at(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
        with pytest.raises(TransportFailed, match="does not speak TLS as it should") as caught:
            await once(model)
        await model.aclose()
        server.close()
        return str(caught.value)

    said = asyncio.run(main())
    assert "base_url may have to begin with http://" in said
    assert "is the server running" not in said


# ------------------------------------------------------------------------------------------------------ proxies


def test_the_proxy_of_the_environment_is_asked_for_other_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = Sockets()

    async def main() -> None:
        async with proxy.serve():
            monkeypatch.setenv("http_proxy", f"http://me:secret@127.0.0.1:{proxy.port}")
            model = model_at("http://model.invalid/v1")
            assert (await once(model)).text == "said"
            await model.aclose()

    asyncio.run(main())
    ((request,),) = proxy.requests
    assert request.startswith(b"POST http://model.invalid/v1/chat/completions HTTP/1.1\r\n")
    assert b"\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n" in request


@pytest.mark.parametrize("scheme", ["https", "HTTPS"])
def test_to_a_secure_host_there_is_a_tunnel_that_alone_is_told_the_proxys_password(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = Sockets([b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"])

    async def main() -> None:
        async with proxy.serve():
            monkeypatch.setenv("https_proxy", f"me:secret@127.0.0.1:{proxy.port}")
            model = model_at(f"{scheme}://model.invalid/v1", KEY)
            with pytest.raises(TransportFailed, match=r"does not lead to model\.invalid \(HTTP 407\)") as caught:
                await once(model)
            assert (caught.value.code, "secret" in str(caught.value)) == ("unreachable", False)
            await model.aclose()

    asyncio.run(main())
    ((request,),) = proxy.requests
    assert request.startswith(b"CONNECT model.invalid:443 HTTP/1.1\r\n")
    assert b"\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n" in request
    assert b"canary" not in request


def test_a_proxy_that_cannot_be_reached_is_not_taken_for_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    async def lost(model: RemoteModel) -> str:
        with pytest.raises(TransportFailed, match="the proxy of the environment") as caught:
            await once(model)
        return str(caught.value)

    with socket.socket() as taken:  # bound, but not listening
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("all_proxy", f"http://me:secret@127.0.0.1:{taken.getsockname()[1]}")
        said = with_model(lost, url="http://model.invalid/v1")
    assert "(Connection refused); is it right, or does NO_PROXY have to name model.invalid?" in said
    assert "secret" not in said


def test_a_proxy_is_not_asked_where_the_environment_excludes_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.2")
    assert with_model(once, Sockets(host="127.0.0.2"), "http://127.0.0.2:{port}/v1").text == "said"


EXCLUDED: dict[str, tuple[str, str, bool]] = {
    "a network": ("http://10.1.2.3/v1", "10.0.0.0/8", True),
    "another network": ("http://11.1.2.3/v1", "10.0.0.0/8", False),
    "a network that names a host": ("http://10.1.2.3/v1", "10.1.2.99/24", True),
    "a network among others": ("http://10.1.2.3/v1", "localhost, 192.168.0.0/16 ,10.0.0.0/8", True),
    "spaces between": ("http://10.1.2.3/v1", "localhost 10.0.0.0/8", True),
    "a network of IPv6": ("http://[fd00::12]:8000/v1", "fd00::/8", True),
    "a network of IPv6 in brackets": ("http://[fd00::12]:8000/v1", "[fd00::]/8", True),
    "another network of IPv6": ("http://[fe80::12]:8000/v1", "fd00::/8", False),
    "IPv4 in IPv6": ("http://[::ffff:10.1.2.3]/v1", "10.0.0.0/8", True),
    "IPv6 spelt otherwise": ("http://[fd00:0:0::12]/v1", "fd00::12", True),
    "IPv6 with a port": ("http://[fd00::12]:8000/v1", "[fd00::12]:8000", True),
    "IPv6 with another port": ("http://[fd00::12]:8000/v1", "[fd00::12]:80", False),
    "a port": ("http://10.1.2.3:8000/v1", "10.1.2.3:8000", True),
    "another port": ("http://10.1.2.3:8000/v1", "10.1.2.3:80", False),
    "the usual port": ("http://lab.example/v1", "lab.example:80", True),
    "the usual secure port": ("https://lab.example/v1", "lab.example:443", True),
    "any port": ("http://lab.example:8000/v1", "lab.example", True),
    "a name below": ("http://gpu.lab.example/v1", "lab.example", True),
    "a name below, with a dot": ("http://gpu.lab.example/v1", ".lab.example", True),
    "a name with a dot": ("http://lab.example/v1", ".lab.example", True),
    "a name below, with a star": ("http://gpu.lab.example/v1", "*.lab.example", True),
    "a name that only ends so": ("http://mylab.example/v1", "lab.example", False),
    "a name in capitals": ("http://LAB.example/v1", "Lab.EXAMPLE", True),
    "a name with a dot at its end": ("http://lab.example./v1", "lab.example", True),
    "all": ("http://10.1.2.3/v1", "*", True),
    "all, among others": ("http://10.1.2.3/v1", "localhost,*", True),
    "addresses with a star": ("http://192.168.7.9/v1", "192.168.*", True),
    "other addresses with a star": ("http://192.169.7.9/v1", "192.168.*", False),
    "no network": ("http://10.1.2.3/v1", "10.0.0.0/99", False),
    "nothing": ("http://10.1.2.3/v1", "", False),
    "commas": ("http://10.1.2.3/v1", ",,", False),
}


@pytest.mark.parametrize("name", ["no_proxy", "NO_PROXY"])
@pytest.mark.parametrize(("url", "entries", "direct"), EXCLUDED.values(), ids=EXCLUDED)
def test_no_proxy_excludes_networks_addresses_names_and_ports(
    url: str, entries: str, direct: bool, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://me:canary@127.0.0.1:9")
    monkeypatch.setenv("https_proxy", "http://me:canary@127.0.0.1:9")
    monkeypatch.setenv(name, entries)
    assert _proxy_for(url) == ((None, {}) if direct else ("http://127.0.0.1:9", ANY))


BY_PROXY: dict[str, tuple[bytes, str]] = {
    "a page": (b"HTTP/1.1 502 Bad\r\nContent-Length: 7\r\n\r\n<html>!", r"\(HTTP 502 Bad Gateway\); .*NO_PROXY"),
    "no body": (b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", r"\(HTTP 503 Service Unavailable\)"),
    "forbidden": (b"HTTP/1.1 403 No\r\nContent-Length: 7\r\n\r\n<html>!", r"\(HTTP 403 Forbidden\)"),
    "a password": (
        b'HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm="x"\r\nContent-Length: 0\r\n\r\n',
        r"\(HTTP 407 Proxy Authentication Required\); it wants a user and a password",
    ),
    "Squid": (b"HTTP/1.1 404 No\r\nX-Squid-Error: ERR 0\r\nContent-Length: 0\r\n\r\n", r"\(HTTP 404 Not Found\)"),
    "RFC 9209": (b"HTTP/1.1 504 No\r\nProxy-Status: p; error=x\r\nContent-Length: 2\r\n\r\n{}", r"\(HTTP 504 "),
}


@pytest.mark.parametrize(("answer", "words"), BY_PROXY.values(), ids=BY_PROXY)
def test_a_proxy_that_answers_itself_is_named_without_its_password(
    answer: bytes, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with Sockets([answer]).serve() as proxy:
            monkeypatch.setenv("http_proxy", f"http://me:secret@127.0.0.1:{proxy.port}")
            model = model_at("http://model.invalid/v1", KEY)
            place = rf"the proxy of the environment, http://127\.0\.0\.1:{proxy.port}, does not lead to model\.invalid "
            with pytest.raises(TransportFailed, match=place + words) as caught:
                await once(model)
            assert (caught.value.code, "secret" in str(caught.value)) == ("unreachable", False)
            await model.aclose()

    asyncio.run(main())


@pytest.mark.parametrize("status", [403, 404, 502])
def test_an_error_of_the_host_behind_a_proxy_is_the_hosts(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with Sockets([Raw(status, {"error": {"message": "of the host"}}).encoded()]).serve() as proxy:
            monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
            model = model_at("http://model.invalid/v1")
            with pytest.raises(ModelError, match="it says: of the host") as caught:
                await once(model)
            assert "proxy" not in str(caught.value)
            await model.aclose()

    asyncio.run(main())


@pytest.mark.parametrize(
    "proxy",
    [
        *("socks5://me:canary@127.0.0.1:1080", "http://[::1", "http://canary..b:80", "http://me:canary@[::1]x:80"),
        *("http://canary:port", "canary:99999", "http://can ary:80", f"http://{'canary' * 11}:80", "://canary"),
    ],
)
def test_a_proxy_that_speaks_no_http_is_said_at_once_and_not_repeated(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("all_proxy", proxy)
    with pytest.raises(ScenarioError, match="not an HTTP proxy") as caught:
        Transport("https://model.invalid/v1")
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(("file", "why"), [("/nonexistent", "No such file"), (__file__, "no certificate")])
def test_a_trust_store_that_cannot_be_read_is_a_mistake_of_the_settings(
    file: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", file)
    with pytest.raises(ScenarioError, match=rf"certificates to trust cannot be read.*{why}.*SSL_CERT_FILE"):
        Transport("https://model.invalid/v1")


# ----------------------------------------------------------------------------------------------- what is sent


def test_the_body_is_the_one_that_the_sdk_sends() -> None:
    """The protocol is the SDK's: the same parameters give the same bytes."""

    async def both(model: RemoteModel) -> None:
        await once(model)
        async with openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key=KEY) as client:
            completion = await client.chat.completions.create(
                model="m",
                messages=[
                    {"role": "system", "content": CALL.messages[0][1]},
                    {"role": "user", "content": CALL.messages[1][1]},
                ],
                max_tokens=64,
            )
        assert completion.choices[0].message.content == "said"

    server = Sockets()
    with_model(both, server, key=KEY)
    ours, theirs = (requests[0].partition(b"\r\n\r\n") for requests in server.requests)
    assert ours[2] == theirs[2]
    assert ours[0].split(b"\r\n")[0] == theirs[0].split(b"\r\n")[0]
    assert all(f"\r\nauthorization: bearer {KEY}".encode() in head.lower() for head in (ours[0], theirs[0]))


def test_every_header_is_meant() -> None:
    server = Sockets()
    with_model(once, server, key=KEY)
    head = server.requests[0][0].partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in head)}
    assert headers.pop("content-length").isdigit()
    assert headers == {
        "host": f"127.0.0.1:{server.port}",
        "user-agent": f"agentsim/{__version__}",
        "accept": "application/json",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "authorization": f"Bearer {KEY}",
    }


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("OPENAI_ORG_ID", "canary\nX-A: b"),
        ("OPENAI_PROJECT_ID", "canary\x00"),
        ("OPENAI_CUSTOM_HEADERS", "X-A: canary\rX-B: c"),
        ("OPENAI_CUSTOM_HEADERS", "X A: canary"),
        ("OPENAI_CUSTOM_HEADERS", ": canary"),
    ],
)
def test_what_no_header_can_hold_is_named_by_its_variable(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", {**os.environ, variable: value})  # the real one accepts no zero byte
    with pytest.raises(ScenarioError, match=variable) as caught:
        Client("openai", "https://api.openai.com/v1", KEY, {})
    assert "canary" not in str(caught.value)


def test_an_address_that_only_looked_like_one_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: object, **__: object) -> None:
        raise UnicodeError("label empty or too long")

    async def failed(model: RemoteModel) -> str:
        monkeypatch.setattr(socket, "getaddrinfo", lost)
        with pytest.raises(TransportFailed) as caught:
            await once(model)
        return caught.value.code

    assert with_model(failed, url="http://nowhere.invalid:8080/v1") == "reset"


def test_nothing_is_taken_from_netrc_and_no_cookie_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password canary\n", encoding="utf-8")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))

    async def twice(model: RemoteModel) -> None:
        await once(model)
        await once(model)

    server = Sockets([ANSWER.replace(b"\r\n", b"\r\nSet-Cookie: canary=1\r\n", 1)])
    with_model(twice, server)
    assert sent(server) == [2]
    for request in server.requests[0]:
        assert b"canary" not in request.lower()
        assert b"authorization" not in request.lower()


def headers_sent_to(base_url: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the headers of a request to an address, without sending it."""
    caught: list[dict[str, str]] = []

    async def record(transport: Transport, request: httpx2.Request) -> httpx2.Response:
        caught.append(transport._sent(request.headers))
        return httpx2.Response(200, content=b"{}")

    async def main() -> None:
        client = Client("openai", base_url, KEY, {})
        await client.post("/chat/completions", {})
        await client.aclose()

    with monkeypatch.context() as patch:
        patch.setattr(Transport, "handle_async_request", record)
        asyncio.run(main())
    return caught[0]


def test_at_openai_the_sdk_says_what_the_environment_means(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "my-org")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "my-project")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Mine: yes\nauthorization: Bearer canary\naccept-encoding: gzip")
    headers = headers_sent_to(BUILT_IN["openai"].base_url, monkeypatch)
    theirs = ("OpenAI-Organization", "OpenAI-Project", "X-Mine")
    assert [headers[name.lower()] for name in theirs] == ["my-org", "my-project", "yes"]
    assert (headers["authorization"], headers["accept-encoding"]) == (f"Bearer {KEY}", "identity")
    elsewhere = headers_sent_to("https://api.openai.com.evil.example/v1", monkeypatch)
    assert set(elsewhere) == {"accept", "accept-encoding", "authorization", "content-type", "user-agent"}
    assert "canary" not in repr({**elsewhere, "authorization": ""})
