"""`configs/monopoly_seed.toml`: the decision points, models and policies of the design, and no others."""

from __future__ import annotations

from collections import Counter

from agentsim.engine.simulate import simulate
from agentsim.games import find
from agentsim.games.monopoly.building import ManageEstate
from agentsim.games.monopoly.trade import ProposeTrade
from agentsim.scenario.load import load
from tests.cli.command_line import ROOT

MONOPOLY = find("monopoly")
SCENARIO = load(ROOT / "configs" / "monopoly_seed.toml")
ASKED = {"jail_action", "propose_trade", "manage_estate", "answer_trade", "react", "buy_or_auction", "auction_bid"}


def test_only_the_decision_points_of_the_design_are_asked() -> None:
    """And that of a debt, which the design leaves to the debtor without saying how it is asked."""
    config = SCENARIO.config.model_dump(mode="json")
    players = [plan.id for plan in SCENARIO.players]
    kinds: Counter[str] = Counter()
    for seed in range(3):
        played = simulate(
            MONOPOLY,
            config,
            players,
            bot=lambda request, rng: MONOPOLY.bots[request.player.lower()](request, rng),
            seed=seed,
        )
        kinds.update(ask.request.kind for ask in played.asks())
        phases = [ask.request for ask in played.asks() if isinstance(ask.request, ManageEstate | ProposeTrade)]
        assert {request.when for request in phases} <= {"before", "after", "jail"}
        assert all(request.player == request.view.seats[request.view.active].id for request in phases)
    assert ASKED <= set(kinds) <= {*ASKED, "raise_cash"}


def test_each_personality_has_the_temperature_of_the_matrix_and_a_provider_of_two() -> None:
    found = {plan.id: (plan.model.partition("/")[0], plan.temperature) for plan in SCENARIO.players}
    assert found == {
        "Shark": ("openai", 0.7),
        "Professor": ("gemini", 0.3),
        "Hustler": ("openai", 1.0),
        "Turtle": ("gemini", 0.2),
    }


def test_a_decision_has_30_seconds_500_tokens_and_one_identical_retry_after_2_seconds() -> None:
    for plan in SCENARIO.players:
        assert (plan.timeout_s, plan.max_tokens, plan.retries, plan.reasks, plan.max_attempts) == (30, 500, 1, 1, 2)
        assert (plan.retry_wait_s, plan.reask_with, plan.reask_on) == ((2,), "same", ("unreadable",))
        assert plan.rate_limit_wait_s == 60
    assert {provider.spacing_ms for provider in SCENARIO.providers.values()} == {200}
    assert {name: provider.structured for name, provider in SCENARIO.providers.items()} == {
        "openai": "tool",
        "gemini": "json_schema",
    }


def test_others_read_of_every_player_what_it_is_like() -> None:
    config = SCENARIO.config.model_dump()
    assert set(config["personalities"]) == {plan.id for plan in SCENARIO.players}
