"""With limits: a run that goes on with other limits than it began with. What the limits mean is in `schema`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentsim.errors import ScenarioError, UsageError
from agentsim.scenario.scenario import Scenario, unpriced
from agentsim.scenario.schema import Limits
from agentsim.scenario.secret_scan import screen
from agentsim.scenario.validation_error import validated

__all__ = ["with_limits"]

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
