"""Deadlines: an answer that has arrived in time is used, and time in which the event loop is blocked does not count."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import replace

import pytest

from agentsim.errors import TransportFailed
from agentsim.models import pacing
from agentsim.models.base import Call, Completion, Sampling
from agentsim.models.profiles import ProviderSettings, resolve
from agentsim.models.remote import Endpoint, RemoteModel
from tests.fakes.replies import envelope
from tests.fakes.server import FakeServer, Raw

CALL = Call((("user", "Hello."),))


def openai_model(server: FakeServer) -> RemoteModel:
    profile = resolve("lab", {"lab": ProviderSettings(base_url=server.url())}, {})
    return RemoteModel("lab/m", profile, Endpoint(profile.base_url, None))


def padded(raw: Raw) -> Raw:
    """Return the same answer padded to a megabyte."""
    return replace(raw, body=raw.encoded().partition(b"\r\n\r\n")[2] + b" " * 1_000_000)


def ask(raw: Raw, *, timeout_s: float, latency_s: float, stands_still_s: float) -> Completion | TransportFailed:
    """Make one call and block the event loop for this time once the call is sent."""
    server = FakeServer(lambda _body: raw)

    async def main() -> Completion | TransportFailed:
        model = openai_model(server)
        try:
            await model.complete(CALL, Sampling(timeout_s=30.0))  # connects and loads all modules
            server.latency_s = latency_s
            asking = asyncio.create_task(model.complete(CALL, Sampling(timeout_s=timeout_s)))
            while len(server.received) < 2:  # noqa: ASYNC110 - it arrives in another thread
                await asyncio.sleep(0)
            time.sleep(stands_still_s)  # noqa: ASYNC251 - that is what it is about
            return await asking
        except TransportFailed as fault:
            return fault
        finally:
            await model.aclose()

    with server.in_thread():
        return asyncio.run(main())


SAID = Raw(body=envelope("hello"))


@pytest.mark.parametrize("raw", [SAID, padded(SAID)], ids=["short", "1 MB"])
def test_an_answer_that_is_here_when_the_deadline_passes_is_taken(raw: Raw, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both happen while the loop is busy, for less time than counts as a standstill."""
    monkeypatch.setattr(pacing, "_STANDSTILL_S", math.inf)
    answer = ask(raw, timeout_s=0.2, latency_s=0.02, stands_still_s=0.25)
    assert isinstance(answer, Completion), answer


def test_time_in_which_the_loop_stood_still_does_not_count() -> None:
    answer = ask(SAID, timeout_s=0.4, latency_s=0.6, stands_still_s=0.5)
    assert isinstance(answer, Completion), answer


def test_after_a_standstill_there_is_an_end_all_the_same() -> None:
    began = time.monotonic()
    answer = ask(SAID, timeout_s=0.2, latency_s=60.0, stands_still_s=0.4)
    assert isinstance(answer, TransportFailed)
    assert answer.code == "timeout"
    assert time.monotonic() - began > 0.45
