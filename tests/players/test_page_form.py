"""A form on a page asks what the terminal asks, all at once: every decision of every game can be sent by it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentsim.engine.codec import values
from agentsim.engine.decision import Decision
from agentsim.engine.game import Game
from agentsim.engine.request import Request
from agentsim.engine.survey import decided_by
from agentsim.games import find, names
from agentsim.players.form import Form
from agentsim.players.page_form import FieldProblem, PageField, PageForm
from agentsim.players.typed_answers import called_value
from agentsim.runner.plays import new_play
from agentsim.scenario.load import load
from tests.players.test_human import ASK
from tests.players.test_human_kinds import ASK as KINDS

CONFIGS = Path(__file__).parents[2] / "configs"


def page_of(request: Request[Any]) -> PageForm:
    return PageForm(Form(request))


def answered(page: PageForm, **given: str | Sequence[str]) -> dict[str, Any]:
    sent = {name: [texts] if isinstance(texts, str) else texts for name, texts in given.items()}
    return asyncio.run(page.answered(sent))


class Filling:
    """Fills in a page so that it says a decision."""

    def __init__(self, page: PageForm, said: Mapping[str, Any]) -> None:
        self.page, self.said, self.sent = page, said, dict[str, list[str]]()
        self.open = {field.path: field for field in page.fields}

    async def field(self, path: str, called: str, legal: Mapping[str, Any]) -> Any:
        field = self.open[path]
        value = self.value(path)
        text = ("yes" if value else "no") if isinstance(value, bool) else called_value(value)
        text = text if field.options else str(value)
        if isinstance(value, list):
            entries = [" ".join(map(str, each.values())) if isinstance(each, dict) else str(each) for each in value]
            self.sent[field.name] = entries if field.many else [", ".join(entries)]
        else:
            self.sent[field.name] = [text]
        self.open |= {each.path: each for each in field.then.get(text, ())}
        return value

    def value(self, path: str) -> Any:
        here: Any = self.said
        for name in path.split("."):
            if isinstance(here, list):
                here = here[int(name)] if int(name) < len(here) else None
            elif name == "any" and "any" not in here:
                here = any(here.values())
            elif here is not None:
                here = here.get(name, "")
        return "none" if here is None and isinstance(self.open[path].legal.get("default"), str) else here

    def object(self, problem: str) -> None:
        raise AssertionError(problem)


def sendable(request: Request[Any], decision: Decision) -> bool:
    """Whether a person may say this decision; that it is what arrives is asserted."""
    said = values(decision)
    said = said if said.keys() & request.schema()["properties"].keys() else next(iter(said.values()))
    page = page_of(request)
    filling = Filling(page, said)
    try:
        walked = asyncio.run(Form(request).answered(filling))
    except AssertionError:
        return False  # a warning: it would come to nothing, and a person is asked again
    sent = asyncio.run(page.answered(filling.sent))
    assert sent == walked
    assert request.parse(json.dumps(sent)).decision == request.parse(json.dumps(walked)).decision
    return True


@pytest.mark.parametrize("game", names())
def test_every_decision_of_a_game_can_be_sent_from_a_page(game: str) -> None:
    config = next(path for path in (CONFIGS / f"{game}_bots.toml", CONFIGS / f"{game}.toml") if path.is_file())
    scenario = load(config, seed=3)
    found: Game = find(game)
    play = new_play(scenario, found)
    policy = found.bots["random"] if "random" in found.bots else next(iter(found.bots.values()))
    wave, kinds, count = play.start(), dict[str, int](), 0
    while wave is not None and count < 250:
        decisions = [decided_by(policy, ask.request, play.bot_rng(ask)) for ask in wave.asks]
        for ask, decision in zip(wave.asks, decisions, strict=True):
            if not ask.request.player.startswith("@") and kinds.get(ask.request.kind, 0) < 25:
                count += 1
                kinds[ask.request.kind] = kinds.get(ask.request.kind, 0) + sendable(ask.request, decision)
        wave = play.answer(decisions)
    assert kinds
    assert all(kinds.values()), f"no decision of a kind could be sent: {kinds}"


def names_of(fields: Sequence[PageField]) -> list[str]:
    return [each.name for field in fields for each in (field, *flat(field))]


def flat(field: PageField) -> list[PageField]:
    return [each for rest in field.then.values() for inner in rest for each in (inner, *flat(inner))]


def test_a_page_says_what_each_field_may_be() -> None:
    side, amount, fast, why = page_of(ASK.request).fields
    assert side.options == [("Buy", "Buy"), ("Sell", "Sell")]
    assert (amount.whole, amount.hint, amount.required) == (True, "1 to 9", True)
    assert fast.options == [("yes", "yes"), ("no", "no")]
    assert (why.hint, why.required, why.options) == ("at most 20 characters", False, [])


@pytest.mark.parametrize(
    ("changed", "name", "problem"),
    [
        ({"amount": "12"}, "amount", "A whole number from 1 to 9, please."),
        ({"side": ""}, "side", "One of these, please: Buy, Sell."),
        ({"fast": "perhaps"}, "fast", "Yes or no, please."),
        ({"why": "x" * 21}, "why", "That is 21 characters, and 20 fit. Shorter, please."),
    ],
)
def test_what_will_not_do_is_named_with_its_field(changed: dict[str, str], name: str, problem: str) -> None:
    with pytest.raises(FieldProblem, match=problem) as caught:
        answered(page_of(ASK.request), **{"side": "Sell", "amount": "3", "fast": "yes", "why": "so", **changed})
    assert caught.value.name == name


def test_the_fields_of_a_kind_stand_below_it_and_count_only_with_it() -> None:
    page = page_of(KINDS.request)
    kind = page.fields[0]
    assert {value: [each.called for each in rest] for value, rest in kind.then.items()} == {
        "say": ["deed: words"],
        "give": ["deed: coins"],
    }
    assert len(set(names_of(page.fields))) == len(names_of(page.fields))
    sent = {"deed.do": "give", "deed.coins@deed.do=give": "3", "deed.words@deed.do=say": "never sent"}
    assert answered(page, **sent, **{"more.0.do": "none"}) == {"deed": {"do": "give", "coins": 3}, "more": []}
