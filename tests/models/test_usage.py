"""Usage: the token counts of a provider, in its own form, as the counts that are paid for."""

from __future__ import annotations

from typing import Any

import pytest

from agentsim.models.base import Call, Completion, Sampling, Usage
from agentsim.models.prices import Price, Prices
from agentsim.models.wire import WIRES, Wire
from tests.fakes.replies import envelope
from tests.fakes.server import FakeServer, Raw
from tests.models.asking import tried


def counted(said: dict[str, Any]) -> Usage:
    """Return the usage of one call to a server that reports this."""
    server = FakeServer(lambda _body: Raw(body=envelope("yes") | {"usage": said}))
    answer = tried(server, Call((("user", "Vote."),)), Sampling())
    assert isinstance(answer, Completion)
    return answer.usage


THOUGHT = {"completion_tokens_details": {"reasoning_tokens": 1000}}
COUNTS: dict[str, tuple[dict[str, Any], int | None]] = {
    "beside the completion, in the total": (
        {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 1015, **THOUGHT},
        1005,
    ),
    "only in the total": ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 1015}, 1005),
    "all thinking, no completion": ({"prompt_tokens": 10, "total_tokens": 1010}, 1000),
    "beside the completion, without a total": ({"prompt_tokens": 10, "completion_tokens": 5, **THOUGHT}, 1005),
    "within the completion": ({"prompt_tokens": 10, "completion_tokens": 1005, "total_tokens": 1015, **THOUGHT}, 1005),
    "a total that is none": ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": "many"}, 5),
    "a total below its parts": ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 3}, 5),
    "no count at all": ({"prompt_tokens": 10}, None),
}


@pytest.mark.parametrize(("said", "paid"), COUNTS.values(), ids=COUNTS)
def test_thinking_is_part_of_the_completion_however_a_provider_counts_it(
    said: dict[str, Any], paid: int | None
) -> None:
    usage = counted(said)
    assert (usage.prompt_tokens, usage.completion_tokens) == (10, paid)


TOKENS = {"prompt_tokens": 1000, "completion_tokens": 100}
CACHED: dict[str, tuple[dict[str, Any], int | None]] = {
    "OpenAI, OpenRouter": ({"prompt_tokens_details": {"cached_tokens": 900}}, 900),
    "Moonshot": ({"cached_tokens": 900}, 900),
    "DeepSeek": ({"prompt_cache_hit_tokens": 900, "prompt_cache_miss_tokens": 100}, 900),
    "Anthropic, by a gateway": ({"cache_read_input_tokens": 900, "cache_creation_input_tokens": 0}, 900),
    "a gateway's zero beside it": ({"prompt_tokens_details": {"cached_tokens": 0}, "cached_tokens": 900}, 900),
    "a gateway's null beside it": ({"prompt_tokens_details": None, "prompt_cache_hit_tokens": 900}, 900),
    "none was cached": ({"cached_tokens": 0}, 0),
    "a word that is no number": ({"cached_tokens": "900", "prompt_cache_hit_tokens": True}, None),
    "no word": ({}, None),
}


@pytest.mark.parametrize(("said", "cached"), CACHED.values(), ids=CACHED)
def test_cached_tokens_are_counted_under_every_name_that_hosts_have_for_them(
    said: dict[str, Any], cached: int | None
) -> None:
    usage = counted(TOKENS | said)
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (1000, cached, 100)
    prices = Prices({"lab/some/model": Price(input=100, output=1000, cached_input=10)})
    assert prices.cost("lab/some/model", usage) == pytest.approx(0.119 if cached else 0.2)


def test_cached_tokens_that_a_gateway_counts_beside_the_prompt_are_a_part_of_it() -> None:
    usage = counted({"prompt_tokens": 60, "completion_tokens": 5, "cache_read_input_tokens": 900})
    assert (usage.prompt_tokens, usage.cached_tokens) == (960, 900)
    written = {"cache_read_input_tokens": 900, "cache_creation_input_tokens": 40}
    assert counted({"prompt_tokens": 60, "completion_tokens": 5, **written}).prompt_tokens == 1000


UPSTREAM = {"upstream_inference_cost": 0.5}
COSTS: dict[str, tuple[dict[str, Any], float | None]] = {
    "no charge but the host's": ({"cost": 0, "is_byok": True, "cost_details": UPSTREAM}, 0.5),
    "a fee and the host's": ({"cost": 0.025, "is_byok": True, "cost_details": UPSTREAM}, 0.525),
    "the host's in two parts": (
        {
            "cost": 0,
            "is_byok": True,
            "cost_details": {
                "upstream_inference_cost": None,
                "upstream_inference_prompt_cost": 0.125,
                "upstream_inference_completions_cost": 0.375,
            },
        },
        0.5,
    ),
    "the host's in two parts of a response": (
        {
            "cost": 0.025,
            "is_byok": True,
            "cost_details": {"upstream_inference_input_cost": 0.125, "upstream_inference_output_cost": 0.375},
        },
        0.525,
    ),
    "a host that does not say": ({"cost": 0, "is_byok": True, "cost_details": {}}, None),
    "a host's that is no number": (
        {"cost": 0, "is_byok": True, "cost_details": {"upstream_inference_cost": "0.5"}},
        None,
    ),
    "a key of the gateway's": ({"cost": 0.5, "is_byok": False, "cost_details": UPSTREAM}, 0.5),
    "a gateway that asks less than its host": ({"cost": 0, "is_byok": False, "cost_details": UPSTREAM}, 0.0),
    "no word of the key, the same twice": ({"cost": 0.5, "cost_details": UPSTREAM}, 0.5),
    "no word of the key, a fee": ({"cost": 0.025, "cost_details": UPSTREAM}, 0.525),
    "Perplexity": ({"cost": {"input_tokens_cost": 0.1, "total_cost": 0.5}}, 0.5),
    "DeepInfra": ({"estimated_cost": 0.5}, 0.5),
    "xAI": ({"cost_in_usd_ticks": 5_000_000_000}, 0.5),
    "below zero": ({"cost": -1}, None),
}


@pytest.mark.parametrize(("said", "cost"), COSTS.values(), ids=COSTS)
def test_a_call_costs_what_the_gateway_and_the_host_behind_it_charge(said: dict[str, Any], cost: float | None) -> None:
    assert counted(TOKENS | said).cost_usd == (None if cost is None else pytest.approx(cost))


@pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)
def test_a_key_of_ones_own_costs_the_same_on_every_wire(wire: Wire) -> None:
    said = {"cost": 0.025, "is_byok": True, "cost_details": UPSTREAM, "cached_tokens": 900}
    usage = wire.usage({"usage": {**said, "prompt_tokens": 1000, "input_tokens": 1000}})
    assert (usage.cost_usd, usage.cached_tokens, usage.prompt_tokens) == (0.525, 900, 1000)
