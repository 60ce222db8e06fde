"""Totals: what was used, and which part of the prompts came from a cache, as far as providers say."""

from __future__ import annotations

import pytest

from agentsim.history.totals import Totals, cached_share
from agentsim.models.base import Attempt, Completion, Usage


def used(prompt: int | None, cached: int | None) -> Usage:
    return Usage(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=1)


SHARES: dict[str, tuple[list[Usage | None], float | None]] = {
    "nothing": ([], None),
    "no provider says": ([used(100, None), None], None),
    "none was cached": ([used(100, 0)], 0.0),
    "half": ([used(100, 100), used(100, 0)], 0.5),
    "long prompts weigh more": ([used(900, 900), used(100, 0)], 0.9),
    "no word is not none": ([used(100, 80), used(10_000, None)], 0.8),
    "a prompt that nobody counted": ([used(None, 50), used(0, 0)], None),
    "more than there was": ([used(10, 50)], 1.0),
}


@pytest.mark.parametrize(("usages", "share"), SHARES.values(), ids=SHARES)
def test_the_cached_share_is_of_those_who_say(usages: list[Usage | None], share: float | None) -> None:
    assert cached_share(usages) == share


def test_before_any_call_no_provider_has_said() -> None:
    assert Totals().cached_share is None


def test_a_run_counts_its_share_call_by_call() -> None:
    totals = Totals()
    for usage in (used(100, None), used(300, 100), used(100, 100)):
        totals.add_call(Attempt((), completion=Completion("x", usage=usage)))
    totals.add_call(Attempt((), "timeout", "too late"))
    assert totals.cached_share == 0.5
    assert (totals.prompt_tokens, totals.cached_tokens, totals.calls) == (500, 200, 4)
