"""Faults: the failure of one call, as one of the four kinds of `ModelError`.

The functions are pure: they take statuses, headers, bodies and exceptions, and return errors to be raised elsewhere. A
host can ask for a wait in several ways (`retry_after`). Points in time are compared with the response's own `Date`
header, so no clock is read. `pacing` decides about retries; `wire` reads good answers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, Literal, TypeAlias

from agentsim.engine.wording import cleaned
from agentsim.errors import ModelError, ProviderRejected, RateLimited, RequestRefused, TransportFailed
from agentsim.models import host_words as table
from agentsim.models.keys import redact
from agentsim.models.profiles import Profile
from agentsim.patterns import Pattern

_DIGITS = r"\d{1,300}(?:\.\d{1,300})?(?:e\d{1,3})?"
_NUMBER = Pattern(_DIGITS, re.ASCII)
_DURATION = Pattern(
    rf"(?=\d)(?:({_DIGITS})d)?(?:({_DIGITS})h)?(?:({_DIGITS})m(?!s))?(?:({_DIGITS})s)?(?:({_DIGITS})ms)?", re.ASCII
)
_UNITS_S = (86_400.0, 3_600.0, 60.0, 1.0, 0.001)
_EPOCH_S, _EPOCH_MS = 1e9, 1e12  # larger numbers are timestamps: no provider asks to wait for thirty years
# The time until a bucket is full again is longer than the time until it has room for one call: ask after a minute.
_LONGEST_RESET_S = 60.0

UNACCEPTED = "bad_request"
"""The code of a request that its host does not accept as sent, though it may accept a changed one."""
UNKNOWN_REASON = ", for a reason that is not known"
"""The end of the message of such a request if no table knows the host's words."""
FORBIDDEN, NOT_FOUND, REDIRECT = "forbidden", "unknown_model", "redirect"
_THIS_PROMPT = frozenset((UNACCEPTED, FORBIDDEN, NOT_FOUND, REDIRECT))


def may_be_the_prompt(refused: bool, code: str | None) -> bool:
    """Return whether an error may be about its prompt alone, instead of every call of the model.

    If the model has answered before, the cause is likely the prompt: a proxy's filter may say 302, 403 or 404.
    Otherwise it is the key, the address, the model or a parameter.
    """
    return refused and code in _THIS_PROMPT


ErrorKind: TypeAlias = tuple[str | None, int | None, str]
"""The code, the HTTP status and the words of an error; errors of one cause have the same."""


def error_kind(code: str | None, status: int | None, message: str) -> ErrorKind:
    """Return the kind of an error: its message without quotations, numbers and identifiers, which differ each time."""
    words = re.findall(r"[^\W\d_]+", re.sub(r"\S*\d\S*|\S{24,}", " ", _QUOTED.sub(" ", message)))
    return code, status, " ".join(words)[:_OF_A_KIND].lower()


_OF_A_KIND = 200  # characters of the words by which errors are compared
_FOREIGN = 300  # characters of a provider's own words in a message
_YEAR_S = 365 * 86_400.0
_READ = 64 * 1024  # bytes of an error that are read
_WORDS_READ = 8 * 1024  # characters of an error that are read
_WORDS_OF_A_NAME = 200  # characters of a host's name

# A message about the limit on the reply, which a prompt of another length would not change.
_ABOUT_MAX_TOKENS = Pattern(r"\W{0,3}max_(completion_|output_)?tokens\b", re.IGNORECASE)

_FORMAT_HINT = (
    'see `structured` ("json_object", "prompt", or "auto" for the first that is accepted) and `strip_schema_keywords` '
    "in [providers.{provider}]"
)
_GENERATION_FAILED = frozenset(("json_validate_failed", "tool_use_failed", "output_parse_failed"))
# Answers to an unknown path: Ollama and Go, FastAPI, Flask, Express, nginx, OpenAI.
_NO_PATH = Pattern(
    r"^\W*$|^\s*<|page not found|^\W*((404|error|file|path|route|resource|endpoint|url)\b\W*)*not\W?found\W*(404)?\W*$"
    r"|cannot (post|get) /|no (such )?(route|handler|path|endpoint)\b|requested url was not found"
    r"|(unknown|invalid|unexpected) (url|path|route|endpoint)",
    re.IGNORECASE,
)
_CLIENT_ERRORS = frozenset((400, 403, 412))
_ABSENT = frozenset((404, 410))
# A quotation of some words, and what FastAPI says of the input.
_QUOTED = Pattern(r"'input':.{0,2000}|\"[^\"\n]{16,2000}\"|'[^'\n]{16,2000}'", re.DOTALL)
# Advice for a request that is not accepted in any form.
_HINTS = (
    (Pattern(r"temperature", re.IGNORECASE), "leave `temperature` out for this model"),
    (table.ABOUT_CAP, "see `max_tokens`, and `max_tokens_field` in [providers.{provider}]"),
    (table.ABOUT_SCHEMA, _FORMAT_HINT),
    (Pattern(r"unknown name", re.IGNORECASE), _FORMAT_HINT),  # Gemini's words about an unknown keyword of a schema
)


Stage: TypeAlias = Literal["proxy", "connecting", "certificate", "tls", "broken"]
"""The part of a connection that failed: the proxy, connecting, the certificate, TLS, or, once it stood, `broken`."""


class NoAnswer(Exception):
    """A failure to connect, a connection that broke before the answer ended, or an answer by a proxy.

    `why` holds the system's own words and `proxy` the proxy's address, without its password. `hint` is advice that
    depends on more than the stage.
    """

    def __init__(self, stage: Stage, why: str, *, proxy: str | None = None, hint: str = "") -> None:
        super().__init__(stage, why)
        self.stage, self.why, self.proxy, self.hint = stage, why, proxy, hint


class AnswerNotRead(Exception):
    """An answer that is not read. `str()` gives the reason in our words, not the server's."""


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """A provider's description of an error, whatever its shape. `fields` are the parts of the request that it names.

    `served_by` is the host behind a router, if the router names it; `relayed` says that the message holds that host's
    words, whose keys, credit and models are the router's affair. `is_page` says that it is text or a page instead
    of JSON, so that it may be a proxy's.
    """

    message: str = ""
    codes: frozenset[str] = frozenset()
    retry_after: float | None = None
    fields: frozenset[str] = frozenset()
    served_by: str | None = None
    relayed: bool = False
    is_page: bool = False

    @property
    def words(self) -> str:
        return " ".join((self.message, *sorted(self.codes)))

    @property
    def plain_codes(self) -> frozenset[str]:
        """The codes as the tables spell them."""
        return frozenset(map(table.normalized_code, self.codes))

    @property
    def searchable_text(self) -> str:
        """The message and the codes, and the codes again with spaces: `data inspection failed`."""
        return " ".join((self.words, *(code.replace("_", " ") for code in sorted(self.plain_codes))))

    @property
    def is_moderation(self) -> bool:
        """True if a moderator or filter objected to the prompt or the reply."""
        objected = bool(self.plain_codes & table.MODERATED_CODES or table.MODERATED.search(self.searchable_text))
        return objected and not table.SUSPENDED.search(self.words)

    @property
    def is_too_long(self) -> bool:
        """True if the prompt does not fit the context."""
        if self.plain_codes & table.TOO_LONG_CODES or table.NOTHING_LEFT.search(self.words):
            return True
        if self.of_max_tokens and not table.COUNTED.search(self.message):
            return False
        return any(map(table.TOO_LONG.search, (self.searchable_text, self.searchable_text.replace("_", " "))))

    @property
    def takes_too_much(self) -> bool:
        """True if one request exceeds the tokens of a minute or a day, by the message's numbers or else its words."""
        words = self.words
        if (found := table.REQUESTED.search(words)) is not None:
            limit, requested = (int(each.replace(",", "")) for each in found.groups())
            return requested > limit and bool(table.OF_TOKENS.search(words))
        return bool(table.TOO_LARGE_A_REQUEST.search(words) and table.OF_TOKENS.search(words))

    @property
    def is_unpaid(self) -> bool:
        """True if a code says that no credit is left."""
        return bool(self.plain_codes & table.NO_CREDIT)

    def without(self, secrets: tuple[str, ...]) -> ErrorReport:
        """Return the report with secrets redacted from its words."""
        codes, fields = (frozenset(redact(word, secrets) for word in words) for words in (self.codes, self.fields))
        return replace(self, message=redact(self.message, secrets), codes=codes, fields=fields)

    @property
    def of_max_tokens(self) -> bool:
        """True if the report is about the limit on the reply."""
        return any(map(_ABOUT_MAX_TOKENS.match, (self.message, *self.codes)))


class RequestNotAccepted(RequestRefused):
    """A request that the host does not accept as sent.

    Without the part that its `report` is about, the host may accept it. If it accepts nothing else either, the call
    failed by the error `otherwise`, if there is one.
    """

    def __init__(
        self, message: str, *, status: int | None, report: ErrorReport, otherwise: ModelError | None = None
    ) -> None:
        super().__init__(message, code=UNACCEPTED, status=status)
        self.report, self.otherwise = report, otherwise

    @property
    def is_doubtful(self) -> bool:
        """True if the status is a failure of the host, which may have been an accident."""
        return self.status is not None and self.status >= 500


@dataclass(frozen=True, slots=True)
class ErrorFactory:
    """The factory of errors for one model behind one profile. Every message is one line without any of `secrets`.

    `wanted` names the expected kind of answer.
    """

    profile: Profile
    model: str
    secrets: tuple[str, ...] = ()
    wanted: str = "a completion"

    def timeout(self, seconds: float) -> ModelError:
        """Return the error for a deadline that passed."""
        return TransportFailed(f"{self._who}: no complete answer within {seconds:g} s", code="timeout")

    def connection(self, failed: NoAnswer) -> ModelError:
        """Return the error for a connection that failed or broke."""
        host, why = self.profile.host, failed.why
        way = f" by way of the proxy {failed.proxy}" if failed.proxy else ""
        hint = failed.hint
        if failed.stage == "broken":
            return TransportFailed(f"{self._who}: the connection to {host}{way} broke ({why})", code="reset")
        if failed.stage == "proxy":
            problem = f"the proxy of the environment, {failed.proxy or 'none'}, does not lead to {host} ({why})"
            hint = hint or f"is it right, or does NO_PROXY have to name {host}?"
        elif failed.stage == "certificate":
            problem = f"the certificate of {host}{way} is not trusted ({why})"
        elif failed.stage == "tls":
            problem = f"{host}{way} does not speak TLS as it should ({why})"
        else:
            problem, hint = f"cannot be reached at {host}{way} ({why})", self.profile.unreachable_hint
        return TransportFailed(f"{self._who}: {problem}; {hint}", code="unreachable")

    def broken_off(self, finish_reason: str) -> ModelError:
        """Return the error for a finish reason that says the host failed while answering."""
        return TransportFailed(f"{self._who}: the host broke off the answer ({finish_reason})", code="provider_error")

    def bad_envelope(self, what: str, body: str = "") -> ModelError:
        """Return the error for a 200 that is not a completion."""
        message = f"{self._who}: the answer is not {self.wanted}: {what}{self._says(body)}"
        return TransportFailed(message, code="bad_envelope", status=200)

    def reported(self, error: object) -> ModelError:
        """Return the error for an error object inside a 200, as if its code had been the HTTP status."""
        report = _error_report({"error": error})
        if (status := _status_in(error) or _status_by_words(report)) is not None:
            return self._served(self._judged(status, report), report)
        message = f"{self._who}: the provider failed while answering{self._says(report.message)}"
        return self._served(TransportFailed(message, code="provider_error", status=200), report)

    def status(self, status: int, headers: Mapping[str, str], body: bytes, *, cap: int | None = None) -> ModelError:
        """Return the error for an HTTP status that is not a success. `cap` is the limit on the reply that was sent."""
        report, seconds = _error_report(_parsed(body)), retry_after(headers)
        report = report if seconds is None else replace(report, retry_after=seconds)
        untouched = table.OF_TOKENS.search(report.words) is not None and is_untouched(headers)
        return self._served(self._judged(status, report, untouched=untouched, cap=cap), report)

    def _served(self, error: ModelError, report: ErrorReport) -> ModelError:
        """Add the host that the report names to the error, and return it."""
        if report.served_by is not None:
            said = redact(" ".join(cleaned(report.served_by).split()), self.secrets)
            error.served_by = said[:_WORDS_OF_A_NAME] or None
        if isinstance(error, RequestNotAccepted) and error.otherwise is not None:
            error.otherwise.served_by = error.served_by
        return error

    def _judged(
        self, status: int, report: ErrorReport, *, untouched: bool = False, cap: int | None = None
    ) -> ModelError:
        """Return the error for an HTTP status.

        `untouched` is True if no part of a limit on tokens had been used before; `cap` is the limit on the reply.
        """
        says = self._says(report.message)
        meant = _status_by_codes(status, report)
        if 300 <= status < 400:
            message = f"{self._who}: answers with a redirect, which is not followed; check base_url"
            return RequestRefused(message, code=REDIRECT, status=status)
        if status in {413, 429} and (report.takes_too_much or untouched) and not report.is_unpaid:
            what = f"this request takes more tokens than {self.profile.host} allows in a minute or a day"
            remedy = "play with shorter memories or a smaller max_tokens, or have that limit raised"
            return RequestRefused(f"{self._who}: {what}; {remedy}{says}", code="context", status=status)
        if status in {413, 414} or (status in {400, 422, 500, 503} and report.is_too_long):
            what = f"the prompt is too long for the model's context; {self.profile.context_hint}"
            full = RequestRefused(f"{self._who}: {what}{says}", code="context", status=status)
            if cap is None or room_for_reply(report.message, cap) is None:
                return full
            message = f"{self._who}: max_tokens leaves no room for the prompt{says}"
            return self._not_accepted(message, status, report, full)
        no_model = report.plain_codes & table.NO_MODEL_CODES
        limited = meant == 429 and not no_model and not table.says_no_money(report.searchable_text)
        renews = status in _CLIENT_ERRORS and table.renews_soon(report.searchable_text)
        if (limited or renews) and not report.is_unpaid:
            # If no wait is stated, the policy's own applies; the words help to see which limit it was.
            message = f"{self._who}: rate limited{_for(report.retry_after)}{says}"
            return RateLimited(message, retry_after=report.retry_after, status=status)
        told = _QUOTED.sub(" ", report.searchable_text)  # words that are quoted may be the prompt's
        if status >= 400 and table.UNROUTED.search(told):
            message = f"{self._who}: {self._not_found(status, report, says)}"
            return RequestRefused(message, code=NOT_FOUND, status=status)
        lost = status < 200 or status in {408, 409, 425} or (status in {424, 499} and not report.is_moderation)
        lost = lost or (status in {400, 422, *_ABSENT} and bool(table.MOMENTARY.search(told)))
        unpaid = status == 500 and bool(report.is_unpaid or table.NO_MONEY.search(told))
        if lost or (status >= 500 and not unpaid):
            message = f"{self._who}: HTTP {status}{_for(report.retry_after)}{says}"
            wait = report.retry_after
            failed = TransportFailed(message, code=f"http_{status}", status=status, retry_after=wait)
            unserved = status == 501 or (status == 500 and table.UNSERVED.search(report.words))
            return self._not_accepted(message, status, report, failed) if unserved else failed
        if status == 451 or (meant == status and status not in {401, 402, 407, 429} and report.is_moderation):
            return RequestRefused(f"{self._who}: the prompt was refused{says}", code="moderation", status=status)
        error = self._final(status, report, says)
        if report.relayed and isinstance(error, ProviderRejected):
            message = f"{self._who}: the host behind it refuses (HTTP {status}){says}"
            return TransportFailed(message, code="provider_error", status=status)
        return error

    def _final(self, status: int, report: ErrorReport, says: str) -> ModelError:
        told = _QUOTED.sub(" ", report.searchable_text)
        meant = _status_by_codes(status, report)
        named = bool(report.plain_codes & table.NO_MODEL_CODES)
        unpaid = report.is_unpaid or (status in {*_CLIENT_ERRORS, 500} and meant != 401 and table.says_no_money(told))
        unpaid = unpaid or (status in _CLIENT_ERRORS and table.ASKS_FOR_MONEY.search(told) is not None)
        if unpaid or status == 402 or (status == 429 and not named):
            return self._rejected("no_credit", status, f"no credit is left (HTTP {status}){says}")
        closed = status == 400 and table.CLOSED.search(told)
        if meant == 401 or closed or (status in _CLIENT_ERRORS and table.BAD_KEY.search(told)):
            variable = " or ".join(self.profile.key_envs)
            what = f"does not accept the key in {variable}" if variable else "needs a key, and none was sent"
            hint = "" if variable else f"; name its variable as `api_key_env` in [providers.{self.profile.provider}]"
            return self._rejected("bad_key", status, f"{what} (HTTP {status}){hint}{says}")
        of_a_part = table.PARAMETER.search(table.without(told, self._names))
        named = named or table.names_no_model(report.words, self._names)
        named = named or (not of_a_part and table.names_no_model(report.message, self._names))
        if status in _ABSENT and not of_a_part and not report.is_page:
            named = named or any(re.search(rf"(?<![\w'’.-]){re.escape(name)}(?![\w-])", told) for name in self._names)
        if named and (status in {400, 422, *_ABSENT} or report.plain_codes & table.NO_MODEL_CODES):
            return self._rejected(NOT_FOUND, status, self._not_found(status, report, says))
        if status in {403, *_ABSENT} and not of_a_part:
            code = FORBIDDEN if status == 403 else NOT_FOUND
            what = f"the key may not use this model (HTTP {status}){says}"
            what = what if status == 403 else self._not_found(status, report, says)
            return RequestRefused(f"{self._who}: {what}", code=code, status=status)
        hint = next((hint for pattern, hint in _HINTS if pattern.search(report.words)), "")
        advice = f"; {hint.format(provider=self.profile.provider)}" if hint else UNKNOWN_REASON
        message = f"{self._who}: the request is not accepted (HTTP {status}){advice}{says}"
        return self._not_accepted(message, status, report)

    def _not_accepted(
        self, message: str, status: int, report: ErrorReport, otherwise: ModelError | None = None
    ) -> RequestNotAccepted:
        cleared = report.without(self.secrets)
        return RequestNotAccepted(message, status=status, report=cleared, otherwise=otherwise)

    def _not_found(self, status: int, report: ErrorReport, says: str) -> str:
        if table.ON_DEMAND.search(report.words):
            what = f"is not served on demand by {self.profile.host} (HTTP {status})"
            return f"{what}; name an inference profile of this account in its place (such as us.{self.model}){says}"
        hint = self.profile.unknown_model_hint.replace("{model}", self.model)
        if self._is_about_the_address(report):
            hint = f"does the API begin at {self.profile.base_url} (most begin at /v1)?"
        return f"is not found at {self.profile.host} (HTTP {status}); {hint}{says}"

    @property
    def _names(self) -> tuple[str, ...]:
        """The names that a host may have for the model: the id, its last part, and that part up to a colon."""
        last = self.model.rpartition("/")[2]
        return tuple(filter(None, (self.model, last, last.partition(":")[0])))

    def _is_about_the_address(self, report: ErrorReport) -> bool:
        """Return whether a 404 is about the path: a usual message for an unknown path that does not mention a model."""
        said = report.words
        return bool(_NO_PATH.search(said)) and "model" not in said.lower() and self.model not in said

    def _rejected(self, code: str, status: int, what: str) -> ModelError:
        return ProviderRejected(f"{self._who}: {what}", code=code, status=status)

    @property
    def _who(self) -> str:
        return f"{self.profile.provider}/{self.model}"

    def _says(self, words: str) -> str:
        """Return the provider's own words as the end of a message, or ""."""
        line = redact(" ".join(cleaned(words[:_WORDS_READ]).split()), self.secrets)
        if not line:
            return ""
        return f" [it says: {line if len(line) <= _FOREIGN else line[: _FOREIGN - 1] + '…'}]"


def _for(seconds: float | None) -> str:
    """Return the Retry-After delay as the end of a phrase, or "" if none is stated."""
    if seconds is None:
        return ""
    return f", for {seconds:,.10g} s" if seconds < _YEAR_S else ", for more than a year"


def failed_generation(body: bytes) -> str | None:
    """Return the text of the model if its host rejected its form, or None for other errors.

    The text is "" if the error does not repeat it. Source: https://console.groq.com/docs/structured-outputs.
    """
    parsed = _parsed(body)
    error = parsed.get("error") if isinstance(parsed, Mapping) else None
    written = error.get("failed_generation") if isinstance(error, Mapping) else None
    if isinstance(written, str):
        return written
    return "" if _error_report(parsed).codes & _GENERATION_FAILED else None


_LEAST_ROOM: Final = 256  # tokens: with less room for a reply, the prompt is too long
_ABOUT_PROMPT: Final = Pattern(r"context|window|prompt|input|message|seq_len", re.IGNORECASE)
_ABOUT_REPLY: Final = Pattern(r"complet|output|generat|requested|total|max_?(new_)?tokens", re.IGNORECASE)


def room_for_reply(words: str, cap: int) -> int | None:
    """Return a limit on the reply with which the prompt fits its window, or None if the prompt alone is too long.

    Hosts state the window and, of a request, its prompt or its total: `maximum context length is 8192 tokens. However,
    you requested 20300 tokens (300 in the messages, 20000 in the completion)`. An eighth of the room is left for longer
    prompts. None also if the numbers are no such statement about the limit of `cap` tokens.
    """
    if not _ABOUT_PROMPT.search(words):
        return None
    numbers = {_number(each) for each in re.findall(r"\d[\d,]{0,9}", words[:_WORDS_READ])}
    stated = sorted(numbers - {cap})
    parts = {*stated, *(one + two for one in stated[:_FEW] for two in stated[:_FEW] if one < two)}
    rooms: list[int] = []
    window, prompt = table.WINDOW.search(words[:_WORDS_READ]), table.COUNTED.search(words[:_WORDS_READ])
    if window is not None and prompt is not None:
        rooms += [_number(window[1]) - _number(prompt[1])]
    for total in stated[:_FEW] if cap in numbers and not rooms else ():
        if (taken := total - cap) in parts:
            rooms += [each - taken for each in stated if taken < each < total]
            break
    else:
        if len(stated) == 2 and not rooms:  # the prompt and the window, or the window and the total
            one, two = stated
            rooms += [two - one] if cap in numbers and two < one + cap else []
            rooms += [one - two + cap] if 0 < two - cap < one and _ABOUT_REPLY.search(words) else []
    room = min(rooms, default=0)
    return room - room // 8 if room >= min(cap, _LEAST_ROOM) else None


def _number(digits: str) -> int:
    return int(digits.replace(",", ""))


_FEW: Final = 12  # numbers of a message that are compared


def _parsed(body: bytes) -> Any:
    """Return the JSON of an error's body, or its text if it is not JSON."""
    text = body[:_READ].decode("utf-8-sig", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _status_in(error: object) -> int | None:
    """Return the HTTP status in the fields of an error inside a 200, the first that is from 300 to 599, or None."""
    keys = ("code", "type", "status", "status_code", "error_code")
    values = [error.get(key) for key in keys] if isinstance(error, Mapping) else []
    for value in values:
        if isinstance(value, str):
            known = table.STATUS_OF.get(table.normalized_code(value))
            found: float | None = int(value) if re.fullmatch(r"[3-5]\d\d", value) else known
        elif isinstance(value, int) and str(value) in table.STATUS_OF:
            found = table.STATUS_OF[str(value)]
        else:
            found = value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
        if found is not None and 300 <= found <= 599 and found == int(found):
            return int(found)
    return None


def _status_by_codes(status: int, report: ErrorReport) -> int:
    """Return 401 or 429 if the codes of an error with status 400, 403 or 422 stand for it, else the status itself."""
    codes = report.plain_codes
    if status not in {400, 403, 422} or report.is_unpaid or codes & (table.TOO_LONG_CODES | table.MODERATED_CODES):
        return status  # handled separately
    if codes & table.BAD_KEY_CODES:
        return 401
    return 429 if codes & table.RATE_LIMIT_CODES else status


_LIMITS: Final = (
    *(("anthropic-ratelimit-input-tokens-limit", "anthropic-ratelimit-input-tokens-remaining"),),
    *(("anthropic-ratelimit-tokens-limit", "anthropic-ratelimit-tokens-remaining"),),
    *(("x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens"),),
)
"""Headers with a limit on tokens and what is left of it: Anthropic's two, and OpenAI's, which other hosts copy."""


def is_untouched(headers: Mapping[str, str]) -> bool:
    """Return whether a limit on tokens is unused, so that a request it refuses is larger than the limit itself.

    Anthropic uses the same words for a limit that is used up and one that is too small for a single request.
    """
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    pairs = [(lower.get(limit, ""), lower.get(left, "")) for limit, left in _LIMITS]
    said = [(int(limit), int(left)) for limit, left in pairs if f"{limit}{left}".isdecimal() and limit and left]
    return any(0 < limit <= left for limit, left in said)


def _status_by_words(report: ErrorReport) -> int | None:
    """Return the HTTP status that the words of an error inside a 200 stand for, or None."""
    found = (
        (403, report.is_moderation),
        (400, report.is_too_long),
        (401, table.BAD_KEY.search(report.searchable_text)),
        (402, table.says_no_money(report.searchable_text)),
        (404, table.UNROUTED.search(report.searchable_text)),
        (429, table.RATE_LIMITED.search(report.searchable_text) or table.renews_soon(report.searchable_text)),
    )
    return next((status for status, told in found if told), None)


def _error_report(body: object) -> ErrorReport:
    """Read an error body in any of the shapes that hosts use.

    `{"error": {...}}`, `{"error": "..."}`, FastAPI's `{"detail": [{"loc": [...], "msg": "..."}]}`, `{"errors": ...}`,
    RFC 9457's `title` and `detail`, OAuth's `error_description`, Gemini's list of one, text, an error in an error.
    """
    found = _Reading()
    words = _words(body, found)
    return ErrorReport(
        words[:_WORDS_READ],
        frozenset(found.codes),
        found.retry_after,
        frozenset(found.fields),
        found.served_by,
        found.relayed,
        isinstance(body, str),
    )


_DEEPEST = 8  # levels of nested errors that are read
_MOST_OF_A_LIST = 8
_SAID = (
    *("title", "error", "message", "msg", "detail", "error_message", "error_description", "description"),
    *("status_msg", "error_msg", "blockReason", "blockReasonMessage"),
    *("fieldViolations", "errors", "details"),
)
_CODED = ("code", "type", "__type", "param", "status", "status_code", "error_code")
_FIELDS = ("loc", "param", "field", "property", "pointer", "instancePath", "path", "source")
# Fields that hold no message. Some hold parts of the request, which may be the prompt.
_NO_WORDS = frozenset((*_CODED, *_FIELDS, "input", "ctx", "object", "id", "request_id", "timestamp", "metadata", "url"))


@dataclass(slots=True)
class _Reading:
    """Findings collected while walking an error body, besides its message."""

    codes: set[str] = field(default_factory=set)
    retry_after: float | None = None
    fields: set[str] = field(default_factory=set)
    served_by: str | None = None
    relayed: bool = False


def _words(said: object, found: _Reading, depth: int = 0) -> str:
    """Return the message in a part of an error body, each text with the field it is about, and collect findings."""
    if depth > _DEEPEST:
        return ""
    if isinstance(said, str):
        return _words_of_text(said[:_WORDS_READ], found, depth)
    if isinstance(said, list):
        return "; ".join(filter(None, (_words(each, found, depth + 1) for each in said[:_MOST_OF_A_LIST])))
    if not isinstance(said, Mapping):
        return ""
    # AWS and Tencent write keys with a capital
    said = {str(key)[:1].lower() + str(key)[1:]: value for key, value in reversed(list(said.items()))}
    where = next(filter(None, (_field(said.get(name), name) for name in _FIELDS)), "")
    found.codes |= {str(said[key])[:100] for key in _CODED if isinstance(said.get(key), (str, int)) and said[key] != ""}
    if where:
        found.codes.add(where.rpartition(".")[2])  # the field's own name, as in `param`
        found.fields.update(re.findall(r"\w+", where))
    # Gemini: the delay of a RetryInfo, and the reason of an ErrorInfo
    delay, reason = said.get("retryDelay"), said.get("reason")
    if isinstance(delay, str) and (seconds := duration(delay)) is not None:
        found.retry_after = seconds
    if isinstance(delay := said.get("resets_in_seconds"), (int, float)):  # OpenAI's limits of subscriptions
        found.retry_after = _plausible(float(delay))
    found.codes |= {reason[:100]} if isinstance(reason, str) and reason else set()
    parts = [_words(said[key], found, depth + 1) for key in _SAID if said.get(key)]
    if isinstance(state := said.get("status"), Mapping):  # CLOVA Studio
        parts.append(_words(state, found, depth + 1))
    if not any(parts):  # Django and Rails: messages by the name of the field
        parts = ["; ".join(_by_field(said, found, depth))]
    words = _joined([*parts, _words_in_metadata(said.get("metadata"), found, depth)])
    return f"{where}: {words}" if words and where and not re.search(rf"\b{re.escape(where)}\b", words) else words


def _words_of_text(text: str, found: _Reading, depth: int) -> str:
    """Return a text; if it ends with the JSON of an error, return the text before it and the message in the JSON."""
    start = 0 if text.lstrip().startswith("[") else text.find("{")
    if start < 0:
        return text.strip()
    try:
        inner = json.loads(text[start:])
    except (ValueError, RecursionError):
        return text.strip()
    return _joined([text[:start].strip(" :-\n"), _words(inner, found, depth + 1)]) or text.strip()


def _by_field(said: Mapping[str, object], found: _Reading, depth: int) -> Iterator[str]:
    for name, value in list(said.items())[:_MOST_OF_A_LIST]:
        told = isinstance(value, (list, Mapping)) or (depth and isinstance(value, str))
        if told and name not in _NO_WORDS and (words := _words(value, found, depth + 1)):
            found.fields.add(str(name)[:100])
            yield f"{str(name)[:100]}: {words}"


def _words_in_metadata(metadata: object, found: _Reading, depth: int) -> str:
    """Return the message of the host behind OpenRouter, and collect its codes and name."""
    if not isinstance(metadata, Mapping):
        return ""
    if metadata.get("reasons") or metadata.get("flagged_input"):
        found.codes.add("flagged")
    if isinstance(host := metadata.get("provider_name"), str) and host.strip():
        found.served_by = host[:_READ]
    behind = _Reading()
    words = _words(metadata.get("raw"), behind, depth + 1)
    found.relayed = bool(words)
    # credit and keys at that host are the gateway's, not the user's
    of_the_gateway = table.NO_CREDIT | table.BAD_KEY_CODES
    found.codes |= {code for code in behind.codes if table.normalized_code(code) not in of_the_gateway}
    return words


def _field(named: object, name: str) -> str:
    """Return the name of a field with dots (`messages.0.content`), or ""."""
    if isinstance(named, Mapping):  # JSON:API
        return _field(named.get("pointer") or named.get("parameter"), "pointer")
    if isinstance(named, list):
        return ".".join(str(part)[:100] for part in named[:12] if isinstance(part, (str, int)))
    if not isinstance(named, str) or (name == "path" and "/" in named):  # the path of the URL
        return ""
    return ".".join(filter(None, named[:200].removeprefix("#").split("/")))


def _joined(parts: Sequence[str]) -> str:
    """Join texts, without those that another one contains."""
    kept: list[str] = []
    for part in filter(None, parts):
        if not any(part in other for other in kept):
            kept = [*(other for other in kept if other not in part), part]
    return ": ".join(each.rstrip(" :") for each in kept)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a response asks to wait, or None if it states no usable time.

    `retry-after-ms` has priority over `Retry-After` (seconds, a duration or a date), and both over `x-ratelimit-reset`
    headers. Of those, the longest reset of an exhausted limit counts, else the longest of any limit. A reset is capped
    at 60 s, unless the limit is exhausted until a point in time.
    """
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    now = _moment(lower.get("date", ""))
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if _NUMBER.fullmatch(lower.get(name, "")):
            return _plausible(float(lower[name]) * unit)
    if "retry-after" in lower:
        seconds = duration(lower["retry-after"])
        return _since(now, _moment(lower["retry-after"])) if seconds is None else seconds
    resets = list(_resets(lower, now))
    return max([seconds for used_up, seconds in resets if used_up] or [seconds for _, seconds in resets], default=None)


def duration(text: str) -> float | None:
    """Return the seconds of `36.5s`, `6m0s`, `20ms` or `1e9d`, or None for any other text."""
    found = _DURATION.fullmatch(text)
    if found is None:
        return None
    return _plausible(sum(float(part or 0) * unit for part, unit in zip(found.groups(), _UNITS_S, strict=True)))


def _plausible(seconds: float) -> float | None:
    return seconds if 0 <= seconds < math.inf else None


def _moment(text: str) -> float | None:
    """Return the seconds since 1970 of a date with a time zone, or None."""
    try:
        moment: datetime = parsedate_to_datetime(text)
        return None if moment.tzinfo is None else moment.timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _since(now: float | None, moment: float | None) -> float | None:
    return None if now is None or moment is None else _plausible(moment - now)


def _resets(lower: Mapping[str, str], now: float | None) -> Iterator[tuple[bool, float]]:
    """Yield (is the limit exhausted, seconds until its reset) for each rate limit with a time of reset."""
    for limit in ("-requests", "-tokens", ""):
        text = lower.get(f"x-ratelimit-reset{limit}", "")
        used_up = lower.get(f"x-ratelimit-remaining{limit}") == "0"
        number = float(text) if _NUMBER.fullmatch(text) else None
        longest = _LONGEST_RESET_S
        if number is not None and number >= _EPOCH_S:
            seconds = _since(now, number / 1000 if number >= _EPOCH_MS else number)
            longest = math.inf if used_up else longest
        else:
            seconds = duration(text) if number is None else number
        if seconds is not None:
            yield used_up, min(seconds, longest)
