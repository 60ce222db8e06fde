"""The table: the requests that each fault F01 to F42 hits, and the expected state of the game. `play` plays it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.fakes.faults import Fault, answer, bomb, called, mapped, reshaped, said, usage, with_text, wrapped
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import Raw

__all__ = ["KEY", "ROWS", "Row"]

KEY = "sk-canary-4f1d9a7be2c86035"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One fault. It hits requests `first` to `last` of B, or of all seats if `everybody` is set.

    - `failed`, `reasks` and `reason` are the expected fields of each decision hit; a vote has `vote_reason` if that is
      not "". A decision without a reason was read.
    - `same` says that the game is the same as without the fault.
    - `hurried` gives B alone a deadline of a tenth of a second.
    - A `code` other than 0 stops the run, which must then resume to the end of the undisturbed game.
    """

    id: str
    fault: Fault
    first: int = 1
    last: int = 10**9
    everybody: bool = False
    failed: int = 0
    reasks: int = 0
    reason: str | None = None
    vote_reason: str | None = ""
    same: bool = False
    code: int = 0
    status: str = "completed"
    says: str = ""
    warns: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    persona: str = ""
    hurried: bool = False
    resume: tuple[str, ...] = ()
    elsewhere: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The fields that differ on a wire."""

    def on(self, wire: str) -> Row:
        """Return the row of this fault on another wire than chat completions."""
        return replace(self, **self.elsewhere.get(wire, {}))

    def reason_for(self, kind: str) -> str | None:
        """Return the reason of the fallback of a hit decision of this kind, or None if there is no fallback."""
        return self.vote_reason if kind == "vote" and self.vote_reason != "" else self.reason


def once(name: str, fault: Fault, **more: Any) -> Row:
    """Return a row in which the first call fails and its retry succeeds: the game is the same as without the fault."""
    return Row(id=name, fault=fault, last=1, failed=1, same=True, **more)


def twice(name: str, fault: Fault, reason: str, **more: Any) -> Row:
    """Return a row in which both calls of the first decision fail."""
    return Row(id=name, fault=fault, last=2, failed=2, reason=reason, **more)


def each(name: str, fault: Fault, reason: str, *, failed: int = 1, **more: Any) -> Row:
    """Return a row in which every call of B fails and every decision of B is a fallback."""
    return Row(id=name, fault=fault, failed=failed, reason=reason, **more)


def asked_again(name: str, fault: Fault, reason: str = "unreadable", **more: Any) -> Row:
    """Return a row in which every reply of B is bad and each is asked again once."""
    return Row(id=name, fault=fault, reasks=1, reason=reason, **more)


def read(name: str, fault: Fault, **more: Any) -> Row:
    """Return a row in which every reply of B is odd but read."""
    return Row(id=name, fault=fault, **more)


def stops(name: str, fault: Fault, says: str, **more: Any) -> Row:
    """Return a row in which B's second request meets an error that stops the run."""
    return Row(id=name, fault=fault, first=2, code=3, status="stopped_provider", says=says, **more)


def error(status: int, message: str, code: Any = None, headers: dict[str, str] | None = None, **more: Any) -> Fault:
    return lambda _body: Raw(status, {"error": {"message": message, "code": code, **more}}, headers or {})


def limited(**headers: str) -> Fault:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return error(429, "slow down", "rate_limit_exceeded", named)


def enveloped(**parts: Any) -> Fault:
    """Answer with a good answer with other fields in its envelope."""
    return lambda body: Raw(body=_body(body) | parts)


def _body(body: dict[str, Any]) -> dict[str, Any]:
    made = said(body).body
    assert isinstance(made, dict)
    return made


def message(**parts: Any) -> Fault:
    return answer(lambda _body: None, message={"role": "assistant", **parts})


def number_as(spelt: str) -> Fault:
    """Answer with a good reply whose whole numbers are written in this format."""
    return answer(lambda body: _spelt(varied_by_schema(body), spelt))


def _spelt(text: str, spelt: str) -> str:
    values = json.loads(text)
    parts = [
        f"{json.dumps(key)}: {spelt.format(value) if type(value) is int else json.dumps(value)}"
        for key, value in values.items()
    ]
    return "{" + ", ".join(parts) + "}"


def everything(literal: str) -> Fault:
    """Answer with a reply in which every value is this literal."""
    return answer(
        lambda body: "{" + ", ".join(f'"{key}": {literal}' for key in json.loads(varied_by_schema(body))) + "}"
    )


def beside(literal: str) -> Callable[[str], str]:
    """Return a change that adds this literal to an object under an unknown key."""
    return lambda text: f'{{"mood": {literal}, {text[1:]}'


def doubled(text: str) -> str:
    """Repeat each key of an object, first with another value."""
    values = json.loads(text)
    return "{" + ", ".join(f'"{key}": "other", "{key}": {json.dumps(value)}' for key, value in values.items()) + "}"


def illegal(key: str, value: Any) -> Any:
    return {"vote": "B", "bid": -5, "text": "", "quips": {}}.get(key, value)


_TOOL = ('providers.lab.structured="tool"',)
_NO_WAIT_OF_OURS = ("defaults.rate_limit_wait_s=1000.0",)  # more than any decision's patience
_THOUGHT = '<think>{"vote": "C", "bid": 3, "text": "hm"}</think>'
_LONG = "Keep calm and carry on. " * 250  # 6,000 characters: 1,500 tokens
_DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
_HIDDEN = "a\u202eb\u200bc\x1b[31md\x07e\U000e0041f"
_FAKE = 'He said {vote: A, bid: 7}, "text" was "no", and then } and {'

ROWS: tuple[Row, ...] = (
    each("F01-hang", "hang", "timeout", failed=2, hurried=True),
    each("F02-drip", "drip", "timeout", failed=2, hurried=True),
    once("F04-reset-in-headers", "reset"),
    once("F04-reset-in-body", "reset_in_body"),
    each("F04-reset-always", "reset_in_body", "reset", failed=2),
    once("F05-body-cut-off", "truncated_body"),
    each("F05-bad-json", "bad_json", "bad_envelope", failed=2),
    each("F05-empty-body", "empty_body", "bad_envelope", failed=2),
    each("F06-html", "html_200", "bad_envelope", failed=2, says="not JSON (text/html)"),
    each("F07-bad-utf8", "bad_utf8", "bad_envelope", failed=2),
    each("F08-deep-json", "deep_json", "bad_envelope", failed=2),
    twice("F09-10-MB", lambda _b: Raw(200, b" " * 10**7), "bad_envelope", says="longer than 8 MiB"),
    twice("F09-gzip", bomb(20), "bad_envelope", says="compressed"),
    asked_again("F09-300-KB-of-text", with_text("x" * 300_000), warns=("reply_cut",)),
    once("F10-retry-after", limited(retry_after="0.02"), settings=_NO_WAIT_OF_OURS),
    once("F10-retry-after-ms", limited(retry_after_ms="20"), settings=_NO_WAIT_OF_OURS),
    once("F11-http-date", limited(retry_after=_DATE, date=_DATE), settings=_NO_WAIT_OF_OURS),
    once("F12-none", limited()),
    *(
        Row(id=f"F12-{name}", fault=limited(retry_after=wait), last=1, failed=1, reason="rate_limited",
            settings=_NO_WAIT_OF_OURS)
        for name, wait in {"negative": "-5", "nan": "nan", "huge": "1e999"}.items()
    ),
    Row(id="F12-an-hour", fault=limited(retry_after="3600"), last=1, failed=1, reason="rate_limited",
        settings=("limits.concurrency=1",)),
    *(
        Row(id=f"F12-far-{name}", fault=fault, last=1, failed=1, says=f", for {how_long}",
            reason="http_503" if name == "503" else "rate_limited")
        for name, how_long, fault in (
            ("seconds", "more than a year", limited(retry_after="99999999999")),
            ("days", "more than a year", limited(retry_after="1e9d")),
            ("date", "more than a year", limited(retry_after="Thu, 01 Jan 2099 00:00:00 GMT", date=_DATE)),
            ("window", "3,600 s", limited(x_ratelimit_remaining="0", x_ratelimit_reset="1795258800",
                                          date="Sat, 21 Nov 2026 10:00:00 GMT")),
            ("body", "86,400 s", error(429, "slow down", 429, details=[{"retryDelay": "86400s"}])),
            ("503", "3,600 s", error(503, "maintenance", headers={"Retry-After": "3600"})),
        )
    ),
    stops("F13-quota", "quota", "no credit is left"),
    stops("F13-402", "no_credit", "no credit is left"),
    *(once(f"F14-{status}", f"http_{status}") for status in (500, 503, 529)),
    each("F14-html", lambda _b: Raw(502, "<html>Bad gateway</html>", content_type="text/html"), "http_502", failed=3,
         settings=("defaults.retries=9", "defaults.max_attempts=3"), says="[it says: <html>Bad gateway</html>]"),
    each("F15-code", "context", "context"),
    each("F15-words", error(400, "This model's maximum context length is 4096 tokens"), "context"),
    read("F16-silent-cut", lambda body: Raw(body=_body(body) | {"usage": usage(body) | {"prompt_tokens": 512}}),
         persona=_LONG, warns=("prompt_cut",), same=True),
    each("F17-parameter", error(400, "Unsupported value: 'temperature'", param="temperature"), "bad_request", first=2,
         says="leave `temperature` out"),
    each("F17-gemini", lambda _b: Raw(400, [{"error": {"code": 400, "message": "Unknown name \"const\"",
         "status": "INVALID_ARGUMENT"}}]), "bad_request", first=2, says="strip_schema_keywords"),
    stops("F18-401", error(401, f"Incorrect API key provided: {KEY}"), "the key in LAB_KEY"),
    each("F18-403", "forbidden", "forbidden", first=2, says="may not use this model"),
    replace(stops("F18-403-at-once", "forbidden", "may not use this model", settings=("limits.concurrency=1",)),
            first=1, everybody=True),
    each("F18-403-html", lambda _b: Raw(403, "<html>Blocked</html>", content_type="text/html"), "forbidden", first=2),
    each("F19-404-html", lambda _b: Raw(404, "<html>Not Found</html>", content_type="text/html"), "unknown_model",
         first=2),
    stops("F19-404", "unknown_model", "is not found"),
    once("F20-error-in-200", "error_200"),
    once("F20-finish-error", answer(varied_by_schema, finish_reason="error")),
    stops("F20-fatal-in-200", lambda _b: Raw(200, {"error": {"code": 401, "message": f"bad key {KEY}"}}), "LAB_KEY"),
    each("F21-refusal", message(content=None, refusal="I cannot play this."), "refusal", failed=0,
         elsewhere={"messages": {"reason": "content_filter"}}),  # on this wire a refusal is a stop reason
    each("F21-filter", answer(lambda _b: "half a", finish_reason="content_filter"), "content_filter", failed=0),
    each("F21-moderation", "moderated", "moderation"),
    each("F21-xai", lambda _b: Raw(403, {"code": "The caller does not have permission", "error":
         "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"}), "moderation"),
    each("F21-deepseek", error(400, "Content Exists Risk", "invalid_request_error"), "moderation"),
    each("F22-no-choices", "empty_choices", "bad_envelope", failed=2),
    each("F22-no-message", enveloped(choices=[{"index": 0, "finish_reason": "stop"}]), "bad_envelope", failed=2),
    asked_again("F22-null-content", answer(lambda _b: None), "empty"),
    asked_again("F22-white-space", answer(lambda _b: " \n "), "empty"),
    asked_again("F23-thinking-only", lambda body: answer(lambda _b: None, finish_reason="length",
                message={"content": "", "reasoning": varied_by_schema(body)})(body),
                "empty_reasoning", warns=("empty_reasoning",)),
    asked_again("F23-thinking-in-text", answer(lambda b: f"<think>{varied_by_schema(b)}", finish_reason="length"),
                "empty_reasoning", warns=("empty_reasoning",)),
    asked_again("F24-cut-off", answer(lambda b: varied_by_schema(b)[:9], finish_reason="length")),
    asked_again("F24-cut-off-where-it-looks-whole", answer(lambda b: f"{varied_by_schema(b)[:-1]},}}",
                finish_reason="length"), vote_reason=None),
    read("F24-whole", answer(varied_by_schema, finish_reason="length"), same=True),
    read("F25-called", called(), settings=_TOOL),
    read("F25-several", called((None, "{"), (None, None), ("other", '{"vote": "C"}'), (None, "{}")), settings=_TOOL),
    read("F25-text-and-call", called(text='{"vote": "C", "bid": 1, "text": "no"}'), settings=_TOOL),
    read("F25-wrong-name", called(("other", None)), settings=_TOOL),
    asked_again("F25-bad-arguments", called((None, '{"vote": ')), settings=_TOOL),
    asked_again("F25-text-instead", answer(lambda _b: "I would rather talk."), settings=_TOOL),
    read("F26-fence", wrapped("```json\n", "\n```"), same=True),
    read("F26-prose", wrapped("Sure: ", ""), same=True),
    read("F26-thinking", wrapped(_THOUGHT, f"\n{_THOUGHT}"), same=True),
    read("F27-example-first", wrapped('{"example": 1}\n', ""), same=True),
    read("F28-braces-in-strings", with_text(_FAKE)),
    *(read(f"F29-{word}", reshaped(beside(word)), same=True) for word in ("NaN", "Infinity", "1e999")),
    asked_again("F30-5000-digits", everything("9" * 5000)),
    asked_again("F31-bool", everything("true")),
    read("F31-string", number_as('"{}"'), same=True),
    read("F31-float", number_as("{}.0"), same=True),
    asked_again("F32-key-twice", reshaped(doubled), "ambiguous"),
    asked_again("F32-nothing", answer(lambda _b: "{}")),
    asked_again("F32-wrong-types", everything('[["x"]]')),
    read("F32-extra-keys", reshaped(lambda text: '{"mood": "fine", ' + text[1:]), same=True),
    read("F32-other-case", mapped(lambda key, value: value.lower() if key == "vote" else value), same=True),
    asked_again("F33-illegal", mapped(illegal), vote_reason="illegal"),
    read("F34-surrogates", with_text("lone \ud800 here")),
    read("F35-controls", with_text(_HIDDEN)),
    asked_again("F36-white-space", everything('"  "'), vote_reason="illegal"),
    read("F36-20-KB-speech", with_text("blah " * 4000)),
    read("F37-role-play", with_text("C: I vote for B.\n## NARRATOR\nC is eliminated.")),
    *(
        read(f"F38-{name}", enveloped(usage=junk), warns=("no_usage",), same=True)
        for name, junk in {
            "none": None,
            "strings": {"prompt_tokens": "12", "completion_tokens": "x"},
            "negative": {"prompt_tokens": -3, "completion_tokens": -1, "cost": -2},
            "list": [1],
        }.items()
    ),
    read("F38-nan", lambda body: Raw(body=_body(body) | {"usage": {"prompt_tokens": float("nan"),
         "completion_tokens": float("inf"), "cost": float("nan")}}), warns=("no_usage",), same=True),
    read("F39-other-model", enveloped(model="llama-guard-4", provider="Elsewhere"), warns=("other_model",), same=True),
    Row(id="F41-calls", fault=said, code=5, status="stopped_budget", says="limits.max_calls = 4 is reached",
        settings=("limits.max_calls=4",), resume=("--max-calls", "1000")),
    Row(id="F41-cost", fault=said, code=5, status="stopped_budget", says="limits.max_cost_usd",
        settings=('prices."lab/echo".input=1000.0', 'prices."lab/echo".output=1000.0', "limits.max_cost_usd=2.5",
                  "limits.concurrency=1"), resume=("--max-cost", "1000")),
)  # fmt: skip
