"""Remote models: endpoints, and one call to a model with its deadline.

`wire` builds bodies and reads answers, `negotiation` handles refused bodies, `retries` asks again after a failure.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from agentsim.engine.wording import cleaned
from agentsim.errors import LocalShortage, ModelError
from agentsim.models.base import Call, Completion, Sampling, Terms, Usage
from agentsim.models.faults import Faults, NoAnswer, Unacceptable, failed_generation
from agentsim.models.keys import REDACTED, redact_reply
from agentsim.models.negotiation import Negotiation, fitted, trimmed
from agentsim.models.profiles import Profile, is_host
from agentsim.models.rate_limiter import RateLimiter, RateLimits
from agentsim.models.retries import Deadline
from agentsim.models.wire import WIRES, Wire
from agentsim.models.wire.common import Function, at, function_of, kept, word

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
        place = (profile.base_url, key, profile.service, *sorted(profile.client_options.items()))
        _, endpoint = self._open.setdefault(place, new)
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

    def __init__(self, name: str, profile: Profile, endpoint: Endpoint, known: Terms | None = None) -> None:
        """Start with the terms `known` from an earlier process of the run, under which the model has answered."""
        self.name, self.provider = name, profile.provider
        self._profile, self._endpoint = profile, endpoint
        self._model = name.partition("/")[2]
        self._faults = Faults(profile, self._model, (endpoint.key,) if endpoint.key else ())
        self._wire = WIRES[profile.wire]
        self._negotiation = Negotiation(self._wire, profile, endpoint, known)

    @property
    def limiter(self) -> RateLimiter:
        return self._negotiation.limiter

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """Make one attempt. The deadline starts when a request is sent and covers the whole answer.

        A refusal of a parameter does not count as an attempt: the model has read nothing, and another request is sent.
        """

        def request(terms: Terms) -> tuple[dict[str, Any], Function | None]:
            profile, asked, sampled = fitted(terms, self._profile, call, sampling, self._wire)
            body = self._wire.body(profile, self._model, asked, sampled)
            return trimmed(terms, body), function_of(profile, asked)

        async def send(terms: Terms) -> Completion:
            return await self._attempt(*request(terms), call, sampling.timeout_s)

        return await self._negotiation.completion(call, lambda terms: request(terms)[0], send)

    async def _attempt(
        self, body: Mapping[str, Any], function: Function | None, call: Call, timeout_s: float
    ) -> Completion:
        self._endpoint.open()  # import before the deadline starts
        try:
            completion = await self._exchanged(body, function, timeout_s)
        except TimeoutError:
            raise self._faults.timeout(timeout_s) from None
        except Unacceptable as refused:
            raise self._faults.bad_envelope(str(refused)) from None
        host, pin = completion.provider, self._profile.pin
        asked = at(body, "provider", "only") == [pin]  # a player's `extra` may choose its own hosts
        if host is not None and pin is not None and asked and not is_host(host, pin):
            completion = replace(completion, pin=pin)
        # The reader could assemble a key from pieces of the text.
        said = call.read(completion.text) if call.read is not None and self._faults.secrets else ""
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

        Raises `ModelError`, or `Unacceptable` for an answer that is not read.
        """
        try:
            answer = await self._endpoint.open().post(self._wire.PATH, body)
        except NoAnswer as error:
            raise self._faults.connection(error) from None
        if not 200 <= answer.status < 300:
            if (written := failed_generation(answer.body)) is None:
                raise self._faults.status(answer.status, answer.headers, answer.body)
            why = None if written.strip() else "The host could make no JSON of the reply."
            return Completion(kept(written, self._faults.secrets), unusable=why)
        envelope = decoded(answer.body, answer.headers.get("content-type", ""), self._faults)
        return completion_in(self._wire, envelope, self._faults, function)

    async def aclose(self) -> None:
        """Close the connections, which other models with the same address and key share."""
        await self._endpoint.aclose()


def decoded(body: bytes, content_type: str, faults: Faults) -> Any:
    """Return the JSON of a 200. Raises `ModelError` for a body that is not JSON."""
    try:
        return json.loads(body.decode("utf-8-sig"))  # some servers begin with a byte order mark
    except UnicodeDecodeError:
        raise faults.bad_envelope("not UTF-8") from None
    except RecursionError:
        raise faults.bad_envelope("JSON nested too deeply") from None
    except ValueError:
        kind = " ".join(cleaned(content_type[:_KIND]).split()) or "no content type"
        what = f"not JSON ({kind})" if body.strip() else "empty"
        raise faults.bad_envelope(what, body[:1000].decode("utf-8", "replace")) from None


def completion_in(wire: Wire, envelope: object, faults: Faults, function: Function | None = None) -> Completion:
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
