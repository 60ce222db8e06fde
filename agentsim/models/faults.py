"""Faults: what went wrong in one call, as one of the four kinds of `ModelError`.

Pure: statuses, bodies and exceptions come in, errors come out to be raised elsewhere. What to do about an
error does not belong here (`attempts`), nor does reading a good answer (`wire`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from agentsim.engine.prompt import cleaned
from agentsim.errors import ModelError, ModelRefused, ProviderRejected, RateLimited, TransportFailed
from agentsim.models.attempts import duration, retry_after
from agentsim.models.profiles import Profile
from agentsim.models.redaction import redact

UNACCEPTED = "bad_request"
"""The code of a request that its host does not accept as it is, while it may accept another."""

_FOREIGN = 300  # characters of a provider's own words in a message
_YEAR_S = 365 * 86_400.0
_READ = 64 * 1024  # bytes of an error that are read
_WORDS_READ = 16 * 1024  # characters of what it says that are looked at
_DETAILS = 8  # errors of one validation that are named

# In the words of OpenAI, Anthropic, Gemini, xAI, Z.ai, Mistral, Bedrock, Cohere, Moonshot, DashScope, MiniMax, TGI,
# vLLM, SGLang, llama.cpp, LM Studio and Ollama.
_TOO_LONG = re.compile(
    r"context.?(length|window|size|limit)|maximum (context|prompt|input)|max(imum)? (prompt|input) (length|tokens)"
    r"|too many (input |prompt )?tokens|exceed_context_size|model token limit|range of input length"
    r"|(prompt|inputs?|request|messages?)\b.{0,60}\b(too (long|large)|exceeds? (the )?(max|limit|model))"
    r"|token (count|limit).{0,40}exceed|exceed.{0,40}(token limit|tokens? allowed)|reduce the length"
    r"|`?inputs`? (tokens|must have (less|fewer) than \d+ tokens)|total number of tokens in the prompt cannot exceed",
    re.IGNORECASE | re.DOTALL,
)
_MODERATED = re.compile(
    r"moderat|content.?(policy|filter|management)|flagged|invalid_prompt|safety (system|policy|filter)", re.IGNORECASE
)
_NO_CREDIT = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_credits"}
_BAD_KEY = re.compile(r"api.?key (not|is not) valid|api_key_invalid|(invalid|incorrect) api.?key", re.IGNORECASE)
# Of hosts that say 400 or 403 where others say 402 and 404.
_NO_MONEY = re.compile(
    r"credit balance is too low|insufficient.{0,10}(balance|credit|fund|quota)|out of credits|no credits? left"
    r"|used all (available )?credits|spending limit|billing (is )?(not|hard)",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"not a valid model|model_not_found|(invalid|unknown|no such) model\b|model identifier is invalid"
    r"|\bmodel\b.{0,80}\b(not found|not exist|does ?n.t exist|is not available|is unknown)\b|deploymentnotfound",
    re.IGNORECASE,
)

# What a 200 may call its error instead of an HTTP status, in its code, its type or its status.
_WORDS = {
    **dict.fromkeys(("rate_limit_exceeded", "rate_limited", "rate_limit_error", "resource_exhausted"), 429),
    **dict.fromkeys(_NO_CREDIT, 402),
    "billing_error": 402,
    **dict.fromkeys(("invalid_api_key", "authentication_error", "unauthenticated", "unauthorized"), 401),
    **dict.fromkeys(("permission_error", "permission_denied", "content_filter", "content_policy_violation"), 403),
    **dict.fromkeys(("model_not_found", "not_found_error", "not_found"), 404),
    **dict.fromkeys(("context_length_exceeded", "invalid_request_error", "invalid_argument"), 400),
}
# A limit on the reply that does not fit the window: the prompt of another turn would not change it.
_ABOUT_MAX_TOKENS = re.compile(r"\W{0,3}max_(completion_|output_)?tokens\b", re.IGNORECASE)

_FORMAT_HINT = (
    'see `structured` ("json_object", "prompt", or "auto" for the first that is accepted) and `strip_schema_keywords` '
    "in [providers.{provider}]"
)
# OpenRouter's 404 for a model whose hosts do not take every parameter: of ours, only the schema is one that some lack.
_NO_SUCH_HOST = re.compile(r"no endpoints found that (can handle|support)", re.IGNORECASE)
# A grammar that cannot be made is no breakdown, though some servers say 500.
_NO_GRAMMAR = re.compile(r"grammar|response_format|json_?schema|guided_json|not supported", re.IGNORECASE)
_GENERATION_FAILED = frozenset(("json_validate_failed", "tool_use_failed", "output_parse_failed"))
ABOUT_CAP = re.compile(r"max_(completion_|output_)?tokens|max tokens", re.IGNORECASE)
"""A refusal of the most tokens of a reply."""
ABOUT_SCHEMA = re.compile(
    r"response_?(format|schema|json_schema|mime_?type)|output_?(config|format)|text\.format"
    r"|json_?\s?(schema|object|mode)|schema|grammar|guided.?(json|decoding)|structured.?output"
    r"|tool_choice|\btools?\b|tool use|function.?call",
    re.IGNORECASE,
)
"""A refusal of how a reply is held to its schema."""
# What the scenario can do about a request that is not accepted in any form.
_HINTS = (
    (re.compile(r"temperature", re.IGNORECASE), "leave `temperature` out for this model"),
    (ABOUT_CAP, "see `max_tokens`, and `max_tokens_field` in [providers.{provider}]"),
    (ABOUT_SCHEMA, _FORMAT_HINT),
    (re.compile(r"unknown name", re.IGNORECASE), _FORMAT_HINT),  # Gemini's word for a keyword of a schema
)


class NoAnswer(Exception):
    """No connection, or one that ended before the answer did; `why` is the system's own words."""

    def __init__(self, stage: Literal["proxy", "connecting", "broken"], why: str) -> None:
        super().__init__(stage, why)
        self.stage, self.why = stage, why


class Unacceptable(Exception):
    """An answer that is not taken in; `str()` says why, in words for a person and none of the server's."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """A provider's words about an error, whatever their shape; `fields` are the parts of the request that it names."""

    message: str = ""
    codes: frozenset[str] = frozenset()
    retry_after: float | None = None
    fields: frozenset[str] = frozenset()

    @property
    def words(self) -> str:
        return " ".join((self.message, *sorted(self.codes)))

    def without(self, secrets: tuple[str, ...]) -> Complaint:
        """Return the same complaint with no secret in its words."""
        codes, fields = (frozenset(redact(word, secrets) for word in words) for words in (self.codes, self.fields))
        return replace(self, message=redact(self.message, secrets), codes=codes, fields=fields)

    @property
    def of_max_tokens(self) -> bool:
        """Whether what it is about is the limit on the reply."""
        return any(map(_ABOUT_MAX_TOKENS.match, (self.message, *self.codes)))


class Unaccepted(ModelRefused):
    """The host does not accept the request as it is; without a part that its `complaint` is about, it may."""

    def __init__(self, message: str, *, status: int | None, complaint: Complaint) -> None:
        super().__init__(message, code=UNACCEPTED, status=status)
        self.complaint = complaint


@dataclass(frozen=True, slots=True)
class Faults:
    """The faults of one model behind one profile; every message is one line without any of `secrets`."""

    profile: Profile
    model: str
    secrets: tuple[str, ...] = ()

    def timeout(self, seconds: float) -> ModelError:
        """The deadline passed."""
        return TransportFailed(f"{self._who}: no complete answer within {seconds:g} s", code="timeout")

    def connection(self, failed: NoAnswer) -> ModelError:
        """No connection, or one that broke."""
        host, why = self.profile.host, failed.why
        if failed.stage == "broken":
            return TransportFailed(f"{self._who}: the connection to {host} broke ({why})", code="reset")
        if failed.stage == "proxy":
            problem = f"the proxy of the environment does not lead to {host} ({why})"
            hint = f"is it right, or does NO_PROXY have to name {host}?"
        else:
            problem, hint = f"cannot be reached at {host} ({why})", self.profile.unreachable_hint
        return TransportFailed(f"{self._who}: {problem}; {hint}", code="unreachable")

    def broken_off(self, finish_reason: str) -> ModelError:
        """The host broke down while it answered, as its finish reason says."""
        return TransportFailed(f"{self._who}: the host broke off the answer ({finish_reason})", code="provider_error")

    def bad_envelope(self, what: str, body: str = "") -> ModelError:
        """A 200 that is no completion."""
        message = f"{self._who}: the answer is not a completion: {what}{self._says(body)}"
        return TransportFailed(message, code="bad_envelope", status=200)

    def reported(self, error: object) -> ModelError:
        """An error inside a 200: as if its code had been the HTTP status."""
        complaint = _complaint({"error": error})
        if (status := _status_in(error)) is not None:
            return self._judged(status, complaint)
        message = f"{self._who}: the provider failed while answering{self._says(complaint.message)}"
        return TransportFailed(message, code="provider_error", status=200)

    def status(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        """An HTTP status that is not 200."""
        complaint, seconds = _complaint(_parsed(body)), retry_after(headers)
        return self._judged(status, complaint if seconds is None else replace(complaint, retry_after=seconds))

    def _judged(self, status: int, complaint: Complaint) -> ModelError:
        says = self._says(complaint.message)
        if 300 <= status < 400:
            what = "answers with a redirect, which is not followed; check base_url"
            return self._rejected("redirect", status, what)
        too_long = _TOO_LONG.search(complaint.words) and not complaint.of_max_tokens
        if status == 413 or (status in {400, 422, 500} and too_long):
            what = f"the prompt is too long for the model's context; {self.profile.context_hint}"
            return ModelRefused(f"{self._who}: {what}{says}", code="context", status=status)
        if status == 429 and not complaint.codes & _NO_CREDIT:
            # Without a wait the policy's own applies; the words help to see which limit it was.
            message = f"{self._who}: rate limited{_for(complaint.retry_after)}{says}"
            return RateLimited(message, retry_after=complaint.retry_after, status=status)
        unmade = status in {500, 501} and _NO_GRAMMAR.search(complaint.words)
        if not unmade and (status < 200 or status in {408, 409, 425} or status >= 500):
            message = f"{self._who}: HTTP {status}{_for(complaint.retry_after)}{says}"
            return TransportFailed(message, code=f"http_{status}", status=status, retry_after=complaint.retry_after)
        if status in {400, 403, 422} and _MODERATED.search(complaint.words):
            return ModelRefused(f"{self._who}: the prompt was refused{says}", code="moderation", status=status)
        return self._final(status, complaint, says)

    def _final(self, status: int, complaint: Complaint, says: str) -> ModelError:
        if status == 401 or (status == 400 and _BAD_KEY.search(complaint.words)):
            variable = " or ".join(self.profile.key_envs)
            what = f"does not accept the key in {variable}" if variable else "needs a key, and none was sent"
            hint = "" if variable else f"; name its variable as `api_key_env` in [providers.{self.profile.provider}]"
            return self._rejected("bad_key", status, f"{what} (HTTP {status}){hint}{says}")
        if status in {402, 429} or (status in {400, 403} and _NO_MONEY.search(complaint.words)):
            return self._rejected("no_credit", status, f"no credit is left (HTTP {status}){says}")
        if status == 403:
            return self._rejected("forbidden", status, f"the key may not use this model (HTTP {status}){says}")
        no_host = _NO_SUCH_HOST.search(complaint.words)
        if not no_host and (status == 404 or (status in {400, 422} and _NO_MODEL.search(complaint.words))):
            hint = self.profile.unknown_model_hint.replace("{model}", self.model)
            what = f"is not found at {self.profile.host} (HTTP {status}); {hint}{says}"
            return self._rejected("unknown_model", status, what)
        hint = next((hint for pattern, hint in _HINTS if pattern.search(complaint.words)), "")
        advice = f"; {hint.format(provider=self.profile.provider)}" if hint else ""
        message = f"{self._who}: the request is not accepted (HTTP {status}){advice}{says}"
        return Unaccepted(message, status=status, complaint=complaint.without(self.secrets))

    def _rejected(self, code: str, status: int, what: str) -> ModelError:
        return ProviderRejected(f"{self._who}: {what}", code=code, status=status)

    @property
    def _who(self) -> str:
        return f"{self.profile.provider}/{self.model}"

    def _says(self, words: str) -> str:
        """The provider's own words as the end of a message, or nothing."""
        line = redact(" ".join(cleaned(words[:_WORDS_READ]).split()), self.secrets)
        if not line:
            return ""
        return f" [it says: {line if len(line) <= _FOREIGN else line[: _FOREIGN - 1] + '…'}]"


def _for(seconds: float | None) -> str:
    """How long a host wants to be left alone, where it says so."""
    if seconds is None:
        return ""
    return f", for {seconds:,.10g} s" if seconds < _YEAR_S else ", for more than a year"


def failed_generation(body: bytes) -> str | None:
    """Return what the model wrote if an error says that its host refuses that for its form, or None for other errors.

    It is "" if the error does not repeat it. Source: https://console.groq.com/docs/structured-outputs.
    """
    parsed = _parsed(body)
    error = parsed.get("error") if isinstance(parsed, Mapping) else None
    written = error.get("failed_generation") if isinstance(error, Mapping) else None
    if isinstance(written, str):
        return written
    return "" if _complaint(parsed).codes & _GENERATION_FAILED else None


def _parsed(body: bytes) -> Any:
    """Return the JSON of an error's body, or its text."""
    text = body[:_READ].decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _status_in(error: object) -> int | None:
    """The HTTP status that an error inside a 200 stands for: the first of its code, type and status that says one."""
    values = [error.get(key) for key in ("code", "type", "status")] if isinstance(error, Mapping) else []
    for value in values:
        if isinstance(value, str):
            found: float | None = int(value) if re.fullmatch(r"[3-5]\d\d", value) else _WORDS.get(value.lower())
        else:
            found = value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
        if found is not None and 300 <= found <= 599 and found == int(found):
            return int(found)
    return None


def _complaint(body: object) -> Complaint:
    """The parts of an error body: `{"error": {...}}`, `{"error": "..."}`, Gemini's list of one, or plain text."""
    if isinstance(body, list):
        body = body[0] if body else ""
    error = body.get("error") or body if isinstance(body, Mapping) else body
    if not isinstance(error, Mapping):
        return Complaint(message=error[:_WORDS_READ] if isinstance(error, str) else "")
    message, metadata = error.get("message") or error.get("detail") or "", error.get("metadata")
    fields: set[str] = set()
    if isinstance(message, list):
        message, fields = _of_validation(message)
    codes = {
        str(error[key])[:100] for key in ("code", "type", "param", "status") if isinstance(error.get(key), (str, int))
    }
    if isinstance(metadata, Mapping):  # OpenRouter: what the host behind it said, and why a moderator objected
        if metadata.get("reasons") or metadata.get("flagged_input"):
            codes.add("flagged")
        raw = metadata.get("raw")
        message = f"{message}: {raw}" if isinstance(raw, str) and raw else message
    seconds = None
    details = error.get("details")  # Gemini: the delay of a RetryInfo, and the reasons of an ErrorInfo
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, Mapping):
            delay, reason = detail.get("retryDelay"), detail.get("reason")
            seconds = duration(delay) if isinstance(delay, str) else seconds
            codes |= {reason[:100]} if isinstance(reason, str) else set()
    param = error.get("param")
    return Complaint(
        message[:_WORDS_READ] if isinstance(message, str) else "",
        frozenset(codes),
        seconds,
        frozenset(fields.union(re.findall(r"\w+", param[:100]) if isinstance(param, str) else ())),
    )


def _of_validation(detail: list[Any]) -> tuple[str, set[str]]:
    """Return the words of FastAPI's list of validation errors, in one line, and the fields that it names."""
    said: list[str] = []
    fields: set[str] = set()
    for each in detail[:_DETAILS]:
        if isinstance(each, Mapping):
            place = each.get("loc")
            names = [str(part)[:100] for part in place] if isinstance(place, list) else []
            said.append(": ".join(filter(None, (".".join(names), str(each.get("msg") or "")))))
            fields.update(names)
        elif isinstance(each, str):
            said.append(each)
    return "; ".join(filter(None, said)), fields
