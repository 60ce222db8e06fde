"""Remote models: endpoints, one call to a model with its deadline, and the negotiation with its host.

If a host does not accept a request (`faults.RequestNotAccepted`), its error names a part of the request (`temperature`,
`response_format`) or no part. Either way the request is sent again without the part that may have caused the error, or
with the part renamed or expressed in another way, until it is accepted. The result (`base.Adjustments`) applies to all
later calls of the model. `wire` builds bodies and reads answers, and `pacing` asks again after a failure.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from agentsim.engine.wording import cleaned, counted
from agentsim.errors import LocalShortage, ModelError
from agentsim.models.base import UNADJUSTED, Adjustments, Call, Completion, Sampling, StructuredMode, Usage
from agentsim.models.faults import (
    AnswerNotRead,
    ErrorFactory,
    ErrorReport,
    NoAnswer,
    RequestNotAccepted,
    failed_generation,
    room_for_reply,
)
from agentsim.models.host_words import ABOUT_CAP, ABOUT_SCHEMA, ABOUT_SYSTEM
from agentsim.models.keys import REDACTED, redact_reply
from agentsim.models.pacing import Deadline, RateLimiter, RateLimits, Slot
from agentsim.models.profiles import Profile, is_host
from agentsim.models.wire import WIRES, Wire
from agentsim.models.wire.common import Function, at, function_of, storable, word
from agentsim.models.wire.streams import BrokenOff, is_stream, joined
from agentsim.patterns import Pattern

if TYPE_CHECKING:
    from agentsim.models.clients import Client
    from agentsim.models.profiles import Service


_SHORTAGE_S = (0.05, 0.1, 0.2, 0.4, *[1.0] * 60)  # waits while this machine has no free connection
_KIND = 200  # characters of a content type in a message
_SHARED: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, str | None], RateLimiter]] = WeakKeyDictionary()


def shared_limiter(host: str, key: str | None, limits: RateLimits) -> RateLimiter:
    """Return the rate limiter of a host (`host:port`) and key in the running event loop, and add these limits to it."""
    limiters = _SHARED.setdefault(asyncio.get_running_loop(), {})
    limiter = limiters.setdefault((host, key), RateLimiter(limits))
    limiter.tighten(limits)
    return limiter


class Endpoint:
    """One address with one key: its connections and its rate limiter. It belongs to one event loop.

    It shares the event loop's rate limiter for this host and key, and adds its `limits`.
    """

    def __init__(
        self,
        base_url: str,
        key: str | None,
        *,
        limits: RateLimits = RateLimits(),  # noqa: B008 - it is frozen
        service: Service = "openai",
        options: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.base_url, self.key, self.limits = base_url, key, limits
        self._service: Service = service
        self._options = options
        self._limiter: RateLimiter | None = None
        self._client: Client | None = None

    @property
    def limiter(self) -> RateLimiter:
        """The rate limiter of this host and key, created on first use for the running event loop."""
        if self._limiter is None:
            self._limiter = shared_limiter(urlsplit(self.base_url).netloc, self.key, self.limits)
        return self._limiter

    def open(self) -> Client:
        """Return the official client. The first call imports it, which is slow."""
        if self._client is None:
            from agentsim.models.clients import Client

            self._client = Client(self._service, self.base_url, self.key, self._options)
        return self._client

    async def aclose(self) -> None:
        """Close the connections; may be called again."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


class Endpoints:
    """The endpoints of one run: one for each address, key and client, with at most `concurrency` calls each at once.

    `patience_s` is the least patience of all players.
    """

    def __init__(self, concurrency: int | None = None, patience_s: float = math.inf) -> None:
        self._concurrency, self._patience_s = concurrency, patience_s
        self._open: dict[object, tuple[str, Endpoint]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def at(self, profile: Profile, key: str | None) -> Endpoint:
        """Return the endpoint of a profile. If two profiles share an address, the stricter limits apply."""
        opened = Endpoint(profile.base_url, key, service=profile.service, options=profile.client_options)
        new = (profile.provider, opened)
        settings = (profile.base_url, key, profile.service, *sorted(profile.client_options.items()))
        _, endpoint = self._open.setdefault(settings, new)
        asked = (profile.spacing_s, profile.requests_per_minute, profile.tokens_per_minute)
        endpoint.limits = endpoint.limits.joined(RateLimits(self._concurrency, *asked, self._patience_s))
        return endpoint

    def notes(self) -> list[str]:
        """Return a note for each provider whose calls are delayed: `8 of 16 slots at openrouter`."""
        limiters = ((name, endpoint._limiter) for name, endpoint in self._open.values())
        return [f"{note} at {name}" for name, limiter in limiters if limiter is not None and (note := limiter.note())]

    async def aclose(self) -> None:
        """Close all endpoints."""
        for _, endpoint in self._open.values():
            await endpoint.aclose()


class RemoteModel:
    """A `Model` behind an endpoint that uses the wire of its profile.

    Its `name` is the scenario's: the provider, a slash and the model's id.
    """

    def __init__(self, name: str, profile: Profile, endpoint: Endpoint, known: Adjustments | None = None) -> None:
        """Start with the adjustments `known` from an earlier process of the run, under which the model has answered."""
        self.name, self.provider = name, profile.provider
        self._profile, self._endpoint = profile, endpoint
        self._model = name.partition("/")[2]
        self._faults = ErrorFactory(profile, self._model, (endpoint.key,) if endpoint.key else ())
        self._wire = WIRES[profile.wire]
        self._negotiation = Negotiation(self._wire, profile, endpoint, known)

    @property
    def limiter(self) -> RateLimiter:
        return self._negotiation.limiter

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """Make one attempt. The deadline starts when a request is sent and covers the whole answer.

        An error about a parameter is no attempt: the model has read nothing, and another request is sent.
        """

        def request(adjustments: Adjustments) -> tuple[dict[str, Any], Function | None]:
            profile, asked, sampled = fitted(adjustments, self._profile, call, sampling, self._wire)
            body = self._wire.body(profile, self._model, asked, sampled)
            return trimmed(adjustments, body), function_of(profile, asked)

        async def send(adjustments: Adjustments) -> Completion:
            return await self._attempt(*request(adjustments), call, sampling.timeout_s)

        return await self._negotiation.completion(call, lambda adjustments: request(adjustments)[0], send)

    async def _attempt(
        self, body: Mapping[str, Any], function: Function | None, call: Call, timeout_s: float
    ) -> Completion:
        self._endpoint.open()  # import before the deadline starts
        try:
            completion = await self._exchanged(body, function, timeout_s)
        except TimeoutError:
            raise self._faults.timeout(timeout_s) from None
        except AnswerNotRead as unread:
            raise self._faults.bad_envelope(str(unread)) from None
        host, pin = completion.served_by, self._profile.pin
        asked = at(body, "provider", "only") == [pin]  # a player's `extra` may choose its own hosts
        if host is not None and pin is not None and asked and not is_host(host, pin):
            completion = replace(completion, pin=pin)
        # The reader could decode a key, or assemble it from pieces of the text.
        said = call.read(completion) if call.read is not None and self._faults.secrets else ""
        if redact_reply(said, self._faults.secrets) == said:
            return completion
        return replace(
            completion, text=REDACTED, logprobs=None, unusable="The reply spells out a key, and is not kept."
        )

    async def _exchanged(self, body: Mapping[str, Any], function: Function | None, timeout_s: float) -> Completion:
        """Return the answer to one request, after waiting while this machine has no free connection.

        Nothing is sent during that wait. Raises `LocalShortage` after a minute.
        """
        for wait_s in _SHORTAGE_S:
            try:
                async with Deadline(timeout_s):
                    return await self._exchange(body, function)
            except LocalShortage:
                await asyncio.sleep(wait_s)
        async with Deadline(timeout_s):
            return await self._exchange(body, function)

    async def _exchange(self, body: Mapping[str, Any], function: Function | None) -> Completion:
        """Send the request once and read the answer.

        Raises `ModelError`, or `AnswerNotRead` for an answer that is not read.
        """
        try:
            answer = await self._endpoint.open().post(self._wire.PATH, body)
        except NoAnswer as error:
            raise self._faults.connection(error) from None
        if not 200 <= answer.status < 300:
            if (written := failed_generation(answer.body)) is None:
                cap = next((body[name] for name in _MAX_TOKENS if isinstance(body.get(name), int)), None)
                raise self._faults.status(answer.status, answer.headers, answer.body, cap=cap)
            why = None if written.strip() else "The host could make no JSON of the reply."
            return Completion(storable(written, self._faults.secrets), unusable=why)
        envelope = decoded(answer.body, answer.headers.get("content-type", ""), self._faults)
        return completion_in(self._wire, envelope, self._faults, function)

    async def aclose(self) -> None:
        """Close the connections, which other models with the same address and key share."""
        await self._endpoint.aclose()


def decoded(body: bytes, content_type: str, faults: ErrorFactory) -> Any:
    """Return the JSON of a 200, or of a stream of events. Raises `ModelError` for a body that is neither."""
    try:
        text = body.decode("utf-8-sig")  # some servers begin with a byte order mark
        if text.lstrip()[:1] in {"{", "["}:
            return json.loads(text)
        return joined(text) if is_stream(text) else json.loads(text)
    except BrokenOff:  # its words are not repeated: redaction would not recognize a key in pieces
        raise faults.bad_envelope("a stream that ends before the answer") from None
    except UnicodeDecodeError:
        raise faults.bad_envelope("not UTF-8") from None
    except RecursionError:
        raise faults.bad_envelope("JSON nested too deeply") from None
    except ValueError:
        kind = " ".join(cleaned(content_type[:_KIND]).split()) or "no content type"
        what = f"not JSON ({kind})" if body.strip() else "empty"
        raise faults.bad_envelope(what, body[:1000].decode("utf-8", "replace")) from None


def completion_in(wire: Wire, envelope: object, faults: ErrorFactory, function: Function | None = None) -> Completion:
    """Return the completion in a decoded answer.

    Raises `ModelError` for an error inside a 200 and for an answer without a completion; the error carries its usage.
    """
    if isinstance(envelope, list) and envelope and isinstance(envelope[0], dict):
        envelope = envelope[0]  # Gemini's errors come as a list of one
    if not isinstance(envelope, dict):
        raise faults.bad_envelope(f"a JSON {type(envelope).__name__}", str(envelope)[:1000])
    try:
        return wire.completion(envelope, faults, function)
    except RecursionError:
        raise faults.bad_envelope("JSON nested too deeply") from None
    except ModelError as error:
        said = wire.usage(envelope)
        error.usage = None if said == Usage() else said
        error.served_by = error.served_by or word(envelope.get("provider"), faults.secrets)
        raise


Send: TypeAlias = Callable[[Adjustments], Awaitable[Completion]]
"""Sends one request under these adjustments. Raises `ModelError`; `RequestNotAccepted` is negotiated."""
BodyOf: TypeAlias = Callable[[Adjustments], dict[str, Any]]
"""Builds the body of the request under these adjustments."""

_MOST_REQUESTS: Final = 24
"""The most requests for one call before its error is final."""
_MOST_HOPELESS: Final = 64  # remembered errors that no adjustments could prevent

_MAX_TOKENS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_OF_SCHEMA: Final = frozenset(("response_format", "tools", "tool_choice", "text", "output_config.format"))
# Fields that a request needs, or that decide where it goes.
_NEEDED: Final = frozenset(("model", "messages", "input", "instructions", "system", "provider", "stream"))
# Fields without which a request means something else: they are left out only if an error names them as fields.
_NAMED_ALONE: Final = frozenset(("store",))
# Groups of fields for one setting, with the words for it in errors. A dot leads into an object.
_GROUPS: Final[Mapping[str, tuple[frozenset[str], Pattern]]] = {
    "reasoning": (
        frozenset(
            (
                *("reasoning", "reasoning_effort", "thinking", "think", "enable_thinking", "thinking_budget"),
                *("chat_template_kwargs", "reasoning_format", "include_reasoning", "extra_body"),
                "output_config.effort",
            )
        ),
        Pattern(r"reasoning|thinking|budget_tokens|\bthink\b|\beffort\b", re.IGNORECASE),
    ),
    "logprobs": (
        frozenset(("logprobs", "top_logprobs", "include")),
        Pattern(r"log_?probs|log prob", re.IGNORECASE),
    ),
}
# Nested fields, which are removed wherever they occur.
_NESTED: Final = ("cache_control", "strict")
_ABOUT_WINDOW: Final = Pattern(r"context|window", re.IGNORECASE)
# Keywords that a schema can lose and still describe the same object. Replies are checked against all keywords anyway.
_KEYWORDS: Final = (
    *("additionalProperties", "propertyNames", "minLength", "maxLength", "minimum", "maximum"),
    *("exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "uniqueItems", "multipleOf"),
    *("pattern", "format", "default", "title", "$schema"),
)
# The order in which parts are tried if an error names none: those that change least come first.
_OPTIONAL: Final = ("seed", "random_seed", "logprobs", "reasoning", "top_p", "temperature")


class Negotiation:
    """The search for the adjustments that one model's host accepts, guided by its errors.

    `adjustments` apply to every call that begins. If several calls are not accepted at once, one negotiates and the
    others are sent again under its result.
    """

    def __init__(self, wire: Wire, profile: Profile, endpoint: Endpoint, known: Adjustments | None = None) -> None:
        """Start with the adjustments `known` from an earlier process of the run, under which the model has answered."""
        self.adjustments = adjustments = UNADJUSTED if known is None else known
        self._wire, self._profile, self._endpoint = wire, profile, endpoint
        self._first = FirstCall(endpoint) if profile.structured == "auto" and adjustments.structured is None else None
        self._turn = asyncio.Lock()
        self._answered = known is not None
        self._searches: dict[tuple[str, tuple[tuple[str, str], ...]], _Search] = {}  # keyed by schema and messages
        self._hopeless: set[tuple[str, str]] = set()
        self._accepted: set[str] = set()  # names of schemas that were accepted under the current adjustments
        self._doubt: _Doubt | None = None

    @property
    def limiter(self) -> RateLimiter:
        """The rate limiter for the model's calls. It admits one call at a time until the mode of `auto` is known."""
        return self._endpoint.limiter if self._first is None or self._first.mode_known else self._first

    async def completion(self, call: Call, body_of: BodyOf, send: Send) -> Completion:
        """Return the completion of one call, under adjustments that its host accepts.

        Raises `ModelError`; if no adjustments make the host accept the call, `RequestNotAccepted` or its error
        `otherwise`.
        """
        try:
            return await self._negotiated(call, body_of, send)
        except RequestNotAccepted as error:
            raise (error.otherwise or error) from None

    async def _negotiated(self, call: Call, body_of: BodyOf, send: Send) -> Completion:
        for _ in range(_MOST_REQUESTS):
            if (confirmed := await self._confirmed(call, send)) is not None:
                return confirmed
            adjustments, search = self.adjustments, self._searches.get((call.schema_name, call.messages))
            sent = search is None
            if search is None:
                try:
                    return self._accept(call, adjustments, await send(adjustments))
                except RequestNotAccepted as error:
                    search = _Search(
                        error, adjustments, self._candidates(call, error, body_of(adjustments), adjustments)
                    )
            async with self._turn:
                if self.adjustments == adjustments:
                    return await self._try_candidates(call, body_of, send, search, sent=sent)
            await self._endpoint.limiter.acquire_again()  # another call has found new adjustments in the meantime
        return await send(self.adjustments)

    def _accept(self, call: Call, adjustments: Adjustments, completion: Completion) -> Completion:
        """Record a success, and return the completion with the current adjustments, which may be newer."""
        if adjustments == self.adjustments:
            self._answered = True
            self._accepted.add(call.schema_name)
        auto = self._profile.structured == "auto"
        if auto and call.schema is not None and self._first is not None:
            self._first.mode_known = True
        mode_known = auto and (self._first is None or self._first.mode_known)
        said = self.adjustments
        if mode_known:
            said = replace(said, structured=mode_of(self._profile, said, self._wire))
        return completion if said == UNADJUSTED else replace(completion, adjustments=said)

    async def _confirmed(self, call: Call, send: Send) -> Completion | None:
        """Return the completion under the adjustments before a doubtful change, or None if they are not accepted.

        None also if no adjustments are in doubt for this call. An error that named no part may have been about its
        prompt alone. So the first call with another prompt is sent under the earlier adjustments, which apply again if
        the host accepts them.
        """
        doubt = self._doubt
        if doubt is None or call.schema_name != doubt.schema_name or call.messages == doubt.messages:
            return None
        self._doubt = None
        try:
            completion = await send(doubt.before)
        except RequestNotAccepted:
            await self._endpoint.limiter.acquire_again()
            return None
        except BaseException:
            if self._doubt is None and self.adjustments == doubt.found:
                self._doubt = doubt
            raise
        if self.adjustments == doubt.found:
            self._keep_to(doubt.before)
        return self._accept(call, doubt.before, completion)

    def _keep_to(self, adjustments: Adjustments) -> None:
        """Use these adjustments for all later calls."""
        if adjustments != self.adjustments:
            self.adjustments = adjustments
            self._accepted.clear()
            self._searches.clear()
            self._hopeless.clear()

    async def _try_candidates(
        self, call: Call, body_of: BodyOf, send: Send, search: _Search, *, sent: bool
    ) -> Completion:
        """Send a request that was not accepted under each candidate, and keep the first that is accepted.

        `sent` says whether the call has been sent before. If the host fails in another way, the search is kept, and the
        next attempt of the same call continues it.
        """
        hopeless = call.schema_name, _signature(search.first)
        if hopeless in self._hopeless:
            raise search.first
        while (candidate := search.next_candidate(self.adjustments)) is not None:
            if sent:
                await self._endpoint.limiter.acquire_again()
            sent = True
            try:
                completion = await send(candidate)
            except RequestNotAccepted as error:
                search.candidate = None
                # with other words, the part that caused the error before is accepted now
                if _signature(error) != _signature(search.error):
                    search.error, search.adjustments = error, candidate
                    search.left = self._candidates(call, error, body_of(candidate), candidate)
            except ModelError:
                if self._is_change_named(candidate, search, body_of):
                    self._keep_to(candidate)  # a part that an error named is not tried again
                else:
                    self._searches[call.schema_name, call.messages] = search
                raise
            else:
                self._keep_accepted(call, candidate, search, body_of)
                return self._accept(call, candidate, completion)
        self._searches.pop((call.schema_name, call.messages), None)
        if len(self._hopeless) < _MOST_HOPELESS:
            self._hopeless.add(hopeless)
        raise search.first

    def _keep_accepted(self, call: Call, candidate: Adjustments, search: _Search, body_of: BodyOf) -> None:
        """Keep the adjustments that were accepted. They are in doubt if no error named the part they change."""
        self._searches.pop((call.schema_name, call.messages), None)
        doubtful = candidate != search.adjustments and not self._is_change_named(candidate, search, body_of)
        before = search.adjustments
        self._keep_to(candidate)
        self._doubt = _Doubt(call.schema_name, call.messages, before, candidate) if doubtful else None

    def _is_change_named(self, candidate: Adjustments, search: _Search, body_of: BodyOf) -> bool:
        """Return whether the latest error names, without doubt, the part that these adjustments change."""
        report, adjustments = search.error.report, search.adjustments
        return not search.error.is_doubtful and candidate in list(
            without_named_parts(report, body_of(adjustments), adjustments, self._wire, self._profile)
        )

    def _candidates(
        self, call: Call, error: RequestNotAccepted, body: Mapping[str, Any], adjustments: Adjustments
    ) -> Iterator[Adjustments]:
        """Yield the candidates to try after an error.

        If the error names parts, yield adjustments without these. Else yield the same adjustments again; then, if the
        model has not answered before, adjustments without each part; if it has, and this schema is new, the other
        structured modes.
        """
        found = list(without_named_parts(error.report, body, adjustments, self._wire, self._profile))
        if error.is_doubtful or not found:
            yield adjustments  # the error may have been an accident
        yield from found
        if not self._answered:
            yield from without_each_part(body, adjustments, self._wire, self._profile)
            return
        # All other parts were accepted before. If this schema was accepted, too, the error is about the prompt.
        if call.schema_name not in self._accepted and _holds_schema(body):
            yield from _next_modes(adjustments, self._wire, self._profile)


@dataclass(frozen=True, slots=True)
class _Doubt:
    """The adjustments that were `found` for one call after an error that named no part, and those `before`."""

    schema_name: str
    messages: tuple[tuple[str, str], ...]
    before: Adjustments
    found: Adjustments


@dataclass(slots=True)
class _Search:
    """The state of a search for accepted adjustments after an error."""

    first: RequestNotAccepted
    adjustments: Adjustments
    """The adjustments under which the latest `error` came."""
    left: Iterator[Adjustments]
    error: RequestNotAccepted = field(init=False)
    tried: set[Adjustments] = field(default_factory=set)
    repeated: set[Adjustments] = field(default_factory=set)
    candidate: Adjustments | None = None
    """The adjustments sent last, while the host has neither accepted them nor answered with such an error."""

    def __post_init__(self) -> None:
        self.error = self.first
        self.tried.add(self.adjustments)

    def next_candidate(self, present: Adjustments) -> Adjustments | None:
        """Return the candidate to send next, or None if none is left. The `present` ones may be sent once more."""
        if self.candidate is None and len(self.tried) < _MOST_REQUESTS:
            # without `repeated`, a host whose words differ each time would be sent the same request for ever
            self.candidate = next((each for each in self.left if self._may_be_sent(each, present)), None)
            if self.candidate is not None:
                (self.repeated if self.candidate in self.tried else self.tried).add(self.candidate)
        return self.candidate

    def _may_be_sent(self, candidate: Adjustments, present: Adjustments) -> bool:
        return candidate not in self.tried or (candidate == present and candidate not in self.repeated)


class FirstCall(RateLimiter):
    """A limiter that passes one call at a time to the host's limiter until `mode_known`.

    Otherwise the order of replies would decide the mode.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__()
        self.mode_known = False
        self._endpoint = endpoint
        self._turn = asyncio.Lock()

    async def acquire(self, tokens: int = 0) -> Slot:
        host = self._endpoint.limiter
        await self._turn.acquire()
        if self.mode_known:  # another call found it out while this one waited
            self._turn.release()
            return await host.acquire(tokens)
        try:
            slot = await host.acquire(tokens)
        except BaseException:
            self._turn.release()
            raise
        slot.limiter = self
        return slot

    def release(self, slot: Slot, error: BaseException | None = None) -> None:
        self._endpoint.limiter.release(slot, error)
        self._turn.release()


def mode_of(profile: Profile, adjustments: Adjustments, wire: Wire) -> StructuredMode:
    """Return the structured mode under these adjustments. `auto` begins with the strictest mode of the wire."""
    if adjustments.structured is not None:
        return adjustments.structured
    return wire.MODES[0] if profile.structured == "auto" else profile.structured


def fitted(
    adjustments: Adjustments, profile: Profile, call: Call, sampling: Sampling, wire: Wire
) -> tuple[Profile, Call, Sampling]:
    """Return the profile, call and sampling of a request under these adjustments."""
    fits = replace(
        profile,
        structured=mode_of(profile, adjustments, wire),
        max_tokens_field=adjustments.max_tokens_field or profile.max_tokens_field,
        strip_schema_keywords=profile.strip_schema_keywords.union(adjustments.keywords),
    )
    if adjustments.max_tokens is not None:
        sampling = replace(
            sampling, max_tokens=min(adjustments.max_tokens, sampling.max_tokens or adjustments.max_tokens)
        )
    if adjustments.system == "user":
        call = replace(call, messages=_without_system(call.messages))
    return fits, call, sampling


def cap_under(adjustments: Adjustments, cap: int | None) -> int | None:
    """Return the limit on a reply that is sent under these adjustments instead of `cap`, or None if none is sent."""
    if set(_MAX_TOKENS).intersection(adjustments.dropped):
        return None
    return cap if adjustments.max_tokens is None else min(adjustments.max_tokens, cap or adjustments.max_tokens)


def trimmed(adjustments: Adjustments, body: dict[str, Any]) -> dict[str, Any]:
    """Return a body without the fields that the adjustments drop."""
    if not adjustments.dropped:
        return body
    out = set(adjustments.dropped)
    out |= set(_MAX_TOKENS) if out.intersection(_MAX_TOKENS) else set()
    for group, (keys, _) in _GROUPS.items():
        out |= keys if group in out else set()
    made = {key: value for key, value in body.items() if key not in out}
    for key, _, inner in (each.partition(".") for each in out if "." in each):
        if isinstance(part := made.get(key), Mapping) and inner in part:
            kept = {name: value for name, value in part.items() if name != inner}
            made = {**{name: value for name, value in made.items() if name != key}, **({key: kept} if kept else {})}
    nested = out.intersection(_NESTED)
    return {key: _pruned(value, nested) for key, value in made.items()} if nested else made


def without_named_parts(
    report: ErrorReport, body: Mapping[str, Any], adjustments: Adjustments, wire: Wire, profile: Profile
) -> Iterator[Adjustments]:
    """Yield adjustments without the parts that an error names, in the order in which it names them."""
    words = report.words
    found: list[tuple[bool, int, Iterator[Adjustments]]] = []
    if _holds_schema(body):
        sent = json.dumps(body)
        if keywords := [word for word in _KEYWORDS if _mentions(word, words) and f'"{word}"' in sent]:
            without = replace(adjustments, keywords=tuple(sorted({*adjustments.keywords, *keywords})))
            found.append((False, -1, iter((without,))))
        if about := ABOUT_SCHEMA.search(words):
            found.append((True, about.start(), _next_modes(adjustments, wire, profile)))
    if about := ABOUT_SYSTEM.search(words):
        found.append((True, about.start(), _system_moved(body, adjustments)))
    about = ABOUT_CAP.search(words)
    for name in body.keys() & set(_MAX_TOKENS):
        if (room := room_for_reply(report.message, body[name]) if isinstance(body[name], int) else None) is not None:
            found.append((False, -1, _caps_within(room, adjustments, wire)))
        elif about:
            found.append((name not in report.fields, about.start(), _other_caps(name, words, body, adjustments, wire)))
    found += _optional_parts_named(report, body, adjustments)
    sorted_candidates = [list(candidates) for _, _, candidates in sorted(found, key=lambda each: each[:2])]
    for each in sorted_candidates:
        yield from each
    if len(sorted_candidates) > 1:
        yield _combined(adjustments, [each[0] for each in sorted_candidates if each])


def _optional_parts_named(
    report: ErrorReport, body: Mapping[str, Any], adjustments: Adjustments
) -> Iterator[tuple[bool, int, Iterator[Adjustments]]]:
    """Yield, for each optional part that an error names, a sort key and the adjustments without it.

    The sort key is whether the error's `fields` lack the part, and the position of its name.
    """
    words = report.words
    alone = [
        name for name in _NAMED_ALONE & body.keys() if name in report.fields or re.search(f"['\"`]{name}\\b", words)
    ]
    for name in (*_droppable(body), *alone):
        keys, pattern = _GROUPS.get(name, (frozenset((name,)), Pattern(rf"(?<![\w-]){re.escape(name)}(?!\w)")))
        around = {key.partition(".")[0] for key in keys if "." in key and _holds(body, key)}
        said = [pattern.search(words), *(re.search(each, words) for each in around)]
        if offsets := [about.start() for about in said if about]:
            yield not keys.intersection(report.fields), min(offsets), iter((_without(adjustments, name),))


def _combined(adjustments: Adjustments, candidates: Iterable[Adjustments]) -> Adjustments:
    """Return adjustments that combine the changes of all these candidates."""
    both = adjustments
    for candidate in candidates:
        changed = {each.name: getattr(candidate, each.name) for each in fields(candidate)}
        changed = {name: value for name, value in changed.items() if value != getattr(adjustments, name)}
        for name in changed.keys() & {"dropped", "keywords"}:
            changed[name] = tuple(sorted({*getattr(both, name), *changed[name]}))
        both = replace(both, **changed)
    return both


def without_each_part(
    body: Mapping[str, Any], adjustments: Adjustments, wire: Wire, profile: Profile
) -> Iterator[Adjustments]:
    """Yield adjustments to try if an error names no part: each part left out alone, then all of them."""
    if _holds_schema(body):
        yield from _next_modes(adjustments, wire, profile)
    optional = _droppable(body)
    for name in optional:
        yield _without(adjustments, name)
    caps = [name for name in _MAX_TOKENS if name in body]
    for name in caps:
        yield from _other_caps(name, "", body, adjustments, wire)
    yield from _system_moved(body, adjustments)
    bare = replace(adjustments, structured="prompt" if _holds_schema(body) else adjustments.structured)
    yield _without(bare, *optional)
    if caps and wire.MAY_OMIT_CAP:
        yield _without(bare, *optional, "max_tokens")


def adjustment_words(adjustments: Adjustments, known: Adjustments = UNADJUSTED) -> Iterator[str]:
    """Yield a sentence for each part that is left out or changed.

    If other adjustments were `known` before, a return to the scenario's own settings also gets a sentence.
    """
    if replace(adjustments, structured=None) == UNADJUSTED != replace(known, structured=None):
        yield "the host accepts what was left out or changed for one prompt"
    if adjustments.structured in {"json_object", "prompt"}:
        yield f'the host enforces no JSON schema: replies are asked for with `structured = "{adjustments.structured}"`'
    elif adjustments.structured == "tool":
        yield "the host enforces a JSON schema for calls of tools alone: replies are asked for as such a call"
    for name in adjustments.dropped:
        if name in _MAX_TOKENS:
            yield "the host accepts no max_tokens, which is left out"
        else:
            yield f"the host does not accept {name}, which is left out"
    if adjustments.keywords:
        yield f"the host does not accept {', '.join(adjustments.keywords)} in schemas, which are left out"
    if adjustments.max_tokens_field is not None:
        yield f"the host wants max_tokens as {adjustments.max_tokens_field}"
    if adjustments.max_tokens is not None:
        yield f"the host accepts at most {counted(adjustments.max_tokens, 'token', form=',')} as max_tokens"
    if adjustments.system == "user":
        yield "the host accepts no system message, which is put before the first of the user"


def _signature(error: RequestNotAccepted) -> str:
    """Return the words of an error without those that contain digits, which differ between errors of one kind."""
    return re.sub(r"[\w-]*\d[\w-]*", "", error.report.words)


def _mentions(word: str, words: str) -> bool:
    return re.search(rf"(?<![\w$]){re.escape(word)}(?!\w)", words) is not None


def _holds(body: Mapping[str, Any], key: str) -> bool:
    """Return whether a body has a field. A dot leads into an object."""
    outer, _, inner = key.partition(".")
    return outer in body and (not inner or (isinstance(part := body[outer], Mapping) and inner in part))


def _holds_schema(body: Mapping[str, Any]) -> bool:
    return any(_holds(body, key) for key in _OF_SCHEMA)


def _droppable(body: Mapping[str, Any]) -> list[str]:
    """Return the names of the optional parts of a body, in the order in which they are tried."""
    apart = {key.partition(".")[0] for key in _OF_SCHEMA}
    others = [key for key in body if key not in _NEEDED | _NAMED_ALONE | apart and key not in _MAX_TOKENS]
    asked = {name for name, (keys, _) in _GROUPS.items() if any(_holds(body, key) for key in keys)}
    names: list[str] = [name for name in _OPTIONAL if name in others or name in asked]
    grouped = {key for keys, _ in _GROUPS.values() for key in keys}
    names += [key for key in others if key not in names and key not in grouped]
    text = json.dumps(body)
    return names + [name for name in _NESTED if f'"{name}":' in text]


def _without(adjustments: Adjustments, *names: str) -> Adjustments:
    dropped = tuple(sorted({*adjustments.dropped, *names}))
    field = None if "max_tokens" in names else adjustments.max_tokens_field  # no name for what is not sent
    return replace(adjustments, dropped=dropped, max_tokens_field=field)


def _next_modes(adjustments: Adjustments, wire: Wire, profile: Profile) -> Iterator[Adjustments]:
    """Yield adjustments by the modes below the present one, or by all modes if the wire does not list that one."""
    mode = mode_of(profile, adjustments, wire)
    below = wire.MODES[wire.MODES.index(mode) + 1 :] if mode in wire.MODES else wire.MODES
    for each in below:
        yield replace(adjustments, structured=each)


def _caps_within(room: int, adjustments: Adjustments, wire: Wire) -> Iterator[Adjustments]:
    """Yield adjustments with a limit on replies that leaves the prompt its place in the window, or without a limit."""
    yield replace(adjustments, max_tokens=room)
    if wire.MAY_OMIT_CAP:
        yield _without(adjustments, "max_tokens")


def _other_caps(
    field: str, words: str, body: Mapping[str, Any], adjustments: Adjustments, wire: Wire
) -> Iterator[Adjustments]:
    """Yield adjustments with another limit on replies: the most that the words allow, another field name, or none."""
    sent = body[field]
    numbers = [int(each.replace(",", "")) for each in re.findall(r"\d[\d,]{0,9}", words)]
    smaller = [number for number in numbers if isinstance(sent, int) and 0 < number < sent]
    if smaller and not _ABOUT_WINDOW.search(words):
        yield replace(adjustments, max_tokens=max(smaller))
    if field in {"max_tokens", "max_completion_tokens"} and wire.MAY_OMIT_CAP and adjustments.max_tokens_field is None:
        yield replace(adjustments, max_tokens_field="max_completion_tokens" if field == "max_tokens" else "max_tokens")
    if wire.MAY_OMIT_CAP:
        yield _without(adjustments, "max_tokens")
    elif isinstance(sent, int):
        for most in (8_192, 4_096):
            if most < sent:
                yield replace(adjustments, max_tokens=most)


def _system_moved(body: Mapping[str, Any], adjustments: Adjustments) -> Iterator[Adjustments]:
    roles = {message.get("role") for message in body.get("messages", ()) if isinstance(message, Mapping)}
    if adjustments.system is None and ("system" in roles or "instructions" in body or "system" in body):
        yield replace(adjustments, system="user")


def _without_system(messages: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return the messages with the system's text moved to the start of the first user message."""
    system = [text for role, text in messages if role == "system"]
    others = [(role, text) for role, text in messages if role != "system"]
    if not system or not others:
        return messages if not system else (("user", "\n\n".join(system)),)
    role, text = others[0]
    begun = "\n\n".join((*system, text)) if role == "user" else "\n\n".join(system)
    return (("user", begun), *(others[1:] if role == "user" else others))


def _pruned(value: Any, names: Set[str]) -> Any:
    """Return a part of a body without the fields of these names at any depth."""
    if isinstance(value, Mapping):
        return {key: _pruned(each, names) for key, each in value.items() if key not in names}
    return [_pruned(each, names) for each in value] if isinstance(value, (list, tuple)) else value
