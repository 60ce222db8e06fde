"""A person who decides on one of several kinds of record, and on lists of such: which kind, then its fields alone."""

from __future__ import annotations

from types import new_class
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from agentsim.engine import Number, Options
from agentsim.engine.decision import Decision
from agentsim.engine.play import Ask
from agentsim.engine.prompt import Prompt
from agentsim.engine.request import Request
from agentsim.players.typed_answers import kinds_of
from tests.players.test_human import Screen


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


ASK = Ask(index=1, wave=1, place=0, nth=1, request=Do(player="A"))
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
    screen = Screen(*lines, persona="")
    assert screen.answer(ASK) == answer
    assert "deed: do [say / give]: " in screen.text
    assert "more: do [say / give / none]: " in screen.text


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
    assert kinds_of(legal) is None


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


class Several(Decision):
    gifts: tuple[Gift, ...]
    words: str


def test_entries_that_are_typed_in_one_line_need_none() -> None:
    type("Offers", (Request,), {"kind": "offers", "answer": Several})
