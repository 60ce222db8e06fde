"""A form on a page: what may be answered, what an answer means, and that every decision of every game can be sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import new_class
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from agentsim.engine import Number, Options, Text
from agentsim.engine.codec import json_fields
from agentsim.engine.decision import Decision
from agentsim.engine.game import Game
from agentsim.engine.options import (
    Anything,
    Choice,
    FormField,
    Kinds,
    LegalValues,
    RealNumber,
    Several,
    YesNo,
    called_value,
    of_schema,
)
from agentsim.engine.request import Request
from agentsim.engine.simulate import simulate
from agentsim.engine.survey import decided_by
from agentsim.engine.wording import Prompt
from agentsim.games import find, names
from agentsim.players.page_form import FieldProblem, Form, PageField, PageForm
from agentsim.runs.game_in_progress import new_play
from agentsim.scenario.load import load
from tests.amounts import each_row
from tests.players.filled import Filled, filled
from tests.players.test_human import ASK, Order

CONFIGS = Path(__file__).parents[2] / "configs"


def page_of(request: Request[Any]) -> PageForm:
    return PageForm(Form(request))


def answered(page: PageForm, **given: str | Sequence[str]) -> dict[str, Any]:
    sent = {name: [texts] if isinstance(texts, str) else texts for name, texts in given.items()}
    return page.answered(sent)


class Filling:
    """Fills in a page so that it says a decision."""

    def __init__(self, page: PageForm, said: Mapping[str, Any]) -> None:
        self.page, self.said, self.sent = page, said, dict[str, list[str]]()
        self.open = {field.path: field for field in page.fields}

    def field(self, path: str, legal: FormField) -> Any:
        field = self.open[path]
        value = self.value(path)
        if legal.option.kind == "choice" and value not in legal.option.values:
            raise FieldProblem(field.name, "The form does not offer this.")
        text = called_value(value) if field.options else str(value)
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
        return "none" if here is None and isinstance(self.open[path].field.preset, str) else here


def sendable(request: Request[Any], decision: Decision) -> bool:
    """Whether a person may say this decision; that it is what arrives is asserted."""
    said = json_fields(decision)
    said = said if said.keys() & request.schema()["properties"].keys() else next(iter(said.values()))
    page = page_of(request)
    filling = Filling(page, said)
    try:
        walked = Form(request).answered(filling.field)
    except FieldProblem:
        return False  # it would come to nothing: the form does not offer it, or warns
    sent = page.answered(filling.sent)
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
    page = page_of(KINDS)
    kind = page.fields[0]
    assert {value: [each.called for each in rest] for value, rest in kind.then.items()} == {
        "say": ["deed: words"],
        "give": ["deed: coins"],
    }
    assert len(set(names_of(page.fields))) == len(names_of(page.fields))
    sent = {"deed.do": "give", "deed.coins@deed.do=give": "3", "deed.words@deed.do=say": "never sent"}
    assert answered(page, **sent, **{"more.0.do": "none"}) == {"deed": {"do": "give", "coins": 3}, "more": []}


class Say(BaseModel):
    do: Literal["say"] = "say"
    words: str


class Give(BaseModel):
    do: Literal["give"] = "give"
    coins: int


Kind = Annotated[Say | Give, Field(discriminator="do")]


class Deeds(Decision):
    deed: Kind
    more: Annotated[tuple[Kind, ...], Field(max_length=2)]


class Do(Request[Deeds]):
    """What do you do?"""

    def options(self) -> Options:
        return {"deed.coins": Number(1, 9)}

    def prompt(self) -> Prompt:
        return Prompt((), (), (), ("What do you do?",))


KINDS = Do(player="A")
GIVE = {"do": "give", "coins": 3}


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (("give", "3", "none"), {"deed": GIVE, "more": []}),
        (("SAY", "hello", "none"), {"deed": {"do": "say", "words": "hello"}, "more": []}),
        (("sing", "give", "12", "3", "none"), {"deed": GIVE, "more": []}),
        (("give", "3", "give", "3", "none"), {"deed": GIVE, "more": [GIVE]}),
        (("give", "3", "give", "3", "give", "3"), {"deed": GIVE, "more": [GIVE, GIVE]}),
    ],
    ids=["one", "in any case", "corrected", "and another", "no more than fit"],
)
def test_the_kind_is_asked_first_and_then_its_fields(lines: tuple[str, ...], answer: Any) -> None:
    form = Filled(KINDS, *lines)
    assert form.answer() == answer
    assert "deed: do [say / give]: " in form.text
    assert "more: do [say / give / none]: " in form.text


@pytest.mark.parametrize(
    "legal",
    [
        {},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}]},
    ],
    ids=["nothing", "a text or nothing", "records that nothing tells apart"],
)
def test_what_is_not_of_several_kinds(legal: dict[str, Any]) -> None:
    assert not isinstance(of_schema(legal), Kinds)


class Gift(Decision):
    give: bool
    coins: int


class Wrapped(Decision):
    gift: Gift | None


@pytest.mark.parametrize("record", [Gift, Wrapped], ids=["itself", "a part of it"])
def test_what_a_first_no_leaves_out_needs_a_default(record: type[Decision]) -> None:
    """A person who has said no is asked nothing more, and would be asked the same again for ever."""
    with pytest.raises(TypeError, match=r"^Offer: Gift\.coins needs a default: give may be answered no$"):
        new_class("Offer", (Request[record],))  # type: ignore[valid-type] # the class is made as the test runs


class Gifts(Decision):
    gifts: tuple[Gift, ...]
    words: str


def test_entries_that_are_typed_in_one_line_need_none() -> None:
    type("Offers", (Request,), {"kind": "offers", "answer": Gifts})


WHOLE = Number(0, 90)
SOME = Several(of_schema({"type": "integer"}), 1, 2)
WORDS = of_schema({"type": "string"})


def field(option: LegalValues | FormField) -> PageField:
    return PageField("field", "field", "field", option if isinstance(option, FormField) else FormField(option), {})


@each_row(
    "option, typed, meant",
    [
        (Choice(("Bea", "Cyd")), "BEA", "Bea"),
        (Choice((2, 3)), "3", 3),
        (YesNo(), "Y", True),
        (YesNo(), "False", False),
        (WORDS, "", ""),
        (WORDS, "true", "true"),
        (WORDS, "\x1b[31msell\x1b[0m", "sell"),
        (of_schema({"type": "integer"}), "-5", -5),
        (Number(2, None), "7", 7),
        (RealNumber(), "2.5", 2.5),
        (SOME, "3 4", [3, 4]),
        (of_schema({"type": "object"}), "{broken", "{broken"),
        (Anything({}), "words", "words"),
        (FormField(WHOLE, preset=0), "", 0),
        (Number(90, 90), "", 90),
    ],
)
def test_what_a_person_means_by_a_text(option: LegalValues | FormField, typed: str, meant: Any) -> None:
    page = field(option)
    found = page.read([typed], page.field)
    assert found == meant
    assert type(found) is type(meant)


@each_row(
    "option, typed, problem",
    [
        (WHOLE, "", "A whole number from 0 to 90, please."),
        *((WHOLE, wrong, "A whole number from 0 to 90, please.") for wrong in ("91", "-1", "three", "2.5", "9" * 30)),
        (SOME, "", "At least 1, please."),
        (SOME, "1 2 3", "At most 2, please."),
        *(
            (RealNumber(0), wrong, "A number in plain digits from 0, such as 2.5, please.")
            for wrong in ("much", "1e1", "-1", "", "1,5", "9" * 400 + ".5", "9" * 5_000)
        ),
    ],
)
def test_what_means_nothing_legal_is_named(option: LegalValues, typed: str, problem: str) -> None:
    with pytest.raises(FieldProblem) as caught:
        field(option).read([typed], FormField(option))
    assert (caught.value.name, str(caught.value)) == ("field", problem)


def test_hints_say_what_may_be_answered() -> None:
    hints: dict[str, LegalValues | FormField] = {
        "1 to 6": Number(1, 6),
        "": WORDS,
        "at most 9 characters": Text(9),
        "1 or more": Number(1, None),
        "1; empty for 1": Number(1, 1),
        "0, or 60 to 90; empty for 0": FormField(WHOLE, "0, or 60 to 90", preset=0),
        "empty for none": FormField(WORDS, preset=""),
        "number, ...": SOME,
    }
    assert {field(option).hint: option for option in hints.values()} == hints


def test_many_names_are_read_as_fast_as_few() -> None:
    """What is slower than linear does not come to an end here."""
    known = {f"number {each}": each for each in range(40)}
    with pytest.raises(FieldProblem, match="no name here"):
        field(SOME).read(["b " * 100_000], FormField(SOME), known)


def test_a_form_is_filled_in_with_words_last() -> None:
    decision, said = filled(ASK.request, "hold", "sell", "3", "yes", "because")
    assert decision == Order(side="Sell", amount=3, fast=True, why="because")
    asked = "side [Buy / Sell]: One of these, please: Buy, Sell. side [Buy / Sell]: amount [1 to 9]: "
    assert said == f"{asked}fast [yes / no]: why [at most 20 characters]: "


def test_a_form_says_fields_and_choices_in_the_words_of_their_request_and_else_with_blanks() -> None:
    class Sent(Decision):
        do_now: Annotated[str, Choice(("sell_all", "hold_on"))]
        long_note: Annotated[str, Text(20, "a note")]

    class Ordering(Request[Sent]):
        labels = {"sell_all": "sell everything", "long_note": "your note"}  # noqa: RUF012

        def prompt(self) -> Prompt:
            return Prompt((), (), (), ())

    page = page_of(Ordering(player="A"))
    assert [field.called for field in page.fields] == ["do now", "your note"]
    assert page.fields[0].options == [("sell_all", "sell everything"), ("hold_on", "hold on")]
    assert page.with_labels("Set do_now to sell_all, not to resell_all or other_name.") == (
        "Set do now to sell everything, not to resell_all or other_name."
    )


@pytest.mark.parametrize("name", names())
def test_no_form_of_a_game_shows_an_identifier(name: str) -> None:
    for path in sorted((CONFIGS.parent / "agentsim" / "games" / name).glob("tiny*.toml")):
        scenario = load(path)
        players = [player.id for player in scenario.players]
        settings = scenario.config.model_dump(mode="json")
        for wave, *_ in simulate(find(name), settings, players, bot="random").waves:
            for ask in wave.asks:
                pending = list(page_of(ask.request).fields)
                while pending:
                    field = pending.pop()
                    assert "_" not in field.called, ask.request.kind
                    assert not any("_" in shown for _, shown in field.options), ask.request.kind
                    pending += (below for rest in field.then.values() for below in rest)
