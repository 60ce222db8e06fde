"""The rate limiter, as a queue: it admits no call too many, forgets none, keeps the order. Tests set the clock."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.errors import ModelError, RateLimited, TransportFailed
from agentsim.models.base import Call, Completion
from agentsim.models.pacing import RateLimiter, RateLimits, RetryCount, RetryPolicy, call_with_retries
from agentsim.models.profiles import ProviderSettings, resolve
from agentsim.models.remote import Endpoints, RemoteModel, shared_limiter
from tests.amounts import examples
from tests.fakes.admitted import admitted
from tests.fakes.server import FakeServer, Raw
from tests.models.asking import with_model
from tests.runs.island import Mendable, play

BUSY = Raw(429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}})


class Time:
    """A clock that jumps to the next timer once all tasks wait."""

    def __init__(self) -> None:
        self.now = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._number = count()

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, next(self._number), future))
        await future

    async def until(self, *tasks: asyncio.Task[Any]) -> None:
        """Advance the clock until these tasks are done. Raises `AssertionError` if nothing is left to happen."""
        while not all(task.done() for task in tasks):
            for _ in range(20):  # lets every task run that can
                await asyncio.sleep(0)
            if all(task.done() for task in tasks):
                return
            self._sleepers = [sleeper for sleeper in self._sleepers if not sleeper[2].done()]
            heapq.heapify(self._sleepers)
            assert self._sleepers, "everybody waits, and nobody will wake them"
            self.now, _, future = heapq.heappop(self._sleepers)
            future.set_result(None)


class Crowd:
    """Callers of one rate limiter, with records of their calls."""

    def __init__(self, limits: RateLimits) -> None:
        self.time = Time()
        self.limiter = RateLimiter(limits, clock=self.time, sleep=self.time.sleep)
        self.began: list[tuple[int, float]] = []
        self.in_flight = self.most = 0

    async def call(self, number: int, takes: float = 1.0, tokens: int = 0, ends: str = "well") -> None:
        with await self.limiter.acquire(tokens) as slot:
            self.began.append((number, self.time.now))
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
            try:
                slots = self.limiter.slots
                assert slots is None or self.in_flight <= slots, "more are under way than there are slots"
                await self.time.sleep(takes)
                if ends == "limited":
                    raise RateLimited("slow down", retry_after=None)
                if ends == "fails":
                    raise TransportFailed("broken", code="reset")
                slot.used(tokens // 2)
            finally:
                self.in_flight -= 1

    def play(self, *calls: dict[str, Any]) -> list[tuple[int, float]]:
        async def main() -> None:
            tasks = [asyncio.create_task(self.call(number, **call)) for number, call in enumerate(calls)]
            await self.time.until(*tasks)
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run(main())
        return self.began


def test_calls_begin_in_the_order_of_asking_as_slots_are_free() -> None:
    assert Crowd(RateLimits(2)).play({}, {}, {}, {}, {}) == [(0, 0.0), (1, 0.0), (2, 1.0), (3, 1.0), (4, 2.0)]


def test_after_a_429_half_as_many_begin() -> None:
    crowd = Crowd(RateLimits(4))
    began = crowd.play({"takes": 1.0, "ends": "limited"}, *[{"takes": 2.0}] * 3, *[{}] * 4)
    # After one end, three calls are in flight for two slots; the next two begin when those end.
    assert began[4:] == [(4, 2.0), (5, 2.0), (6, 3.0), (7, 3.0)]


def test_requests_per_minute_hold_calls_back() -> None:
    assert Crowd(RateLimits(requests_per_minute=2)).play({}, {}, {}, {}, {}) == [
        *((0, 0.0), (1, 0.0), (2, 60.0), (3, 60.0), (4, 120.0))
    ]


def test_a_call_that_turns_out_to_be_smaller_lets_the_next_one_begin() -> None:
    crowd = Crowd(RateLimits(tokens_per_minute=1000))
    assert crowd.play({"tokens": 900, "takes": 3.0}, {"tokens": 500}) == [(0, 0.0), (1, 3.0)]


def test_who_is_large_is_not_passed_by_who_is_small() -> None:
    crowd = Crowd(RateLimits(tokens_per_minute=1000))
    assert crowd.play({"tokens": 999, "takes": 90.0}, {"tokens": 900}, {"tokens": 1}) == [
        (0, 0.0),
        (1, 60.0),
        (2, 60.0),
    ]


@pytest.mark.parametrize(
    ("error", "note"),
    [
        (RateLimited("later", retry_after=7.0), "1 of 2 slots, asked to wait 7 s"),
        (TransportFailed("loading", code="http_503", status=503, retry_after=7.0), "asked to wait 7 s"),
    ],
    ids=["429", "503"],
)
def test_what_a_host_asks_with_retry_after_moves_everybody(error: ModelError, note: str) -> None:
    crowd = Crowd(RateLimits(2))

    async def main() -> None:
        with pytest.raises(type(error)), await crowd.limiter.acquire():
            raise error
        task = asyncio.create_task(crowd.call(1))
        await asyncio.sleep(0)
        assert crowd.limiter.note() == note
        await crowd.time.until(task)

    asyncio.run(main())
    assert crowd.began == [(1, 7.0)]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_whoever_is_cancelled_leaves_no_gap(place: int) -> None:
    crowd = Crowd(RateLimits(1))

    async def main() -> None:
        tasks = [asyncio.create_task(crowd.call(number)) for number in range(3)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        tasks.pop(place).cancel()
        await crowd.time.until(*tasks)

    asyncio.run(main())
    assert [number for number, _ in crowd.began if number != place] == [each for each in range(3) if each != place]
    assert crowd.limiter.in_flight == 0


@examples(60)
@given(
    st.builds(
        RateLimits,
        concurrency=st.none() | st.integers(1, 5),
        spacing_s=st.sampled_from([0.0, 0.5]),
        requests_per_minute=st.none() | st.integers(1, 5),
        tokens_per_minute=st.none() | st.integers(1, 300),
    ),
    st.lists(
        st.fixed_dictionaries(
            {
                "takes": st.sampled_from([0.0, 0.3, 1.0, 70.0]),
                "tokens": st.integers(0, 400),
                "ends": st.sampled_from(["well", "limited", "fails"]),
            }
        ),
        max_size=14,
    ),
    st.sets(st.integers(0, 13), max_size=5),
)
def test_nobody_is_forgotten_and_nobody_is_passed(
    limits: RateLimits, calls: list[dict[str, Any]], given_up: set[int]
) -> None:
    crowd = Crowd(limits)

    async def main() -> None:
        tasks = [asyncio.create_task(crowd.call(number, **call)) for number, call in enumerate(calls)]
        for _ in range(7):
            await asyncio.sleep(0)
        for number in given_up & set(range(len(tasks))):
            tasks[number].cancel()
        await crowd.time.until(*tasks)
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())
    order = [number for number, _ in crowd.began]
    assert order == sorted(order), "first come, first served"
    assert set(range(len(calls))) - given_up <= set(order), "everybody who waited has had a turn"
    assert crowd.limiter.in_flight == 0


def test_all_games_of_an_event_loop_share_one_rate_limiter_for_a_host_and_key() -> None:
    async def main() -> list[RateLimiter]:
        one = shared_limiter("h:1", "key", RateLimits(4))
        assert shared_limiter("h:1", "key", RateLimits(2, requests_per_minute=7)) is one
        assert one.limits == RateLimits(4, requests_per_minute=7)
        others = [shared_limiter("h:1", None, RateLimits()), shared_limiter("h:2", "key", RateLimits())]
        return [one, *others]

    first, again = asyncio.run(main()), asyncio.run(main())
    assert len({id(limiter) for limiter in (*first, *again)}) == 6, "another loop, another limiter"


def test_what_holds_calls_back_is_told_where_something_does() -> None:
    profile = resolve("lab", {"lab": ProviderSettings(base_url="http://127.0.0.1:9/v1", requests_per_minute=1)}, {})

    async def main() -> list[list[str]]:
        endpoints = Endpoints(concurrency=4)
        endpoint = endpoints.at(profile, None)
        told = [endpoints.notes()]
        with await endpoint.limiter.acquire():
            told.append(endpoints.notes())
        waiting = asyncio.create_task(endpoint.limiter.acquire())
        await asyncio.sleep(0)
        told.append(endpoints.notes())
        waiting.cancel()
        return told

    assert asyncio.run(main()) == [[], [], ["waiting for requests_per_minute at lab"]]


# ------------------------------------------------------------------------------------------ a real socket


def crowded(server: FakeServer, room: int) -> Counter[str]:
    """Let a server rate limit the calls beyond `room` at once, and return a counter of its answers."""
    said: Counter[str] = Counter()
    well = server.reply

    def reply(body: dict[str, Any]) -> str | Raw:
        full = server.in_flight > room
        said["busy" if full else "answered"] += 1
        return BUSY if full else well(body)

    server.reply = reply
    return said


def through(server: FakeServer, limits: RateLimits, calls: int, wait_s: float = 0.02) -> Counter[str]:
    said = crowded(server, 5)
    policy = RetryPolicy(rate_limit_wait_s=wait_s, rate_limit_patience_s=60)

    async def all_of(model: RemoteModel) -> list[Completion]:
        async def one(number: int) -> Completion:
            call = Call((("user", f"number {number}"),))
            return await call_with_retries(lambda: admitted(model, call), policy, RetryCount(), lambda *_: None)

        return await asyncio.gather(*(one(number) for number in range(calls)))

    assert all(answer.text for answer in with_model(server, all_of, limits=limits))
    return said


def test_before_a_server_with_room_for_five_the_calls_settle_and_all_are_answered() -> None:
    said = through(FakeServer(latency_s=0.02), RateLimits(16), 150)
    assert said["answered"] == 150
    assert said["busy"] < 30, "a first burst, and now and then one that feels for more"
    wild = through(FakeServer(latency_s=0.007), RateLimits(), 60, wait_s=0.2)  # earlier retries hardly ever succeed
    assert wild["busy"] > 60, "without slots they are turned away again and again"


def test_a_game_before_such_a_server_has_only_real_decisions_and_the_same_ones(tmp_path: Path) -> None:
    players = '[[players]]\nid = "p"\ncount = 9\n'
    told = []
    for room in (100, 2):
        server = Mendable(latency_s=0.01)
        said = crowded(server, room)
        with server.in_thread():
            result = play(server.url(), tmp_path, 'game_config.phases=["votes"]', players=players, stem=f"room{room}")
        assert result.status == "completed", result.error
        assert (said["busy"] > 0) is (room == 2)
        assert {decision["source"] for decision in result.history["decisions"]} == {"model"}
        told.append([decision["decision"] for decision in result.history["decisions"]])
    assert told[0] == told[1]


def test_no_call_queues_for_a_host_s_sake_for_longer_than_there_is_patience() -> None:
    """Each of six calls is told to wait 50 s; the calls behind must not wait 100, 150 and 200 s."""
    time = Time()
    queued: list[float] = []

    async def call(limiter: RateLimiter) -> None:
        began = time.now
        with contextlib.suppress(RateLimited), await limiter.acquire():
            queued.append(time.now - began)
            raise RateLimited("slow down", retry_after=50.0)

    async def main() -> None:
        limiter = RateLimiter(RateLimits(concurrency=1, patience_s=60.0), clock=time, sleep=time.sleep)
        await time.until(*[asyncio.create_task(call(limiter)) for _ in range(6)])

    asyncio.run(main())
    assert queued == [0.0, 50.0, 60.0, 60.0, 60.0, 60.0]
