"""The routes of every official client's requests on loopback: proxies, excluded hosts, tunnels, private authorities."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from typing import Any

import pytest

from agentsim.models.clients import Answer, Client
from agentsim.models.faults import NoAnswer
from agentsim.models.profiles import Service
from tests.fakes.server import Raw
from tests.models.test_clients import BODY, CASES, CUSTOM, KEY_HEADERS, OPTIONS
from tests.models.test_transport import ANSWER, CERTIFICATE, PROXIES, Sockets

every_client = pytest.mark.parametrize(("service", "path"), CASES)


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXIES, "ssl_cert_file", "ssl_cert_dir"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Resolve every name to this machine."""
    found = socket.getaddrinfo

    def here(host: Any, *args: Any, **more: Any) -> Any:
        return found("127.0.0.1", *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", here)


async def asked(service: Service, path: str, base_url: str, key: str | None = "lab-key") -> Answer:
    client = Client(service, base_url, key, OPTIONS)
    try:
        return await client.post(path, BODY)
    finally:
        await client.aclose()


def head(request: bytes) -> dict[str, str]:
    """Return the headers of a request by lower-case name, with its first line under ''."""
    first, *lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    return {"": first} | {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}


@every_client
def test_the_proxy_of_the_environment_is_asked_for_other_hosts(
    service: Service, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> dict[str, str]:
        async with Sockets().serve() as proxy:
            monkeypatch.setenv("HTTP_PROXY", f"http://me:secret@127.0.0.1:{proxy.port}")
            assert (await asked(service, path, "http://model.invalid/v1")).status == 200
            ((request,),) = proxy.requests
            return head(request)

    sent = asyncio.run(main())
    assert sent[""].startswith("POST http://model.invalid/v1/")
    assert sent["proxy-authorization"] == "Basic bWU6c2VjcmV0"
    assert {name: sent[name] for name in KEY_HEADERS[service]} == KEY_HEADERS[service]


@every_client
@pytest.mark.parametrize("excluded", ["model.invalid", ".invalid", "*", "other.example, model.invalid"])
@pytest.mark.usefixtures("at_home")
def test_a_host_that_no_proxy_names_is_reached_directly(
    service: Service, path: str, excluded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> str:
        async with Sockets().serve() as server, Sockets().serve() as proxy:
            monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
            monkeypatch.setenv("NO_PROXY", excluded)
            assert (await asked(service, path, f"http://model.invalid:{server.port}/v1")).status == 200
            assert proxy.requests == []
            ((request,),) = server.requests
            return head(request)[""]

    assert re.match(r"POST /v1/\S+ HTTP/1\.1$", asyncio.run(main()))


@every_client
def test_our_own_machine_is_never_behind_a_proxy(service: Service, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with Sockets().serve() as server, Sockets().serve() as proxy:
            for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
                monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
            for host in ("127.0.0.1", "localhost"):
                assert (await asked(service, path, f"http://{host}:{server.port}/v1")).status == 200
            assert (len(server.requests), proxy.requests) == (2, [])

    asyncio.run(main())


@every_client
def test_to_a_secure_host_the_proxy_sees_a_tunnel_and_no_key(
    service: Service, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> bytes:
        async with Sockets([b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"]).serve() as proxy:
            monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret@127.0.0.1:{proxy.port}")
            with pytest.raises(NoAnswer) as caught:
                await asked(service, path, "https://model.invalid/v1")
            assert (caught.value.stage, "secret" in str(caught.value)) == ("proxy", False)
            ((request,),) = proxy.requests
            return bytes(request)

    request = asyncio.run(main())
    assert head(request)[""] == "CONNECT model.invalid:443 HTTP/1.1"
    assert head(request)["proxy-authorization"] == "Basic bWU6c2VjcmV0"
    assert b"lab-key" not in request


@every_client
def test_a_private_authority_is_trusted_where_the_environment_names_it_and_nowhere_else(
    service: Service, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)

    async def main() -> None:
        async with Sockets(tls=context).serve() as server:
            url = f"https://localhost:{server.port}/v1"
            with pytest.raises(NoAnswer):
                await asked(service, path, url)
            assert not any(server.requests)
            monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
            assert (await asked(service, path, url)).status == 200
            assert len([request for requests in server.requests for request in requests]) == 1

    asyncio.run(main())


@every_client
def test_no_redirect_is_followed_no_cookie_kept_and_nothing_sent_twice(service: Service, path: str) -> None:
    location = {"Location": "http://127.0.0.1:1/elsewhere", "Set-Cookie": "canary=1"}

    async def main() -> list[bytes]:
        answers: list[bytes | None] = [Raw(307, b"", location).encoded(), Raw(503, b"").encoded(), ANSWER]
        async with Sockets(answers).serve() as server:
            client = Client(service, f"http://127.0.0.1:{server.port}/v1", "lab-key", OPTIONS)
            statuses = [(await client.post(path, BODY)).status for _ in range(3)]
            await client.aclose()
            assert statuses == [307, 503, 200]
            return [request for requests in server.requests for request in requests]

    requests = asyncio.run(main())
    assert len(requests) == 3
    assert not any(b"canary" in request for request in requests)


OWN = {"openai": "http://api.openai.com/v1", "anthropic": "http://api.anthropic.com"}
FOREIGN: list[tuple[Service, str]] = [
    *(("openai", url) for url in ("http://api.openai.com.invalid/v1", "http://xapi.openai.com/v1", OWN["anthropic"])),
    *(("anthropic", url) for url in ("http://api.anthropic.com.invalid", "http://gateway.invalid", OWN["openai"])),
    ("azure", "http://name.openai.azure.com/openai"),
    ("azure", "http://name.openai.azure.com/openai/v1"),
    ("bedrock", "http://bedrock-runtime.us-east-1.amazonaws.com"),
    ("vertex", "http://aiplatform.googleapis.com/v1"),
]


@pytest.fixture
def _accounts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", CUSTOM)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", CUSTOM)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-canary")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-canary")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "AZURE_OPENAI_API_KEY"):
        monkeypatch.setenv(name, "canary")


def by_proxy(service: Service, url: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the headers of a request to this address that a proxy on loopback receives."""
    path = dict(reversed(CASES))[service]

    async def main() -> dict[str, str]:
        async with Sockets().serve() as proxy:
            monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
            await asked(service, path, url)
            ((request,),) = proxy.requests
            return head(request)

    return asyncio.run(main())


@pytest.mark.usefixtures("_accounts")
@pytest.mark.parametrize("service", OWN)
def test_custom_headers_reach_a_service_s_own_host_and_change_neither_key_nor_form(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = by_proxy(service, OWN[service], monkeypatch)
    assert sent["x-canary"] == "canary"
    if service == "openai":
        assert (sent["openai-organization"], sent["openai-project"]) == ("org-canary", "project-canary")
    assert sent["authorization"] == "Bearer lab-key"
    assert not {"api-key", "x-api-key"} & sent.keys()
    assert (sent["accept"], sent["accept-encoding"]) == ("application/json", "identity")
    assert sent["content-type"] == "application/json"


@pytest.mark.usefixtures("_accounts")
@pytest.mark.parametrize(("service", "url"), FOREIGN)
def test_custom_headers_reach_no_other_host(service: Service, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = by_proxy(service, url, monkeypatch)
    assert "canary" not in str(sent)
    assert not {"openai-organization", "openai-project", "x-api-key"} & sent.keys()
    assert {name: sent[name] for name in KEY_HEADERS[service]} == KEY_HEADERS[service]


@pytest.mark.parametrize(
    ("url", "options", "wanted"),
    [
        ("http://127.0.0.1:{port}/openai", {"api_version": "v"}, "/openai/responses?api-version=v"),
        ("http://127.0.0.1:{port}/openai/v1", {}, "/openai/v1/responses"),
        ("http://127.0.0.1:{port}/openai/v1/", {"api_version": "preview"}, "/openai/v1/responses?api-version=preview"),
    ],
)
def test_the_newest_api_of_azure_has_openai_s_paths(url: str, options: dict[str, str], wanted: str) -> None:
    async def main() -> list[dict[str, str]]:
        async with Sockets().serve() as server:
            client = Client("azure", url.format(port=server.port), "lab-key", options)
            for path in ("/responses", "/chat/completions"):
                assert (await client.post(path, BODY)).status == 200
            await client.aclose()
            return [head(request) for requests in server.requests for request in requests]

    responses, chat = asyncio.run(main())
    assert responses[""] == f"POST {wanted} HTTP/1.1"
    assert ("/deployments/m/" in chat[""]) == ("/v1" not in url)
    assert responses["api-key"] == chat["api-key"] == "lab-key"
    assert "authorization" not in responses
