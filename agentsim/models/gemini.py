"""Gemini: one model behind Google's own `generateContent`, by the library of the extra `gemini`.

Its answers are put into the shape of OpenAI's, so that `envelope` and `faults` judge both; turns, deadlines and
structured modes are those of `remote`. Without the extra, Gemini's OpenAI-compatible endpoint serves (`profiles`).
"""

from __future__ import annotations

import importlib.util
import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentsim.errors import ProviderRejected, ScenarioError
from agentsim.models.address import is_own_machine
from agentsim.models.base import Call, Completion, Sampling
from agentsim.models.body import called_function, portable
from agentsim.models.endpoint import Endpoint
from agentsim.models.envelope import completion_of, decoded
from agentsim.models.intake import ASKED_ENCODING
from agentsim.models.profiles import Profile
from agentsim.models.remote import RemoteModel

if TYPE_CHECKING:
    import httpx2
    from google import genai

__all__ = ["Gemini", "is_spoken", "opened"]

HELP = "it needs the extra `gemini`: `uv sync --extra gemini` or `pip install 'agentsim[gemini]'`"

_FINISHED = {"STOP": "stop", "MAX_TOKENS": "length"}
_FILTERED = frozenset(("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"))
# Fields of the library's `GenerateContentConfig` that a player's `client_kwargs` may not set.
_OURS = frozenset(
    (
        *("http_options", "should_return_http_response", "system_instruction", "max_output_tokens", "candidate_count"),
        *("automatic_function_calling", "automatic_continuation"),
    )
)


def is_spoken(profile: Profile) -> bool:
    """Whether this provider is to be spoken to in Gemini's own words."""
    return profile.api == "gemini" or (profile.api == "auto" and _installed())


def _installed() -> bool:
    try:
        return importlib.util.find_spec("google.genai") is not None
    except ModuleNotFoundError:  # not even `google`
        return False


def opened(name: str, profile: Profile, endpoint: Endpoint) -> Gemini:
    """The model, its library loaded (1.3 s); `ScenarioError` where the extra is missing."""
    if not _installed():
        raise ScenarioError(f"{name}: {HELP}", valid='api = "openai"')
    import google.genai  # noqa: F401 - not within a deadline

    return Gemini(name, profile, endpoint)


@dataclass(frozen=True)
class _Request:
    contents: list[Any]
    config: Any
    function: str | None


class Gemini(RemoteModel):
    """A `Model` over `models/<id>:generateContent`.

    A player's `client_kwargs` are fields of the library's `GenerateContentConfig`, the provider's `extra_body` is
    merged into the body.
    """

    def __init__(self, name: str, profile: Profile, endpoint: Endpoint) -> None:
        super().__init__(name, profile, endpoint)
        self._client: genai.Client | None = None
        self._connections: httpx2.AsyncClient | None = None

    def _prepared(self, profile: Profile, call: Call, sampling: Sampling) -> _Request:
        from google.genai import types
        from pydantic import ValidationError

        if taken := sorted(_OURS & set(sampling.extra)):
            raise ProviderRejected(f"{self._name}: `{taken[0]}` cannot be set there", code="bad_request")
        function = called_function(profile, call)
        config: dict[str, Any] = {
            "system_instruction": "\n".join(text for role, text in call.messages if role == "system") or None,
            "max_output_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "automatic_function_calling": {"disable": True},
            "automatic_continuation": False,
            "should_return_http_response": True,  # what has to be judged is the answer, not what was made of it
            **({} if call.schema is None else _structured(profile, call.schema, function)),
            **({"http_options": {"extra_body": dict(profile.extra_body)}} if profile.extra_body else {}),
            **sampling.extra,
        }
        try:
            built = types.GenerateContentConfig.model_validate(config)
        except ValidationError as error:
            wrong = ", ".join(sorted({str(each["loc"][0]) for each in error.errors(include_input=False)}))
            raise ProviderRejected(
                f"{self._name}: Gemini's own API takes no such client_kwargs: {wrong}; name them as its library does, "
                f'or say api = "openai" in [providers.{profile.provider}]',
                code="bad_request",
            ) from None
        roles = {"assistant": "model"}
        contents = [
            {"role": roles.get(role, "user"), "parts": [{"text": text}]}
            for role, text in call.messages
            if role != "system"
        ]
        self._open()
        return _Request(contents, built, function)

    def _open(self) -> genai.Client:
        if self._client is None:
            self._connections = _connections(self._profile.base_url)
            self._client = _client(self._profile.base_url, self._endpoint.key, self._connections)
        return self._client

    async def _exchange(self, request: _Request) -> Completion:
        import httpx2
        from google.genai import errors

        try:
            answer = await self._open().aio.models.generate_content(
                model=self._model, contents=request.contents, config=request.config
            )
        except errors.APIError as error:
            response = error.response
            headers, content = ({}, json.dumps(error.details).encode())
            if isinstance(response, httpx2.Response):
                headers, content = dict(response.headers), response.content
            raise self._faults.status(error.code, headers, content) from None
        except httpx2.HTTPError as error:
            raise self._faults.connection(error) from None
        except (ValueError, TypeError, AttributeError, RecursionError):  # what the library makes of a body that is none
            raise self._faults.bad_envelope("not what Gemini answers") from None
        whole = answer.sdk_http_response
        body = (whole.body if whole is not None else None) or ""
        headers = (whole.headers if whole is not None else None) or {}
        found = decoded(body.encode(), str(headers.get("content-type", "")), self._faults)
        return completion_of(_in_openai_words(found), self._faults, request.function)

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            client.close()
        if self._connections is not None:  # the library leaves to us what is ours
            await self._connections.aclose()
        await super().aclose()


def _structured(profile: Profile, schema: Mapping[str, Any], function: str | None) -> dict[str, Any]:
    """The part of a configuration that holds the reply to a schema.

    `response_json_schema`, not `response_schema`: it keeps the order of the fields, and with it the reason before the
    choice, and its enums may hold numbers.
    """
    sent = portable(schema, profile.strip_schema_keywords)
    if function is not None:
        declared = {"name": function, "description": "Gives your answer.", "parameters_json_schema": sent}
        only = {"mode": "ANY", "allowed_function_names": [function]}
        return {
            "tools": [{"function_declarations": [declared]}],
            "tool_config": {"function_calling_config": only},
        }
    if profile.structured == "json_schema":
        return {"response_mime_type": "application/json", "response_json_schema": sent}
    return {"response_mime_type": "application/json"} if profile.structured == "json_object" else {}


def _connections(base_url: str) -> httpx2.AsyncClient:
    import httpx2

    from agentsim.models.limited import limited

    return httpx2.AsyncClient(
        follow_redirects=False,
        timeout=None,  # the deadline is asyncio's, and holds for the whole answer
        verify=not base_url.startswith("http://"),
        trust_env=not is_own_machine(base_url),
        headers={"Accept-Encoding": ASKED_ENCODING},
        event_hooks={"response": [limited]},
    )


def _client(base_url: str, key: str | None, connections: httpx2.AsyncClient) -> genai.Client:
    """The library's client, which by itself tries nothing again."""
    import httpx2
    from google import genai

    # It would say that it takes a key from the environment, which it does not: the key is given.
    logging.getLogger("google_genai").addHandler(logging.NullHandler())
    address = base_url.removesuffix("/openai")
    place, _, last = address.rpartition("/")
    versioned = re.fullmatch(r"v\d+[a-z]*\d*", last) is not None
    return genai.Client(
        vertexai=False,  # whatever the environment says
        api_key=key or "none",  # it takes GOOGLE_API_KEY from the environment if it gets nothing
        http_options=genai.types.HttpOptions(
            base_url=place if versioned else address,
            api_version=last if versioned else "v1beta",
            httpx_async_client=connections,
            # Nothing is called synchronously; a client of its own would read the trust store for 0.3 s.
            httpx_client=httpx2.Client(transport=httpx2.BaseTransport(), verify=False),  # it cannot send
        ),
    )


def _in_openai_words(answer: Any) -> Any:
    """The answer as a chat completion; what cannot be one is handed on as it is, to be judged as that."""
    if not isinstance(answer, Mapping) or answer.get("error"):
        return answer
    candidates = answer.get("candidates")
    candidate = candidates[0] if isinstance(candidates, list) and candidates else None
    blocked = _inner(answer, "promptFeedback").get("blockReason")
    if not isinstance(candidate, Mapping) and not blocked:
        return {"choices": [], "usage": _usage(_inner(answer, "usageMetadata"))}
    candidate = candidate if isinstance(candidate, Mapping) else {}
    reason = candidate.get("finishReason")
    reason = reason if isinstance(reason, str) else None
    word = None if reason is None else _FINISHED.get(reason, reason.lower())
    parts = _inner(candidate, "content").get("parts")
    parts = [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
    said = [part for part in parts if isinstance(part.get("text"), str)]
    message = {
        "content": "".join(part["text"] for part in said if not part.get("thought")),
        "reasoning": "".join(part["text"] for part in said if part.get("thought")) or None,
        "tool_calls": [
            {"function": {"name": call.get("name"), "arguments": call.get("args")}}
            for call in (_inner(part, "functionCall") for part in parts)
            if call
        ],
    }
    filtered = blocked or reason in _FILTERED
    choice = {"finish_reason": "content_filter" if filtered else word, "message": message}
    return {"choices": [choice], "model": answer.get("modelVersion"), "usage": _usage(_inner(answer, "usageMetadata"))}


def _inner(mapping: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = mapping.get(key)
    return value if isinstance(value, Mapping) else {}


def _usage(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Thinking is paid for as a part of the completion, in OpenAI's way of counting; here it stands beside it."""
    answer, thinking = counts.get("candidatesTokenCount"), counts.get("thoughtsTokenCount")
    whole = [count for count in (answer, thinking) if isinstance(count, int)]
    return {
        "prompt_tokens": counts.get("promptTokenCount"),
        "prompt_tokens_details": {"cached_tokens": counts.get("cachedContentTokenCount")},
        "completion_tokens": sum(whole) if whole else None,
        "completion_tokens_details": {"reasoning_tokens": thinking},
    }
