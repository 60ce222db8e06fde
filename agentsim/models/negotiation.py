"""Negotiation: what a host does not accept of a request is left out, renamed or asked for in another way.

A refusal names a part of the request (`temperature`, `response_format`), or nothing. Either way the request is sent
again without what may have been refused, until it is accepted; what was found out (`base.Terms`) holds for all later
calls of the model. Which errors are such refusals is decided in `faults`.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from agentsim.engine.wording import counted
from agentsim.errors import ModelError
from agentsim.models.base import AS_ASKED, Call, Completion, Sampling, StructuredMode, Terms
from agentsim.models.faults import ABOUT_CAP, ABOUT_SCHEMA, Complaint, Unaccepted
from agentsim.models.profiles import Profile
from agentsim.models.rate_limiter import RateLimiter, Slot

if TYPE_CHECKING:
    from agentsim.models.remote import Endpoint
    from agentsim.models.wire import Wire

Send: TypeAlias = Callable[[Terms], Awaitable[Completion]]
"""Sends one request under these terms; raises `ModelError`, of which `Unaccepted` is negotiated."""
BodyOf: TypeAlias = Callable[[Terms], dict[str, Any]]
"""Makes the body of the request under these terms."""

_MOST_REQUESTS: Final = 24
"""How often one call is sent again at most, before its refusal is final."""
_MOST_HOPELESS: Final = 64  # refusals that are remembered as those that nothing helps against

_MAX_TOKENS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_OF_SCHEMA: Final = frozenset(("response_format", "tools", "tool_choice", "text", "output_config"))
# Fields that a request is nothing without, or that say where it goes.
_NEEDED: Final = frozenset(("model", "messages", "input", "instructions", "system", "provider", "store", "stream"))
# Fields by which one thing is asked for, with the words that refusals have for it.
_GROUPS: Final[Mapping[str, tuple[frozenset[str], re.Pattern[str]]]] = {
    "reasoning": (
        frozenset(
            (
                *("reasoning", "reasoning_effort", "thinking", "think", "enable_thinking", "thinking_budget"),
                *("chat_template_kwargs", "reasoning_format", "include_reasoning", "extra_body"),
            )
        ),
        re.compile(r"reasoning|thinking|budget_tokens|\bthink\b|\beffort\b", re.IGNORECASE),
    ),
    "logprobs": (
        frozenset(("logprobs", "top_logprobs", "include")),
        re.compile(r"log_?probs|log prob", re.IGNORECASE),
    ),
}
# Parts of parts of a body, which are left out wherever they stand.
_NESTED: Final = ("cache_control", "strict")
_ABOUT_SYSTEM: Final = re.compile(
    r"\bsystem\b.{0,40}\b(role|message|prompt|instruction)|\brole\b.{0,40}\bsystem\b|developer instruction"
    r"|roles must alternate|(only|supports?) (user|\W{0,2}user).{0,20}assistant",
    re.IGNORECASE | re.DOTALL,
)
_ABOUT_WINDOW: Final = re.compile(r"context|window", re.IGNORECASE)
# Keywords without which a schema still describes the same object; a reply is checked against all of them anyway.
_KEYWORDS: Final = (
    *("additionalProperties", "propertyNames", "minLength", "maxLength", "minimum", "maximum"),
    *("exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "uniqueItems", "multipleOf"),
    *("pattern", "format", "default", "title", "$schema"),
)
# The order in which parts are tried where a refusal names none: those that change least come first.
_OPTIONAL: Final = ("seed", "random_seed", "logprobs", "reasoning", "top_p", "temperature")


class Negotiation:
    """The finding out of what one model's host accepts, by its refusals.

    `terms` hold for every call that begins. Of calls that are refused at the same time one negotiates, and the others
    are sent again under what it found.
    """

    def __init__(self, wire: Wire, profile: Profile, endpoint: Endpoint, known: Terms | None = None) -> None:
        """Begin with the terms `known` from an earlier process of the run, which the model has answered under."""
        self.terms = terms = AS_ASKED if known is None else known
        self._wire, self._profile, self._endpoint = wire, profile, endpoint
        self._first = FirstCall(endpoint) if profile.structured == "auto" and terms.structured is None else None
        self._turn = asyncio.Lock()
        self._answered = known is not None
        self._hopeless: set[str] = set()
        self._accepted: set[str] = set()  # names of schemas that were accepted as they are sent now

    @property
    def limiter(self) -> RateLimiter:
        """The rate limiter that admits the model's calls: one at a time until `auto` is settled."""
        return self._endpoint.limiter if self._first is None or self._first.settled else self._first

    async def completion(self, call: Call, body_of: BodyOf, send: Send) -> Completion:
        """Return what one call brings, under the terms that its host accepts.

        Raises `ModelError`: `Unaccepted` where nothing that can be left out makes the host accept it.
        """
        for _ in range(_MOST_REQUESTS):
            terms = self.terms
            try:
                return self._accept(call, terms, await send(terms))
            except Unaccepted as refused:
                async with self._turn:
                    if self.terms == terms:
                        return await self._settled(call, body_of, send, refused)
            await self._endpoint.limiter.again()  # another call has found out meanwhile what is accepted
        return await send(self.terms)

    def _accept(self, call: Call, terms: Terms, completion: Completion) -> Completion:
        if terms != self.terms:
            self._accepted.clear()
        self.terms, self._answered = terms, True
        self._accepted.add(call.schema_name)
        asked = call.schema is not None and self._profile.structured == "auto"
        if asked and self._first is not None:
            self._first.settled = True
        said = replace(terms, structured=mode_of(self._profile, terms, self._wire)) if asked else terms
        return completion if said == AS_ASKED else replace(completion, terms=said)

    async def _settled(self, call: Call, body_of: BodyOf, send: Send, refused: Unaccepted) -> Completion:
        """Send a refused request again, in one way after another, and keep to the first that is accepted."""
        first, terms, tried = refused, self.terms, {self.terms}
        if _alike(refused) in self._hopeless:
            raise refused
        left = self._ways(call, refused.complaint, body_of(terms), terms)
        for _ in range(_MOST_REQUESTS):
            way = next((each for each in left if each == self.terms or each not in tried), None)
            if way is None:
                break
            tried.add(way)
            await self._endpoint.limiter.again()
            try:
                return self._accept(call, way, await send(way))
            except Unaccepted as error:
                if _alike(error) != _alike(refused):  # what was refused before is accepted now
                    refused, terms = error, way
                    left = self._ways(call, error.complaint, body_of(terms), terms)
            except ModelError:
                if way in list(named(refused.complaint, body_of(terms), terms, self._wire, self._profile)):
                    self.terms = way  # what is refused by its name is not tried again
                raise
        if len(self._hopeless) < _MOST_HOPELESS:
            self._hopeless.add(_alike(first))
        raise first

    def _ways(self, call: Call, complaint: Complaint, body: Mapping[str, Any], terms: Terms) -> Iterator[Terms]:
        """Yield terms that may be accepted: without what is named, else without each part in turn, and without all."""
        found = list(named(complaint, body, terms, self._wire, self._profile))
        yield from found
        if not self._answered:
            yield from unnamed(body, terms, self._wire, self._profile)
            return
        if not found:
            yield terms  # it may have been a whim
        # All else was accepted before; if this schema was too, the refusal is about the words.
        if call.schema_name not in self._accepted and _holds_schema(body):
            yield from _next_modes(terms, self._wire, self._profile)


class FirstCall(RateLimiter):
    """Admits one call at a time to the host's limiter until `settled`, so that the order of replies chooses nothing."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__()
        self.settled = False
        self._endpoint = endpoint
        self._turn = asyncio.Lock()

    async def acquire(self, tokens: int = 0) -> Slot:
        host = self._endpoint.limiter
        await self._turn.acquire()
        if self.settled:  # found while this call waited
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


def mode_of(profile: Profile, terms: Terms, wire: Wire) -> StructuredMode:
    """Return the structured mode of requests under these terms; `auto` begins with the strictest of the wire."""
    if terms.structured is not None:
        return terms.structured
    return wire.MODES[0] if profile.structured == "auto" else profile.structured


def fitted(
    terms: Terms, profile: Profile, call: Call, sampling: Sampling, wire: Wire
) -> tuple[Profile, Call, Sampling]:
    """Return what a request is made of, under these terms."""
    fits = replace(
        profile,
        structured=mode_of(profile, terms, wire),
        max_tokens_field=terms.max_tokens_field or profile.max_tokens_field,
        strip_schema_keywords=profile.strip_schema_keywords.union(terms.keywords),
    )
    if terms.max_tokens is not None:
        sampling = replace(sampling, max_tokens=min(terms.max_tokens, sampling.max_tokens or terms.max_tokens))
    if terms.system == "user":
        call = replace(call, messages=_without_system(call.messages))
    return fits, call, sampling


def trimmed(terms: Terms, body: dict[str, Any]) -> dict[str, Any]:
    """Return a body without the fields that the terms leave out."""
    if not terms.dropped:
        return body
    out = set(terms.dropped)
    for group, (keys, _) in _GROUPS.items():
        out |= keys if group in out else set()
    made = {key: value for key, value in body.items() if key not in out}
    nested = out.intersection(_NESTED)
    return {key: _pruned(value, nested) for key, value in made.items()} if nested else made


def named(complaint: Complaint, body: Mapping[str, Any], terms: Terms, wire: Wire, profile: Profile) -> Iterator[Terms]:
    """Yield the terms under which what a refusal names is not sent, those first that it names first."""
    words = complaint.words
    found: list[tuple[bool, int, Iterator[Terms]]] = []
    if _holds_schema(body):
        sent = json.dumps(body)
        if keywords := [word for word in _KEYWORDS if _mentions(word, words) and f'"{word}"' in sent]:
            without = replace(terms, keywords=tuple(sorted({*terms.keywords, *keywords})))
            found.append((False, -1, iter((without,))))
        if about := ABOUT_SCHEMA.search(words):
            found.append((True, about.start(), _next_modes(terms, wire, profile)))
    if about := _ABOUT_SYSTEM.search(words):
        found.append((True, about.start(), _system_moved(body, terms)))
    if about := ABOUT_CAP.search(words):
        for field in body.keys() & set(_MAX_TOKENS):
            ways = _other_caps(field, words, body, terms, wire)
            found.append((field not in complaint.fields, about.start(), ways))
    for name in _droppable(body):
        keys, pattern = _GROUPS.get(name, (frozenset((name,)), re.compile(rf"(?<![\w-]){re.escape(name)}(?!\w)")))
        if about := pattern.search(words):
            found.append((not keys.intersection(complaint.fields), about.start(), iter((_without(terms, name),))))
    for _, _, ways in sorted(found, key=lambda each: each[:2]):
        yield from ways


def unnamed(body: Mapping[str, Any], terms: Terms, wire: Wire, profile: Profile) -> Iterator[Terms]:
    """Yield the terms that are tried where a refusal names nothing: each part left out alone, and then all of them."""
    if _holds_schema(body):
        yield from _next_modes(terms, wire, profile)
    optional = _droppable(body)
    for name in optional:
        yield _without(terms, name)
    caps = [field for field in _MAX_TOKENS if field in body]
    for field in caps:
        yield from _other_caps(field, "", body, terms, wire)
    yield from _system_moved(body, terms)
    bare = replace(terms, structured="prompt" if _holds_schema(body) else terms.structured)
    yield _without(bare, *optional)
    if caps and wire.MAY_OMIT_CAP:
        yield _without(bare, *optional, "max_tokens")


def words_of(terms: Terms) -> Iterator[str]:
    """Yield what is left out or sent in another way than asked for, in a sentence for each."""
    if terms.structured in {"json_object", "prompt"}:
        yield f'the host enforces no JSON schema: replies are asked for with `structured = "{terms.structured}"`'
    for name in terms.dropped:
        if name in _MAX_TOKENS:
            yield "the host accepts no max_tokens, which is left out"
        else:
            yield f"the host does not accept {name}, which is left out"
    if terms.keywords:
        yield f"the host does not accept {', '.join(terms.keywords)} in schemas, which are left out"
    if terms.max_tokens_field is not None:
        yield f"the host wants max_tokens as {terms.max_tokens_field}"
    if terms.max_tokens is not None:
        yield f"the host accepts at most {counted(terms.max_tokens, 'token', form=',')} as max_tokens"
    if terms.system == "user":
        yield "the host accepts no system message, which is put before the first of the user"


def _alike(refused: Unaccepted) -> str:
    """Return the words of a refusal without what differs from one to the next: numbers, and names of requests."""
    return re.sub(r"[\w-]*\d[\w-]*", "", refused.complaint.words)


def _mentions(word: str, words: str) -> bool:
    return re.search(rf"(?<![\w$]){re.escape(word)}(?!\w)", words) is not None


def _holds_schema(body: Mapping[str, Any]) -> bool:
    return bool(_OF_SCHEMA & body.keys())


def _droppable(body: Mapping[str, Any]) -> list[str]:
    """Return the names of what can be left out of a body, in the order in which it is tried."""
    others = [key for key in body if key not in _NEEDED | _OF_SCHEMA and key not in _MAX_TOKENS]
    names = [name for name in _OPTIONAL if name in others or (name in _GROUPS and _GROUPS[name][0] & body.keys())]
    grouped = {key for keys, _ in _GROUPS.values() for key in keys}
    names += [key for key in others if key not in names and key not in grouped]
    text = json.dumps(body)
    return names + [name for name in _NESTED if f'"{name}":' in text]


def _without(terms: Terms, *names: str) -> Terms:
    return replace(terms, dropped=tuple(sorted({*terms.dropped, *names})))


def _next_modes(terms: Terms, wire: Wire, profile: Profile) -> Iterator[Terms]:
    """Yield the terms of the modes below the present one; below a forced call, where none forces one, come all."""
    mode = mode_of(profile, terms, wire)
    below = wire.MODES[wire.MODES.index(mode) + 1 :] if mode in wire.MODES else wire.MODES
    for each in below:
        yield replace(terms, structured=each)


def _other_caps(field: str, words: str, body: Mapping[str, Any], terms: Terms, wire: Wire) -> Iterator[Terms]:
    """Yield the terms with another cap on replies: the most that the words allow, another name, or none."""
    sent = body[field]
    numbers = [int(each.replace(",", "")) for each in re.findall(r"\d[\d,]{0,9}", words)]
    smaller = [number for number in numbers if isinstance(sent, int) and 0 < number < sent]
    if smaller and not _ABOUT_WINDOW.search(words):
        yield replace(terms, max_tokens=max(smaller))
    if field in {"max_tokens", "max_completion_tokens"} and wire.MAY_OMIT_CAP and terms.max_tokens_field is None:
        yield replace(terms, max_tokens_field="max_completion_tokens" if field == "max_tokens" else "max_tokens")
    if wire.MAY_OMIT_CAP:
        yield _without(terms, "max_tokens")
    elif isinstance(sent, int):
        for most in (8_192, 4_096):
            if most < sent:
                yield replace(terms, max_tokens=most)


def _system_moved(body: Mapping[str, Any], terms: Terms) -> Iterator[Terms]:
    roles = {message.get("role") for message in body.get("messages", ()) if isinstance(message, Mapping)}
    if terms.system is None and ("system" in roles or "instructions" in body or "system" in body):
        yield replace(terms, system="user")


def _without_system(messages: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return the messages with what the system says at the beginning of the user's first one."""
    system = [text for role, text in messages if role == "system"]
    others = [(role, text) for role, text in messages if role != "system"]
    if not system or not others:
        return messages if not system else (("user", "\n\n".join(system)),)
    role, text = others[0]
    begun = "\n\n".join((*system, text)) if role == "user" else "\n\n".join(system)
    return (("user", begun), *(others[1:] if role == "user" else others))


def _pruned(value: Any, names: Set[str]) -> Any:
    """Return a part of a body without the fields of these names, wherever they stand."""
    if isinstance(value, Mapping):
        return {key: _pruned(each, names) for key, each in value.items() if key not in names}
    return [_pruned(each, names) for each in value] if isinstance(value, (list, tuple)) else value
