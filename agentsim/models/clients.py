"""The official clients at one address: the client of each service, with its key and headers, and its requests.

`openai` serves chat completions and Responses, at OpenAI and at Azure. `anthropic` (an extra) serves messages, at
Anthropic, Bedrock and Vertex. All send through `transport`. Their own retries, timeouts, logs and traces are off:
agentsim has its own. Import this module only before the first request: the clients take half a second to import.
"""

from __future__ import annotations

import importlib
import logging
import os
import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import httpx2
import openai

from agentsim import __version__
from agentsim.errors import ScenarioError
from agentsim.models.address import is_azure_v1
from agentsim.models.transport import Transport

Service: TypeAlias = Literal["openai", "azure", "anthropic", "bedrock", "vertex"]
"""A service with an official client, which has its own addresses and headers."""

_OWN_HOSTS = {"openai": "api.openai.com", "anthropic": "api.anthropic.com"}
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*")
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
