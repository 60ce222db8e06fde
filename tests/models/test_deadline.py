"""Deadlines: what is here in time is taken, and a loop that stands still uses up nobody's time."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import replace

import pytest

from agentsim.errors import TransportFailed
from agentsim.models import attempts
from agentsim.models.base import Call, Completion, Sampling
from agentsim.models.profiles import ProviderSettings, resolve
from agentsim.models.remote import Endpoint, OpenAICompatible
from tests.fakes.replies import envelope
from tests.fakes.server import FakeServer, Raw

CALL = Call((("user", "Hello."),))


def openai_model(server: FakeServer) -> OpenAICompatible:
    profile = resolve("lab", {"lab": ProviderSettings(base_url=server.url())}, {})
    return OpenAICompatible("lab/m", profile, Endpoint(profile.base_url, None))


def padded(raw: Raw) -> Raw:
    """The same answer in a megabyte."""
    return replace(raw, body=raw.encoded().partition(b"\r\n\r\n")[2] + b" " * 1_000_000)


def ask(raw: Raw, *, timeout_s: float, latency_s: float, stands_still_s: float) -> Completion | TransportFailed:
    """One call; as soon as it is out, the loop stands still for so long."""
    server = FakeServer(lambda _body: raw)

    async def main() -> Completion | TransportFailed:
        model = openai_model(server)
        try:
            await model.complete(CALL, Sampling(timeout_s=30.0))  # connected, and everything is loaded
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
    """Both happen while the loop is busy, for too short a time to be taken for a standstill."""
    monkeypatch.setattr(attempts, "_STANDSTILL_S", math.inf)
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
