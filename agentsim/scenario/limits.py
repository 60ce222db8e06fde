"""Limits of a run and the prices that a limit in dollars needs; what the limits mean is in `schema`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentsim.errors import ScenarioError, UsageError
from agentsim.models.tokens import Prices
from agentsim.scenario.scenario import Scenario
from agentsim.scenario.schema import Limits
from agentsim.scenario.secret_scan import screen
from agentsim.scenario.validation_error import nearest, validated

__all__ = ["check_prices", "idle_prices", "prices_of", "unpriced", "with_limits"]

_OPTIONS = {"max_cost_usd": "--max-cost", "max_calls": "--max-calls", "max_wall_s": "--max-wall"}


def with_limits(scenario: Scenario, env: Mapping[str, str], **given: float | None) -> Scenario:
    """The scenario with these limits in place of its own, where they are not None.

    `max_cost_usd`, `max_calls` and `max_wall_s` are checked as they are in a scenario's file. Raises `UsageError`,
    which names the option of the command line; also for a limit in dollars where a price is unknown.
    """
    new = {key: value for key, value in given.items() if value is not None}
    try:
        screen(new)
        limits = validated(Limits, {**scenario.limits.model_dump(mode="json"), **new})
    except ScenarioError as error:
        raise UsageError(f"{_OPTIONS.get(error.key, error.key)}: {error.problem}") from None
    scenario = replace(scenario, limits=limits)
    if (model := unpriced(scenario, env)) is not None:
        raise UsageError(
            f"{_OPTIONS['max_cost_usd']}: the price of {model} is unknown, and a run keeps the prices that it began "
            f'with; limit {_OPTIONS["max_calls"]}, or begin a new run with a [prices."{model}"] table'
        )
    return scenario


def prices_of(scenario: Scenario, env: Mapping[str, str]) -> Prices:
    """The prices of the scenario's models, for the addresses given by its tables and the environment."""
    return Prices(scenario.prices, scenario.providers, env)


def idle_prices(scenario: Scenario) -> list[str]:
    """A line for each price of a model that the scenario does not use: left over, or mistyped."""
    used = list(dict.fromkeys(each.model for plan in scenario.seats for each in plan.models))
    idle = [model for model in scenario.prices if model not in used]
    return [f'prices."{model}": nobody plays with this model{nearest(model, used)[0]}' for model in idle]


def unpriced(scenario: Scenario, env: Mapping[str, str]) -> str | None:
    """The first model of unknown price where a limit in dollars is set, else None."""
    if scenario.limits.max_cost_usd is None:
        return None
    prices = prices_of(scenario, env)
    return next((each.model for plan in scenario.seats for each in plan.models if not prices.known(each.model)), None)


def check_prices(scenario: Scenario, env: Mapping[str, str]) -> None:
    """Raise `ScenarioError` where a limit in dollars is set and the price of a model is unknown."""
    if (model := unpriced(scenario, env)) is not None:
        raise ScenarioError(
            f'the price of {model} is unknown; add a [prices."{model}"] table with input and output, '
            "in US dollars per million tokens",
            key="limits.max_cost_usd",
        )
