"""A decision that is one of several kinds of record: its schema, its options, its check."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from agentsim.engine import Choice, Number, Options, Text
from agentsim.engine.codec import values_by_path
from agentsim.engine.decision import Decision
from agentsim.engine.request import Request
from agentsim.errors import IllegalDecision
from agentsim.runs.forecast import wordy


class Say(BaseModel):
    do: Literal["say"] = "say"
    words: str


class Give(BaseModel):
    do: Literal["give"] = "give"
    to: Annotated[int, Field(ge=1, le=99)]
    title: str


class Deed(Decision):
    deed: Annotated[Say | Give, Field(discriminator="do")]


class Do(Request[Deed]):
    """What do you do?"""

    def options(self) -> Options:
        return {"deed.do": Choice(("say", "give")), "deed.words": Text(20), "deed.to": Number(0, 5)}

    def fallback(self) -> Deed:
        return Deed(deed=Say(words=""))


ASKED = Do(player="A")


def closed(**properties: Any) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def test_the_schema_is_any_of_the_kinds_each_closed_and_named_by_one_value() -> None:
    say = closed(do={"type": "string", "enum": ["say"]}, words={"type": "string", "maxLength": 20})
    to = {"type": "integer", "minimum": 1, "maximum": 5}
    give = closed(do={"type": "string", "enum": ["give"]}, to=to, title={"type": "string"})
    assert ASKED.schema() == closed(deed={"anyOf": [say, give]})


class OnlySay(Do):
    """What do you say?"""

    def options(self) -> Options:
        return {**super().options(), "deed.do": Choice(("say",))}


def test_a_kind_whose_tag_is_not_legal_is_left_out_of_the_schema_and_of_the_shape() -> None:
    asked = OnlySay(player="A")
    assert asked.schema()["properties"]["deed"]["anyOf"] == ASKED.schema()["properties"]["deed"]["anyOf"][:1]
    assert asked.form() == '{"deed": {"do": "say", "words": "<words, at most 20 characters>"}}'
    with pytest.raises(IllegalDecision, match=r"deed\.do must be one of: say"):
        asked.check(Deed(deed=Give(to=1, title="x")))


def test_options_hold_for_the_kinds_that_have_such_a_field() -> None:
    ASKED.check(Deed(deed=Say(words="hello")))
    ASKED.check(Deed(deed=Give(to=5, title="x")))
    with pytest.raises(IllegalDecision, match=r"deed\.to must be a whole number from 0 to 5"):
        ASKED.check(Deed(deed=Give(to=6, title="x")))


class Offer(Decision):
    target: str
    amount: int


class Offers(Request[Offer]):
    """Whom do you offer how much?"""

    def options(self) -> Options:
        return {"amount": Number(0, 5), "target": Choice(("A", "B"))}

    def fallback(self) -> Offer:
        return Offer(target="A", amount=0)


def test_of_several_objections_the_one_that_the_options_put_first_is_told() -> None:
    with pytest.raises(IllegalDecision, match=r"amount must be a whole number from 0 to 5"):
        Offers(player="A").check(Offer(target="Z", amount=9))


def test_values_stand_at_their_paths() -> None:
    say = Say(words="hello")
    assert values_by_path(Deed(deed=say)) == {"deed": say, "deed.do": "say", "deed.words": "hello"}


def test_a_forecast_lengthens_the_words_that_a_kind_has() -> None:
    assert wordy(ASKED, Deed(deed=Say(words="hi"))) == Deed(deed=Say(words="hiand so on"[:10]))
    assert wordy(ASKED, Deed(deed=Give(to=1, title="x"))) == Deed(deed=Give(to=1, title="x"))


def test_the_schema_can_be_changed_by_who_gets_it() -> None:
    ASKED.schema()["properties"]["deed"]["anyOf"][0]["properties"]["words"]["maxLength"] = 3
    test_the_schema_is_any_of_the_kinds_each_closed_and_named_by_one_value()
