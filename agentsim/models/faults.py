"""Faults: what went wrong in one call, as one of the four kinds of `ModelError`.

Pure: statuses, bodies and exceptions come in, errors come out to be raised elsewhere. What to do about an
error does not belong here (`attempts`), nor does reading a good answer (`wire`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from agentsim.engine.prompt import cleaned
from agentsim.errors import ModelError, ModelRefused, ProviderRejected, RateLimited, TransportFailed
from agentsim.models.attempts import duration, retry_after
from agentsim.models.profiles import Profile
from agentsim.models.redaction import redact

UNSUPPORTED_FORMAT = "unsupported_format"
"""The code of a `ProviderRejected` that another structured mode might not meet."""

_FOREIGN = 300  # characters of a provider's own words in a message
_YEAR_S = 365 * 86_400.0
_READ = 64 * 1024  # bytes of an error that are read
_WORDS_READ = 16 * 1024  # characters of what it says that are looked at

_TOO_LONG = re.compile(
    r"context.?(length|window|size)|maximum context|too many (input )?tokens|exceed_context_size"
    r"|(prompt|input|request)\b.{0,40}\btoo (long|large)|token count.{0,40}exceeds|reduce the length",
    re.IGNORECASE | re.DOTALL,
)
_MODERATED = re.compile(
    r"moderat|content.?(policy|filter|management)|flagged|invalid_prompt|safety (system|policy|filter)", re.IGNORECASE
)
_NO_CREDIT = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_credits"}
_BAD_KEY = re.compile(r"api.?key (not|is not) valid|api_key_invalid|invalid api.?key", re.IGNORECASE)

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
# A parameter named in a 400, and what the scenario can do about it.
_HINTS = (
    (re.compile(r"temperature", re.IGNORECASE), "leave `temperature` out for this model"),
    (
        re.compile(r"max_(completion_|output_)?tokens", re.IGNORECASE),
        "see `max_tokens`, and `max_tokens_field` in [providers.{provider}]",
    ),
    (
        re.compile(
            r"response_?(format|schema|json_schema|mime_?type)|output_?(config|format)|text\.format"
            r"|json_?(schema|object)|schema|unknown name|grammar"
            r"|guided.?(json|decoding)|structured.?output|tool_choice|\btools?\b|function.?call",
            re.IGNORECASE,
        ),
        _FORMAT_HINT,
    ),
)


class NoAnswer(Exception):
    """No connection, or one that ended before the answer did; `why` is the system's own words."""

    def __init__(self, stage: Literal["proxy", "connecting", "broken"], why: str) -> None:
        super().__init__(stage, why)
        self.stage, self.why = stage, why


class Unacceptable(Exception):
    """An answer that is not taken in; `str()` says why, in words for a person and none of the server's."""


@dataclass(frozen=True, slots=True)
class _Complaint:
    """What a provider says about an error, whatever the shape it says it in."""

    message: str = ""
    codes: frozenset[str] = frozenset()
    retry_after: float | None = None

    @property
    def words(self) -> str:
        return " ".join((self.message, *sorted(self.codes)))

    @property
    def of_max_tokens(self) -> bool:
        """Whether what it is about is the limit on the reply."""
        return any(map(_ABOUT_MAX_TOKENS.match, (self.message, *self.codes)))


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
        text = body[:_READ].decode("utf-8", "replace")
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            parsed = text
        complaint, seconds = _complaint(parsed), retry_after(headers)
        return self._judged(status, complaint if seconds is None else replace(complaint, retry_after=seconds))

    def _judged(self, status: int, complaint: _Complaint) -> ModelError:
        says = self._says(complaint.message)
        if 300 <= status < 400:
            what = "answers with a redirect, which is not followed; check base_url"
            return self._rejected("redirect", status, what)
        too_long = _TOO_LONG.search(complaint.words) and not complaint.of_max_tokens
        if status == 413 or (status in {400, 422, 500} and too_long):
            return ModelRefused(f"{self._who}: the prompt is too long{says}", code="context", status=status)
        if status == 429 and not complaint.codes & _NO_CREDIT:
            # Without a wait the policy's own applies; the words help to see which limit it was.
            message = f"{self._who}: rate limited{_for(complaint.retry_after)}{says}"
            return RateLimited(message, retry_after=complaint.retry_after, status=status)
        if status < 200 or status in {408, 409, 425} or status >= 500:
            message = f"{self._who}: HTTP {status}{_for(complaint.retry_after)}{says}"
            return TransportFailed(message, code=f"http_{status}", status=status, retry_after=complaint.retry_after)
        if status in {400, 403, 422} and _MODERATED.search(complaint.words):
            return ModelRefused(f"{self._who}: the prompt was refused{says}", code="moderation", status=status)
        return self._final(status, complaint, says)

    def _final(self, status: int, complaint: _Complaint, says: str) -> ModelError:
        if status == 401 or (status == 400 and _BAD_KEY.search(complaint.words)):
            variable = " or ".join(self.profile.key_envs)
            what = f"does not accept the key in {variable}" if variable else "needs a key, and none was sent"
            hint = "" if variable else f"; name its variable as `api_key_env` in [providers.{self.profile.provider}]"
            return self._rejected("bad_key", status, f"{what} (HTTP {status}){hint}{says}")
        if status in {402, 429}:
            return self._rejected("no_credit", status, f"no credit is left (HTTP {status}){says}")
        if status == 403:
            return self._rejected("forbidden", status, f"the key may not use this model (HTTP {status}){says}")
        if status == 404:
            hint = self.profile.unknown_model_hint.replace("{model}", self.model)
            code = UNSUPPORTED_FORMAT if _NO_SUCH_HOST.search(complaint.words) else "unknown_model"
            return self._rejected(code, status, f"is not found at {self.profile.host} (HTTP 404); {hint}{says}")
        hint = next((hint for pattern, hint in _HINTS if pattern.search(complaint.words)), "")
        advice = f"; {hint.format(provider=self.profile.provider)}" if hint else ""
        code = UNSUPPORTED_FORMAT if hint == _FORMAT_HINT else "bad_request"
        return self._rejected(code, status, f"the request is not accepted (HTTP {status}){advice}{says}")

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


def _complaint(body: object) -> _Complaint:
    """The parts of an error body: `{"error": {...}}`, `{"error": "..."}`, Gemini's list of one, or plain text."""
    if isinstance(body, list):
        body = body[0] if body else ""
    error = body.get("error") or body if isinstance(body, Mapping) else body
    if not isinstance(error, Mapping):
        return _Complaint(message=error[:_WORDS_READ] if isinstance(error, str) else "")
    message, metadata = error.get("message") or error.get("detail") or "", error.get("metadata")
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
    return _Complaint(message[:_WORDS_READ] if isinstance(message, str) else "", frozenset(codes), seconds)
