"""The official clients: the headers they send, their targets, and no use of other accounts in the environment."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import ScenarioError
from agentsim.models.clients import Client
from agentsim.models.keys import Variables, key_for
from agentsim.models.profiles import ProviderSettings, Service, WireName, resolve
from agentsim.models.remote import Endpoints
from tests.fakes.server import FakeServer, Received

VARIABLES = (
    *("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET"),
    *("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION"),
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_WEBHOOK_SIGNING_KEY", "ANTHROPIC_PROFILE"),
    *("ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_FEDERATION_RULE_ID", "ANTHROPIC_ORGANIZATION_ID"),
    *("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION"),
    *("ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"),
)
CUSTOM = "\n".join(
    (
        "X-Canary: canary",
        "authorization: Bearer canary",
        "API-Key: canary",
        "X-Api-Key: canary",
        "accept: canary/canary",
        "content-type: canary/canary",
        "User-Agent: canary",
        "anthropic-version: canary",
        "anthropic-beta: canary",
        "anthropic-user-profile-id: canary",
    )
)
ALWAYS = {
    *("host", "accept", "accept-encoding", "content-type", "content-length", "user-agent"),
}
PATHS: dict[Service, tuple[str, ...]] = {
    "openai": ("/chat/completions", "/responses"),
    "azure": ("/chat/completions", "/responses"),
    "anthropic": ("/v1/messages",),
    "bedrock": ("/v1/messages",),
    "vertex": ("/v1/messages",),
}
OPTIONS = {"api_version": "2024-10-21", "region": "eu", "project": "p"}
KEY_HEADERS: dict[Service, dict[str, str]] = {
    "openai": {"authorization": "Bearer lab-key"},
    "azure": {"api-key": "lab-key"},
    "anthropic": {"authorization": "Bearer lab-key"},
    "bedrock": {"authorization": "Bearer lab-key"},
    "vertex": {"authorization": "Bearer lab-key"},
}
BODY: dict[str, Any] = {"model": "m", "messages": [], "input": [], "max_tokens": 1}
CASES = [(service, path) for service, paths in PATHS.items() for path in paths]


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Set variables of other accounts, and a home folder with a profile of Anthropic's."""
    for name in VARIABLES:
        monkeypatch.setenv(name, f"http://canary-{name.lower().replace('_', '-')}.invalid")
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, CUSTOM)
    folder = tmp_path / "anthropic"
    (folder / "configs").mkdir(parents=True)
    (folder / "configs" / "default.json").write_text('{"api_key": "canary"}', encoding="utf-8")
    (folder / "active_config").write_text("default", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(folder))
    return folder


def sent(service: Service, path: str, key: str | None) -> Received:
    """Make one call and return its only request."""

    async def main() -> Received:
        async with FakeServer() as server:
            client = Client(service, server.url(), key, OPTIONS)
            try:
                assert (await client.post(path, BODY)).status == 200
            finally:
                await client.aclose()
            (received,) = server.received
            return received

    return asyncio.run(main())


@pytest.mark.parametrize("key", ["lab-key", None])
@pytest.mark.parametrize(("service", "path"), CASES)
def test_what_leaves_is_an_allowlist_with_the_key_that_was_given_and_no_other(
    service: Service, path: str, key: str | None, crowded: Path
) -> None:
    received = sent(service, path, key)
    keys = KEY_HEADERS[service] if key else {}
    version = {"anthropic-version": "2023-06-01"} if service == "anthropic" else {}
    assert set(received.headers) == ALWAYS | keys.keys() | version.keys()
    assert {name: received.headers[name] for name in keys | version} == keys | version
    assert (received.headers["accept"], received.headers["accept-encoding"]) == ("application/json", "identity")
    assert received.headers["user-agent"].startswith("agentsim/")
    assert "canary" not in repr(received).lower()
    assert crowded.is_dir()


@pytest.mark.parametrize("service", PATHS)
def test_no_file_of_an_account_is_read(service: Service, crowded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    reading = Path.open

    def watched(path: Path, *args: Any, **more: Any) -> Any:
        opened.append(str(path))
        return reading(path, *args, **more)

    monkeypatch.setattr(Path, "open", watched)
    for key in ("lab-key", None):
        sent(service, PATHS[service][0], key)
    assert not [path for path in opened if str(crowded) in path]


@pytest.mark.parametrize(("service", "path"), CASES)
def test_the_clients_log_nothing(
    service: Service, path: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_LOG", "debug")
    monkeypatch.setenv("ANTHROPIC_LOG", "debug")
    records: list[logging.LogRecord] = []
    handler = logging.Handler(logging.DEBUG)
    monkeypatch.setattr(handler, "emit", records.append)
    logging.getLogger().addHandler(handler)
    try:
        sent(service, path, "lab-key")
    finally:
        logging.getLogger().removeHandler(handler)
    assert not [record for record in records if record.name.partition(".")[0] in {"openai", "anthropic", "httpx2"}]
    assert "".join(capfd.readouterr()) == ""


@pytest.mark.parametrize(
    ("service", "path", "wanted"),
    [
        ("azure", "/chat/completions", "/ok/v1/deployments/m/chat/completions?api-version=2024-10-21"),
        ("azure", "/responses", "/ok/v1/responses?api-version=2024-10-21"),
        ("anthropic", "/v1/messages", "/ok/v1/messages"),
        ("bedrock", "/v1/messages", "/ok/v1/model/m/invoke"),
        ("vertex", "/v1/messages", "/ok/v1/projects/p/locations/eu/publishers/anthropic/models/m:rawPredict"),
    ],
)
def test_the_paths_are_the_services_own(service: Service, path: str, wanted: str) -> None:
    assert sent(service, path, "lab-key").path == wanted


@pytest.mark.parametrize("wire", ["chat", "responses", "messages"])
def test_without_api_key_env_no_key_is_found(wire: WireName) -> None:
    profile = resolve("lab", {"lab": ProviderSettings(base_url="http://127.0.0.1:1/v1", wire=wire)}, {})
    assert key_for(profile, dict.fromkeys(VARIABLES, "canary")) is None


@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"])
def test_a_service_s_key_is_not_sent_to_a_lab_that_asks_for_it(variable: str) -> None:
    table = ProviderSettings(base_url="http://127.0.0.1:1/v1", api_key_env=variable, wire="messages")
    with pytest.raises(ScenarioError, match="--allow-key"):
        key_for(resolve("lab", {"lab": table}, {}), Variables({variable: "canary"}))


def test_two_clients_at_one_address_are_two_endpoints_that_share_their_limits() -> None:
    async def main() -> None:
        endpoints = Endpoints()
        wires: dict[str, WireName] = {"a": "chat", "b": "responses", "c": "messages"}
        tables = {name: ProviderSettings(base_url="http://127.0.0.1:1/v1", wire=wire) for name, wire in wires.items()}
        chat, responses, messages = (endpoints.at(resolve(name, tables, {}), None) for name in tables)
        assert chat is responses
        assert chat is not messages
        assert chat.limiter is messages.limiter
        await endpoints.aclose()

    asyncio.run(main())
