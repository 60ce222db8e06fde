"""Allowance: how many calls one host with one key takes at once and in a minute, as far as it has let us know.

Pure: times come in as seconds of whatever clock the caller has. Who waits, and in which order, is `throttle`; how far
apart calls start, and what a host asks with Retry-After, is `spacing`.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

__all__ = ["MINUTE_S", "Allowance", "Terms", "Ticket"]

MINUTE_S = 60.0
_CAUTION = 8  # so many times slower the slots grow where they met a 429 before


@dataclass(frozen=True, slots=True)
class Terms:
    """What is agreed about one host and key; None: as much as you like. `concurrency` is where the slots start.

    Who calls there has `patience_s` for a host that wants time.
    """

    concurrency: int | None = None
    spacing_s: float = 0.0
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    patience_s: float = math.inf

    def joined(self, other: Terms) -> Terms:
        """Both at once: the longer spacing, the fewer per minute and the less patience; each run keeps to its own
        concurrency itself.
        """
        concurrencies = [one for one in (self.concurrency, other.concurrency) if one is not None]
        return Terms(
            concurrency=max(concurrencies, default=None),
            spacing_s=max(self.spacing_s, other.spacing_s),
            requests_per_minute=_fewer(self.requests_per_minute, other.requests_per_minute),
            tokens_per_minute=_fewer(self.tokens_per_minute, other.tokens_per_minute),
            patience_s=min(self.patience_s, other.patience_s),
        )


def _fewer(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


@dataclass(slots=True, eq=False)
class Ticket:
    """One call under way: when it started, and the tokens that it counts for (an estimate until it is over)."""

    started: float
    tokens: int
    burst: int
    counted: bool = True  # whether its minute is not over yet


class Allowance:
    """Slots that halve at a 429 and creep up with every round of good answers, and two sliding windows of a minute.

    Of the calls that were under way together when the first 429 came, further ones change nothing: a burst of them
    says once that there were too many.
    """

    def __init__(self, terms: Terms = Terms()) -> None:
        self.terms, self._by_the_minute = terms, _by_the_minute(terms)
        self.in_flight = 0
        self._slots = terms.concurrency
        self._edge: int | None = None  # slots at the last 429
        self._answers = 0  # good ones since the slots last changed
        self._burst = 0
        self._minute: deque[Ticket] = deque()
        self._tokens = 0  # of all of them

    @property
    def slots(self) -> int | None:
        """Calls that may be under way now; None: any number."""
        return self._slots

    def agree(self, terms: Terms) -> None:
        """Somebody else calls there too; what that one knows holds as well."""
        joined = self.terms.joined(terms)
        if self._slots is None or self._slots == self.terms.concurrency:
            self._slots = joined.concurrency  # nothing has been learned that would be forgotten by this
        self.terms, self._by_the_minute = joined, _by_the_minute(joined)

    def wait(self, now: float, tokens: int) -> float:
        """Seconds until a call of about so many tokens may start: 0 for now, infinite for "when one has ended"."""
        if self._slots is not None and self.in_flight >= self._slots:
            return math.inf
        if not self._by_the_minute:
            return 0.0
        return max(self._until_request(now), self._until_tokens(now, tokens))

    def short_of(self, now: float, tokens: int) -> str | None:
        """The limit per minute that such a call waits for, by its name in the scenario; None where there is none."""
        requests, of_tokens = self._until_request(now), self._until_tokens(now, tokens)
        if not max(requests, of_tokens):
            return None
        return "requests_per_minute" if requests >= of_tokens else "tokens_per_minute"

    def start(self, now: float, tokens: int) -> Ticket:
        """A call goes out; `wait` has said 0."""
        assert not self.wait(now, tokens), "a call started that had to wait"
        self.in_flight += 1
        ticket = Ticket(now, tokens, self._burst)
        if self._by_the_minute:
            self._minute.append(ticket)
            self._tokens += tokens
        else:
            ticket.counted = False
        return ticket

    def used(self, ticket: Ticket, tokens: int) -> None:
        """What the call really counts for, or counted for: 0 where it was turned away."""
        if ticket.counted:
            self._tokens += tokens - ticket.tokens
        ticket.tokens = tokens

    def ended(self, ticket: Ticket) -> None:
        """The call is over, one way or another."""
        self.in_flight -= 1
        assert self.in_flight >= 0, f"a call ended twice: {ticket}"

    def answered(self, ticket: Ticket) -> None:
        """The host took it: after as many answers as there are slots there is one more, up to `concurrency`."""
        ceiling = self.terms.concurrency
        if self._slots is None or ceiling is None or self._slots >= ceiling or ticket.burst != self._burst:
            return
        self._answers += 1
        near = self._edge is not None and self._slots + 1 >= self._edge
        if self._answers >= self._slots * (_CAUTION if near else 1):
            self._slots, self._answers = self._slots + 1, 0
            if self._edge is not None and self._slots > self._edge:
                self._edge = None  # it takes more than it did

    def limited(self, ticket: Ticket) -> None:
        """The host said 429: half of the slots, once for all calls that started before anybody knew."""
        if self._slots is None or ticket.burst != self._burst:
            return
        self._burst += 1
        self._edge, self._slots, self._answers = self._slots, max(1, self._slots // 2), 0

    def _until_request(self, now: float) -> float:
        self._forget(now)
        most = self.terms.requests_per_minute
        if most is None or len(self._minute) < most:
            return 0.0
        return self._minute[len(self._minute) - most].started + MINUTE_S - now

    def _until_tokens(self, now: float, tokens: int) -> float:
        self._forget(now)
        most = self.terms.tokens_per_minute
        if most is None:
            return 0.0
        excess = self._tokens + min(tokens, most) - most  # what is larger than a whole minute's gets one for itself
        for ticket in self._minute:
            if excess <= 0:
                return 0.0
            excess -= ticket.tokens
            if excess <= 0:
                return ticket.started + MINUTE_S - now
        return 0.0

    def _forget(self, now: float) -> None:
        while self._minute and self._minute[0].started + MINUTE_S <= now:
            ticket = self._minute.popleft()
            ticket.counted = False
            self._tokens -= ticket.tokens


def _by_the_minute(terms: Terms) -> bool:
    return terms.requests_per_minute is not None or terms.tokens_per_minute is not None
