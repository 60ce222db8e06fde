"""Whole games on each wire: the same game, tokens and price, computed by hand to the cent."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentsim.models.profiles import WireName
from agentsim.runs.replay import prove
from agentsim.runs.run import RunResult
from tests.amounts import some_of
from tests.contract.harness import FEW, GAMES, on_server
from tests.fakes.replies import envelope, varied_by_schema
from tests.fakes.server import FakeServer, Raw

WIRES: tuple[WireName, ...] = ("chat", "responses", "messages")
INPUT, CACHED, OUTPUT = 3.0, 0.3, 15.0  # US dollars per million tokens
PRICES = (
    f'prices."fake/echo".input={INPUT}',
    f'prices."fake/echo".cached_input={CACHED}',
    f'prices."fake/echo".output={OUTPUT}',
)


class Accountant:
    """A model that decides by the text of the prompt alone, returns reasoning, and sums up its usage."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any]) -> Raw:
        prompt = "\n".join(message["content"] for message in body["messages"])
        tool = body["tools"][0]["function"] if "tools" in body else None
        schema = tool["parameters"] if tool else body["response_format"]["json_schema"]["schema"]
        said = varied_by_schema({"prompt": prompt, "response_format": {"json_schema": {"schema": schema}}})
        used = {"prompt": len(prompt) // 4, "cached": len(prompt) // 12, "completion": len(said), "reasoning": 7}
        self.spent.update(used)
        usage = {
            "prompt_tokens": used["prompt"],
            "completion_tokens": used["completion"],
            "total_tokens": used["prompt"] + used["completion"],
            "prompt_tokens_details": {"cached_tokens": used["cached"]},
            "completion_tokens_details": {"reasoning_tokens": used["reasoning"]},
        }
        message: dict[str, Any] = {"role": "assistant", "content": said, "reasoning": "SECRET"}
        reason = "stop"
        if tool:
            call = {"name": tool["name"], "arguments": said}
            message |= {"content": None, "tool_calls": [{"id": "c", "type": "function", "function": call}]}
            reason = "tool_calls"
        return Raw(body=envelope(None, model="echo", message=message, finish_reason=reason) | {"usage": usage})

    @property
    def dollars(self) -> float:
        fresh = self.spent["prompt"] - self.spent["cached"]
        return (fresh * INPUT + self.spent["cached"] * CACHED + self.spent["completion"] * OUTPUT) / 1_000_000


def play(game: str, wire: WireName, mode: str, folder: Path) -> tuple[RunResult, Accountant, list[Any]]:
    accountant = Accountant()
    with FakeServer(accountant).in_thread() as server:
        settings = (f'providers.fake.wire="{wire}"', f'providers.fake.structured="{mode}"', *PRICES)
        result = on_server(game, server.url(), folder, *settings)
        return result, accountant, [received.path for received in server.received]


@some_of("mode", ["json_schema", "tool"], "json_schema")
@some_of("game", GAMES, *FEW)
def test_a_game_is_the_same_on_every_wire_and_its_price_is_right_to_the_cent(
    game: str, mode: str, tmp_path: Path
) -> None:
    played: dict[str, Any] = {}
    for wire in WIRES:
        result, accountant, paths = play(game, wire, mode, tmp_path / wire)
        history, usage = result.history, result.history["usage"]
        assert (result.error, history["outcome"] is not None) == (None, True)
        assert (usage["calls"], usage["failed_calls"], usage["unpriced_calls"]) == (len(paths), 0, 0)
        assert {path.rpartition("/v1/")[2] for path in paths} == {{"chat": "chat/completions"}.get(wire, wire)}
        counted = {name: usage[f"{name}_tokens"] for name in ("prompt", "cached", "completion", "reasoning")}
        assert counted == dict(accountant.spent)
        assert usage["cost_usd"] == pytest.approx(accountant.dollars, abs=1e-9)
        assert prove(result.files).complete
        assert "SECRET" not in json.dumps(history["rounds"])
        decided = [(each["kind"], each["decision"], each["source"]) for each in history["decisions"]]
        played[wire] = [history[part] for part in ("rounds", "outcome", "players", "texts")] + [decided]
    assert played["responses"] == played["chat"]
    assert played["messages"] == played["chat"]
