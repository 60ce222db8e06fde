"""Gemini: one model behind Google's own `generateContent`, whose requests the library of the extra `gemini` words.

They travel as those to every provider do (`transport`). Answers are put into the shape of OpenAI's, so that
`chat_completions` and `faults` judge both. Turns, deadlines and structured modes are those of `remote`. Without the
extra, Gemini's OpenAI-compatible endpoint serves (`profiles`).
"""

from __future__ import annotations

import importlib.util
import json
import logging
import re
import ssl
import warnings
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from agentsim import __version__
from agentsim.engine.prompt import cleaned
from agentsim.errors import ProviderRejected, ScenarioError, installed_by
from agentsim.models.base import Call, Sampling
from agentsim.models.chat_completions import called_function, portable
from agentsim.models.keys import JSON_HEADERS
from agentsim.models.profiles import Profile
from agentsim.models.redaction import redact
from agentsim.models.remote import Endpoint, RemoteModel, Request

if TYPE_CHECKING:
    import httpx2
    from google import genai

    from agentsim.models.transport import Transport


HELP = f"it needs the extra `gemini`: {installed_by('gemini')}"

_VERSION = "v1beta"
_WORDS = 300  # characters of the library's own words in a message
_FINISHED = {"STOP": "stop", "MAX_TOKENS": "length"}
_FILTERED = {"safety", "recitation", "blocklist", "prohibited_content", "spii"}
# Fields of the library's `GenerateContentConfig` that a player's `client_kwargs` may not set.
_OURS = {
    *("http_options", "should_return_http_response", "system_instruction", "max_output_tokens", "candidate_count"),
    *("automatic_function_calling", "automatic_continuation"),
}


def is_spoken(profile: Profile) -> bool:
    """Whether this provider is to be spoken to in Gemini's own words."""
    return profile.api == "gemini" or (profile.api == "auto" and _installed())


def _installed() -> bool:
    try:
        return importlib.util.find_spec("google.genai") is not None
    except ModuleNotFoundError:  # not even `google`
        return False


def opened(name: str, profile: Profile, endpoint: Endpoint) -> Gemini:
    """The model, its library loaded (1.3 s); `ScenarioError` where the extra is missing or does not start."""
    if not _installed():
        raise ScenarioError(f"{name}: {HELP}", valid='api = "openai"')
    try:
        _library()  # not within a deadline
    except (ImportError, OSError, ValueError) as error:
        raise ScenarioError(
            f"{name}: google-genai does not start here: {error}",
            valid='api = "openai", or variables that it can use (GOOGLE_GENAI_HTTP_CLIENT)',
        ) from None
    model = Gemini(name, profile, endpoint)
    model._transport()
    return model


class Gemini(RemoteModel):
    """A `Model` over `models/<id>:generateContent`.

    A player's `client_kwargs` are fields of the library's `GenerateContentConfig`, the provider's `extra_body` is
    merged into the body.
    """

    def __init__(self, name: str, profile: Profile, endpoint: Endpoint) -> None:
        super().__init__(name, profile, endpoint)
        base = profile.base_url.removesuffix("/openai")
        versioned = re.fullmatch(r"v\d+[a-z]*\d*", base.rpartition("/")[2])
        self.address = base if versioned else f"{base}/{_VERSION}"
        self._native: Transport | None = None

    def _transport(self) -> Transport:
        """Its own connections, to its own address; `ScenarioError` where the environment does not allow it."""
        if self._native is None:
            from agentsim.models.transport import Transport

            key = {"x-goog-api-key": self._endpoint.key} if self._endpoint.key else {}
            self._native = Transport(self.address, {**key, "User-Agent": f"agentsim/{__version__}", **JSON_HEADERS})
        return self._native

    def _prepared(self, profile: Profile, call: Call, sampling: Sampling) -> Request:
        from google.genai import types
        from pydantic import ValidationError

        self._transport()  # its imports are not within a deadline
        function = called_function(profile, call)
        config: dict[str, Any] = {
            "system_instruction": "\n".join(text for role, text in call.messages if role == "system") or None,
            "max_output_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "automatic_function_calling": {"disable": True},
            "automatic_continuation": False,
            **({} if call.schema is None else _structured(profile, call.schema, function)),
            **({"http_options": {"extra_body": dict(profile.extra_body)}} if profile.extra_body else {}),
        }
        contents = [
            {"role": "model" if role == "assistant" else "user", "parts": [{"text": text}]}
            for role, text in call.messages
            if role != "system"
        ]
        with warnings.catch_warnings(action="ignore"):  # of a value that only the provider knows: it would be printed
            try:
                given = types.GenerateContentConfig.model_validate(sampling.extra)
                if taken := sorted(_OURS & given.model_fields_set):  # by whichever of its names
                    raise self._unsendable(f"`{taken[0]}` cannot be set there")
                config |= {field: getattr(given, field) for field in given.model_fields_set}
                return Request(*_worded(self._model, contents, config), function)
            except ValidationError as error:
                wrong = {str(each["loc"][0]) for each in error.errors(include_input=False)} & sampling.extra.keys()
                named = ", ".join(sorted(wrong or sampling.extra))  # or it is something within one of them
                raise self._unsendable(
                    f"Gemini's own API takes no such client_kwargs: {named}; name them as its library does, "
                    f'or say api = "openai" in [providers.{profile.provider}]'
                ) from None
            except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
                words = redact(" ".join(cleaned(str(error)).split()), self._faults.secrets)[:_WORDS]
                raise self._unsendable(f"this cannot be sent to Gemini's own API: {words}") from None

    def _unsendable(self, why: str) -> ProviderRejected:
        return ProviderRejected(f"{self.name}: {why}", code="bad_request")

    def _in_openai_words(self, envelope: Any) -> Any:
        """The answer as a chat completion; what cannot be one is handed on as it is, to be judged as that."""
        if not isinstance(envelope, Mapping) or envelope.get("error"):
            return envelope
        usage = _usage(_inner(envelope, "usageMetadata"))
        candidates = envelope.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        blocked = _inner(envelope, "promptFeedback").get("blockReason")
        if not isinstance(candidate, Mapping) and not blocked:
            return {"choices": [], "usage": usage}
        candidate = candidate if isinstance(candidate, Mapping) else {}
        reason = candidate.get("finishReason")
        finish_reason = _FINISHED.get(reason, reason.lower()) if isinstance(reason, str) else None
        if blocked or finish_reason in _FILTERED:
            finish_reason = "content_filter"
        parts = _inner(candidate, "content").get("parts")
        parts = [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
        said = [part for part in parts if isinstance(part.get("text"), str)]
        calls = [call for part in parts if (call := _inner(part, "functionCall"))]
        message = {
            "content": "".join(part["text"] for part in said if not part.get("thought")),
            "reasoning": "".join(part["text"] for part in said if part.get("thought")) or None,
            "tool_calls": [{"function": {"name": call.get("name"), "arguments": call.get("args")}} for call in calls],
        }
        choice = {"finish_reason": finish_reason, "message": message}
        return {"choices": [choice], "model": envelope.get("modelVersion"), "usage": usage}

    async def aclose(self) -> None:
        """Close the connections."""
        transport, self._native = self._native, None
        if transport is not None:
            await transport.aclose()
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
        return {"tools": [{"function_declarations": [declared]}], "tool_config": {"function_calling_config": only}}
    if profile.structured == "json_schema":
        return {"response_mime_type": "application/json", "response_json_schema": sent}
    return {"response_mime_type": "application/json"} if profile.structured == "json_object" else {}


class _Worded(Exception):
    """A request as the library words it; it goes no further there."""

    def __init__(self, request: httpx2.Request) -> None:
        super().__init__()
        self.request = request


def _worded(model: str, contents: list[Any], config: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The path and the body of a request; raises what the library makes of what it does not send."""
    from google.genai import types

    try:
        _library().models.generate_content(
            model=model, contents=contents, config=types.GenerateContentConfig.model_validate(config)
        )
    except _Worded as worded:
        path = worded.request.url.raw_path.decode("ascii").removeprefix(f"/{_VERSION}")
        if path.endswith(":generateContent"):
            return path, json.loads(worded.request.content)
    raise ValueError("the model's name is no part of an address")


@cache
def _library() -> genai.Client:
    """The library, without a key and without a way to send; nothing in the environment makes it do either."""
    import httpx2
    from google import genai

    def caught(request: httpx2.Request) -> httpx2.Response:
        raise _Worded(request)

    # It would say that it takes a key from the environment, which it does not: one is given.
    logging.getLogger("google_genai").addHandler(logging.NullHandler())
    nowhere = httpx2.MockTransport(caught)
    return genai.Client(
        vertexai=False,
        api_key="none",
        debug_config=genai.client.DebugConfig(client_mode=None, replays_directory=None, replay_id=None),
        http_options=genai.types.HttpOptions(
            base_url="http://nowhere",
            api_version=_VERSION,
            httpx_client=httpx2.Client(transport=nowhere, verify=False, trust_env=False),
            httpx_async_client=httpx2.AsyncClient(transport=nowhere, verify=False, trust_env=False),
            async_client_args={"ssl": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)},  # or it reads the trust store
        ),
    )


def _inner(mapping: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = mapping.get(key)
    return value if isinstance(value, Mapping) else {}


def _usage(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Thinking is paid for as a part of the completion, in OpenAI's way of counting; here it stands beside it."""
    answer, thinking = counts.get("candidatesTokenCount"), counts.get("thoughtsTokenCount")
    whole = [count for count in (answer, thinking) if type(count) is int and count >= 0]
    return {
        "prompt_tokens": counts.get("promptTokenCount"),
        "prompt_tokens_details": {"cached_tokens": counts.get("cachedContentTokenCount")},
        "completion_tokens": sum(whole) if whole else None,
        "completion_tokens_details": {"reasoning_tokens": thinking},
    }
