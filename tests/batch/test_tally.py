"""How far a batch is, what it has cost, and what the rest will: told from counts and a clock."""

from __future__ import annotations

import pytest

from agentsim.cli.display import status_line
from agentsim.records.journal import Totals
from agentsim.runs.batch.tally import GameEnd, Tally


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def spent(dollars: float) -> Totals:
    totals = Totals.zero()
    totals.known_usd = dollars
    return totals


def test_cost_and_time_are_forecast_from_the_games_that_are_done() -> None:
    clock = Clock()
    tally = Tally(10, clock)
    assert (tally.forecast_usd(), tally.left_s()) == (None, None)
    for name in ("a", "b"):
        tally.started(name)
    tally.used("a", spent(0.01))
    assert tally.running == 2
    assert tally.spent() == pytest.approx(0.01)
    clock.now += 30
    tally.ended(GameEnd("a", "completed", 18, 0.02))
    assert tally.forecast_usd() == pytest.approx(0.2)
    assert tally.left_s() == pytest.approx(30 * 9)
    assert status_line(tally) == "1 of 10 done, 1 running · cost $0.0200, about $0.2000 in all · 4:30 left"


def test_what_earlier_sessions_did_counts_for_cost_and_not_for_pace() -> None:
    clock = Clock()
    tally = Tally(4, clock)
    tally.earlier("a", 18, 0.02, finished=True)
    tally.earlier("b", 9, 0.01, finished=False)
    assert (tally.done, tally.calls) == (1, 27)
    assert tally.spent() == pytest.approx(0.03)
    tally.started("b")
    tally.used("b", spent(0.01))
    assert tally.spent() == pytest.approx(0.03), "what it used before is in its own totals now"
    clock.now += 5
    tally.ended(GameEnd("b", "completed", 18, 0.02))
    assert (tally.done, tally.calls) == (2, 36)
    assert tally.spent() == pytest.approx(0.04)
    assert tally.left_s() == pytest.approx(10)


def test_games_without_a_result_are_counted_apart() -> None:
    tally = Tally(3)
    tally.ended(GameEnd("a", "failed", exit_code=1))
    tally.ended(GameEnd("b", "degraded"))
    assert (tally.done, tally.failed) == (1, 1)
    assert status_line(tally).startswith("1 of 3 done, 1 without a result")


def test_calls_of_unknown_price_are_counted_over_all_sessions() -> None:
    tally = Tally(2)
    tally.earlier("a", 18, 0.02, 4, finished=True)
    tally.earlier("b", 9, 0.01, 2, finished=False)
    assert tally.unpriced_calls == 6
    tally.started("b")
    tally.ended(GameEnd("b", "completed", 18, 0.02, 3))
    assert tally.unpriced_calls == 7
    assert status_line(tally).startswith("2 of 2 done · cost $0.0400 and 7 calls of unknown price")
