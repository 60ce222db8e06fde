"""Health: whether a provider can still be played with. Which errors count is decided in `models.faults`.

Calls are judged in the order of the requests, not of the replies: a wave's calls count as if they had been made one
after another, so that how many run at once never decides whether a run stops.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Sequence

from agentsim.errors import ModelError, ModelRefused, ProviderRejected, ProviderStopped, TransportFailed

__all__ = ["STREAK", "Health"]

STREAK = 5


class Health:
    """Counts transport failures in a row, by provider.

    A provider that fails `STREAK` calls in a row, or whose first decision of the run gets no answer at all,
    stops the run; anything less is one decision's bad luck. Places are those of one wave's live requests.
    """

    def __init__(self) -> None:
        self._answered: set[str] = set()
        self._streak: Counter[str] = Counter()
        self._last: dict[str, ModelError] = {}
        self._providers: Sequence[str] = ()
        self._calls: list[deque[ModelError | None]] = []
        self._settled: list[bool] = []
        self._judged = 0  # places before this one are settled and counted
        self._moved = asyncio.Event()

    def known(self, provider: str) -> None:
        """An earlier process of the run was answered by this provider."""
        self._answered.add(provider)

    def wave(self, providers: Sequence[str]) -> None:
        """A wave begins: the provider of each live request, in request order."""
        self._providers = providers
        self._calls = [deque() for _ in providers]
        self._settled = [False] * len(providers)
        self._judged = 0

    def called(self, place: int, error: ModelError | None) -> None:
        """A call came back: with a completion (None) or an error.

        Raises `ProviderStopped` where no call can succeed, or the calls judged so far hold a streak.
        """
        if isinstance(error, ProviderRejected):
            raise ProviderStopped(f"{self._providers[place]}: {error}") from None
        self._calls[place].append(error)
        self._judge()

    def settled(self, place: int) -> None:
        """This request is decided; raises `ProviderStopped` where what waited behind it makes a streak."""
        self._settled[place] = True
        self._judge()

    async def gave_up(self, place: int) -> None:
        """A decision ran out of attempts, and everything before it is waited for.

        Raises `ProviderStopped` where its calls failed and, in request order, none had been answered before.
        """
        while self._judged < place:
            self._moved.clear()
            await self._moved.wait()
        provider = self._providers[place]
        if self._streak[provider] and provider not in self._answered:
            raise ProviderStopped(f"{provider}: the first call failed: {self._last[provider]}") from None

    def _judge(self) -> None:
        while self._judged < len(self._calls):
            provider, calls = self._providers[self._judged], self._calls[self._judged]
            while calls:
                self._count(provider, calls.popleft())
            if not self._settled[self._judged]:
                return
            self._judged += 1
            self._moved.set()

    def _count(self, provider: str, error: ModelError | None) -> None:
        if error is None or isinstance(error, ModelRefused):
            self._answered.add(provider)
            self._streak[provider] = 0
        elif isinstance(error, TransportFailed):
            self._streak[provider] += 1
            self._last[provider] = error
            if self._streak[provider] >= STREAK:
                raise ProviderStopped(f"{provider}: {STREAK} calls in a row failed; the last: {error}") from None
