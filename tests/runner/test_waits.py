"""Calls that wait for their slots: one timer serves them all, and each that waits long is told of once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentsim.engine.play import Ask
from agentsim.engine.request import Request
from agentsim.runner import calls
from agentsim.runner.calls import Waits
from tests.fakes.waiting import until


def ask(place: int) -> Ask:
    request: Request[Any] = Request(player=f"p{place}")
    return Ask(index=place, wave=1, place=place, nth=1, request=request)


def test_everybody_whose_turn_does_not_come_is_told_of_once_in_the_order_of_their_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calls, "NOTICEABLE_S", 0.02)
    held: list[str] = []

    async def main() -> None:
        waiting = Waits(lambda asked: held.append(asked.request.player))
        waiting.begin(ask(0))
        waiting.begin(ask(1))
        waiting.end(ask(0))
        await asyncio.sleep(0.01)
        waiting.begin(ask(2))  # while the timer of the first runs
        await until(lambda: len(held) == 2)
        waiting.end(ask(2))
        waiting.begin(ask(3))  # after it has run out
        await until(lambda: len(held) == 3)

    asyncio.run(main())
    assert held == ["p1", "p2", "p3"]


def test_a_watcher_that_fails_for_one_is_told_of_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "NOTICEABLE_S", 0.01)
    held: list[str] = []

    def tell(asked: Ask) -> None:
        held.append(asked.request.player)
        raise LookupError(asked.request.player)

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        waiting = Waits(tell)
        for place in range(3):
            waiting.begin(ask(place))
        await until(lambda: len(held) == 3)

    asyncio.run(main())
    assert held == ["p0", "p1", "p2"]


def test_whose_turn_comes_in_time_is_not_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "NOTICEABLE_S", 0.01)
    held: list[str] = []

    async def main() -> None:
        waiting = Waits(lambda asked: held.append(asked.request.player))
        for place in range(3):
            waiting.begin(ask(place))
            waiting.end(ask(place))
        waiting.begin(ask(9))
        await until(lambda: len(held) == 1)

    asyncio.run(main())
    assert held == ["p9"]
