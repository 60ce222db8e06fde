"""The embedded model as a live service: nested schemas, long prompts, overflow, cancelling, several games at once."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from agentsim.history.record import History
from agentsim.models.base import Call, Completion, Sampling
from agentsim.models.local import LocalModel, embedded_models, find_gguf, open_local, server_for
from agentsim.runner.session import RunResult, begin
from agentsim.scenario.load import load
from tests.fakes.admitted import admitted

NAME = "local/smollm2-135m"
pytestmark = [
    pytest.mark.skipif(not all(embedded_models().values()), reason="the extra `local` is not installed"),
    pytest.mark.timeout(300),  # a busy machine reads 45 tokens of a prompt in a second
]
PATIENT = 250.0
T = TypeVar("T")

NESTED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "trade": {
            "type": "object",
            "properties": {
                "with": {"type": "string", "enum": ["Ada", "Bob"]},
                "give": {
                    "type": "array",
                    "items": {"type": "string", "enum": ["wood", "ore"]},
                    "minItems": 1,
                    "maxItems": 2,
                },
                "price": {"type": "integer", "minimum": 3, "maximum": 9},
            },
            "required": ["with", "give", "price"],
            "additionalProperties": False,
        },
        "mood": {"anyOf": [{"type": "string", "enum": ["calm", "cross"]}, {"type": "null"}]},
    },
    "required": ["trade", "mood"],
    "additionalProperties": False,
}


@pytest.fixture(autouse=True, scope="module")
def _kept() -> Iterator[None]:
    """The server stays up between the tests."""
    server, test = server_for(find_gguf(NAME, None)), object()
    server.join(test)
    yield
    server.leave(test)


def with_model(use: Callable[[LocalModel], Awaitable[T]]) -> T:
    async def main() -> T:
        model = open_local(NAME, None, seed=1)
        try:
            return await use(model)
        finally:
            await model.aclose()

    return asyncio.run(main())


def test_a_nested_schema_is_honoured() -> None:
    call = Call((("user", "Offer a trade."),), NESTED, "offer", tag="A/offer/1/1")
    answer = with_model(lambda model: model.complete(call, Sampling(1.0, max_tokens=90, timeout_s=PATIENT)))
    said = json.loads(answer.text)
    assert set(said) == {"trade", "mood"}
    assert set(said["trade"]) == {"with", "give", "price"}
    assert said["trade"]["with"] in {"Ada", "Bob"}
    assert 1 <= len(said["trade"]["give"]) <= 2
    assert set(said["trade"]["give"]) <= {"wood", "ore"}
    assert 3 <= said["trade"]["price"] <= 9
    assert said["mood"] in {"calm", "cross", None}


def test_a_long_context_is_read_once() -> None:
    """Two questions behind one history of over 600 tokens, five batches: the second finds it in the cache."""
    history = "\n".join(f'{{"round":{n},"from":"P{n % 5}","text":"I keep {n} coins."}}' for n in range(30))
    few = Sampling(0.0, max_tokens=4, timeout_s=PATIENT)

    async def twice(model: LocalModel) -> list[Completion]:
        return [
            await model.complete(Call((("user", f"{history}\n{question}"),), tag="A/say/1/1"), few)
            for question in ("Who leads?", "Who is last?")
        ]

    first, second = with_model(twice)
    assert first.usage.prompt_tokens is not None
    assert first.usage.prompt_tokens > 600
    assert second.usage.prompt_tokens is not None
    assert second.usage.cached_tokens is not None
    assert second.usage.cached_tokens > 0.9 * second.usage.prompt_tokens


def test_a_cancelled_generation_frees_the_slot() -> None:
    async def cancel(model: LocalModel) -> Completion:
        endless = Call((("user", "Count to a thousand."),), tag="A/say/1/1")
        forever = Sampling(0.0, max_tokens=4_000, timeout_s=PATIENT, extra={"ignore_eos": True})
        await model.complete(Call((("user", "Hello."),)), Sampling(max_tokens=1, timeout_s=PATIENT))  # it is loaded
        task = asyncio.create_task(admitted(model, endless, forever))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.0):  # it is in the middle of its words by then
                await asyncio.shield(task)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # 4,000 tokens would take a minute and more, here and everywhere
        hello = Call((("user", "Hello."),), tag="A/say/2/1")
        return await admitted(model, hello, Sampling(max_tokens=2, timeout_s=30.0))

    assert with_model(cancel).usage.completion_tokens


AUCTION = f"""
game = "auction"
[defaults]
model = "{NAME}"
max_tokens = 16
timeout_s = 250
reasks = 0
[game_config]
format = "sealed_first_price"
reasoning_chars = 20
items.scenario = "one"
items.items = [{{ Name = "Compass", Quality = 61, IsRequired = true }}]
[[players]]
id = "A"
[[players]]
id = "B"
"""


def test_three_games_at_once_share_one_server(tmp_path: Path) -> None:
    config = tmp_path / "auction.toml"
    config.write_text(AUCTION, encoding="utf-8")
    results: dict[int, RunResult] = {}

    def play(seed: int) -> None:
        results[seed] = begin(
            load(config, overrides=(f"seed={seed}", "limits.max_fallback_rate=1")), tmp_path, env={}, stem=f"game{seed}"
        )

    threads = [threading.Thread(target=play, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(280)
    assert sorted(results) == [0, 1, 2]
    for result in results.values():
        assert result.status == "completed", result.error
        history = History.model_validate_json(result.files.history.read_text(encoding="utf-8"))
        assert (history.usage.calls, history.usage.failed_calls) == (2, 0)
        assert history.usage.completion_tokens > 0
