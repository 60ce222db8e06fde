"""Health: whether a provider can still be played with. Which errors count is decided in `models.faults`."""

from __future__ import annotations

from collections import Counter

from agentsim.errors import ModelError, ModelRefused, ProviderRejected, ProviderStopped, TransportFailed

__all__ = ["STREAK", "Health"]

STREAK = 5


class Health:
    """Counts transport failures in a row, by provider.

    A provider that fails `STREAK` calls in a row, or whose first decision of the run gets no answer at all,
    stops the run; anything less is one decision's bad luck.
    """

    def __init__(self) -> None:
        self._answered: set[str] = set()
        self._streak: Counter[str] = Counter()
        self._last: dict[str, TransportFailed] = {}

    def answered(self, provider: str) -> None:
        """A completion or a refusal came back."""
        self._answered.add(provider)
        self._streak[provider] = 0

    def failed(self, provider: str, error: ModelError) -> None:
        """A call failed; raises `ProviderStopped` where that was one too many or no call can succeed."""
        if isinstance(error, ProviderRejected):
            raise ProviderStopped(f"{provider}: {error}") from None
        if isinstance(error, ModelRefused):
            self.answered(provider)
        if isinstance(error, TransportFailed):
            self._streak[provider] += 1
            self._last[provider] = error
            if self._streak[provider] >= STREAK:
                raise ProviderStopped(f"{provider}: {STREAK} calls in a row failed; the last: {error}") from None

    def gave_up(self, provider: str) -> None:
        """A decision ran out of attempts; raises `ProviderStopped` where they failed and none ever got through."""
        if self._streak[provider] and provider not in self._answered:
            raise ProviderStopped(f"{provider}: the first call failed: {self._last[provider]}") from None
