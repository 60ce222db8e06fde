"""Mistakes in an artifact: one clear line that names the artifact and the method, whatever went wrong."""

from __future__ import annotations

from typing import Any

import pytest

from agentsim.engine import GameConfig, Number
from agentsim.engine.capability import Refused
from agentsim.errors import RulesBroken, ScenarioError
from agentsim.games.market import GAME, artifacts
from agentsim.games.market.artifact import HOOKS, Artifact, action, query
from tests.games.market.market import asks, does, play


def made(**methods: Any) -> type[Artifact]:
    """An artifact `odd` with an action, a query, and these methods instead of those that it has."""

    class Odd(Artifact):
        name = "odd"
        description = "is odd."

        @action("act", amount=Number(1, 9, about="how much"))
        def act(self, agent: str, amount: int) -> str:
            return "Done."

        @query("ask")
        def ask(self, agent: str) -> dict[str, int]:
            return {"is": 1}

    return type("Odder", (Odd,), methods)


def market(kind: type[Artifact], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(artifacts, "find", lambda name: kind)
    return play({"A": [does("act", amount=1)], "B": []}, queries={"A": [asks("ask")]}, artifacts=["odd"])


def failing(*given: Any, **named: Any) -> Any:
    raise KeyError("pot")


RETURNS = {"round_ended": 1, "orders": [1], "most": {"act": "many"}, "claims": None, "check": "wrong", "promised": []}


@pytest.mark.parametrize("hook", [hook for hook in HOOKS if hook != "period_ended"])
def test_an_exception_names_the_artifact_and_the_hook(hook: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where = "the constructor" if hook == "__init__" else hook
    with pytest.raises(RulesBroken, match=rf"^artifact odd: {where} failed: KeyError: 'pot'$"):
        market(made(**{hook: failing}), monkeypatch)


@pytest.mark.parametrize("hook", RETURNS)
def test_a_return_of_the_wrong_kind_names_the_artifact_and_the_hook(hook: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RulesBroken, match=rf"^artifact odd: {hook} must return [\w ]+, and returned "):
        market(made(**{hook: lambda *given: RETURNS[hook]}), monkeypatch)


@pytest.mark.parametrize("returned", [None, 3, {"a": 1}])
def test_an_action_returns_a_text(returned: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    act = action("act", amount=Number(1, 9))(lambda self, agent, amount: returned)
    with pytest.raises(RulesBroken, match="artifact odd: act must return a text for the agent, and returned"):
        market(made(act=act), monkeypatch)


@pytest.mark.parametrize("returned", ["text", [1], {"a": {1, 2}}, {"a": float("nan")}, None])
def test_a_query_returns_an_object_of_json_values(returned: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = query("ask")(lambda self, agent: returned)
    with pytest.raises(RulesBroken, match="artifact odd: ask must return an object of JSON values, and returned"):
        market(made(ask=ask), monkeypatch)


def test_only_actions_and_queries_may_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*given: Any) -> None:
        raise Refused("no")

    with pytest.raises(RulesBroken, match="artifact odd: round_ended failed: Refused: no"):
        market(made(round_ended=refuses), monkeypatch)


def test_a_line_of_the_kernel_names_the_artifact_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def takes_too_much(self: Artifact, number: int) -> None:
        self.world.ledger.move("A", "B", "wheat", 10**6)

    with pytest.raises(RulesBroken, match="round_ended failed: AssertionError: only what is free changes hands"):
        market(made(round_ended=takes_too_much), monkeypatch)


def test_a_description_names_what_the_settings_have(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RulesBroken, match=r"artifact odd: the constructor failed: .*price"):
        market(made(description="sells at {price}."), monkeypatch)


def test_what_an_artifact_cannot_be_made_of_is_the_scenarios_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    def wants_more(*given: Any) -> None:
        raise ValueError("three agents at least")

    kind = made(__init__=wants_more)
    monkeypatch.setattr(artifacts, "find", lambda name: kind)
    config: Any = GAME.config.from_toml({"artifacts": ["odd"]})
    with pytest.raises(ScenarioError, match="three agents at least"):
        GAME.admit(config, ["A", "B"])


def test_state_may_be_called_as_an_action_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def begins(self: Artifact, world: Any, settings: GameConfig) -> None:
        Artifact.__init__(self, world, settings)
        self.act = 3  # type: ignore[attr-defined] # as an author may do who does not think of it

    assert market(made(__init__=begins), monkeypatch).outcome
