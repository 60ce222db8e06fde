"""Request: legality, JSON Schema, fingerprint, and the way through JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, SkipValidation

from agentsim.engine import Choice, Number, Options, Text
from agentsim.engine.decision import Decision
from agentsim.engine.options import FieldOverride, FormField, closed_object
from agentsim.engine.request import Request
from agentsim.engine.wording import Prompt
from agentsim.errors import IllegalDecision
from tests.amounts import each_row
from tests.engine.small import Bid, Say


class Clause(BaseModel):
    """A nested part whose fields are named like keywords of JSON Schema."""

    title: str
    description: str = "none"
    default: int = 3


class Motion(Decision):
    whom: str | int | None = None
    amount: int | None = 0
    words: str = ""
    free: float = 0.5
    clauses: tuple[Clause, ...] = ()


class Move(Request[Motion]):
    """What do you move?"""

    names: tuple[str | int | None, ...] = ("A", "B")
    low: int = 1
    high: int | None = 5
    limit: int = 40
    wording: str = "What do you move?"

    def options(self) -> Options:
        return {"whom": Choice(self.names), "amount": Number(self.low, self.high), "words": Text(self.limit)}

    def prompt(self) -> Prompt:
        return Prompt((), (), (), (self.wording,))

    def fallback(self) -> Motion:
        return Motion(whom=self.names[0], amount=self.low)


MOVE = Move(player="A")
OPEN = replace(MOVE, low=0, high=None)
GOLDEN = "d306e05c3ebd1724"
GOLDEN_OPEN = "1029aa4c540f9e7b"


CHECKED: dict[str, tuple[Move, Motion, str | None]] = {
    "low end": (MOVE, Motion(whom="A", amount=1), None),
    "high end": (MOVE, Motion(whom="B", amount=5), None),
    "not offered": (MOVE, Motion(whom="C", amount=1), "whom must be one of: A, B."),
    "none": (MOVE, Motion(whom=None, amount=1), "whom must be one of: A, B."),
    "other case": (MOVE, Motion(whom="a", amount=1), "whom must be one of: A, B."),
    "too low": (MOVE, Motion(whom="A", amount=0), "amount must be a whole number from 1 to 5."),
    "too high": (MOVE, Motion(whom="A", amount=6), "amount must be a whole number from 1 to 5."),
    "no number": (MOVE, Motion(whom="A", amount=None), "amount must be a whole number from 1 to 5."),
    "long words, which are cut": (MOVE, Motion(whom="A", amount=1, words="x" * 1000), None),
    "open, low end": (OPEN, Motion(whom="A", amount=0), None),
    "open, one": (OPEN, Motion(whom="A", amount=1), None),
    "open, much": (OPEN, Motion(whom="A", amount=10**17), None),
    "open, too low": (OPEN, Motion(whom="A", amount=-1), "amount must be a whole number, 0 or more."),
    "open, no number": (OPEN, Motion(whom="A", amount=None), "amount must be a whole number, 0 or more."),
}


@each_row("request_, decision, reason", CHECKED.values())
def test_check_says_what_is_legal(request_: Move, decision: Motion, reason: str | None) -> None:
    if reason is None:
        request_.check(decision)
    else:
        with pytest.raises(IllegalDecision) as error:
            request_.check(decision)
        assert str(error.value) == reason


@each_row(
    "names, kind",
    [
        (("A", "B"), "string"),
        ((1, 2), "integer"),
        (("A", None), ["string", "null"]),
        ((1, None), ["integer", "null"]),
        (("A", 1), ["string", "integer"]),
        (("A", 1, None), ["string", "integer", "null"]),
        ((None,), "null"),
    ],
)
def test_schema_of_a_choice_has_the_types_of_its_values(names: tuple[Any, ...], kind: Any) -> None:
    assert Move(player="A", names=names).schema()["properties"]["whom"] == {"type": kind, "enum": list(names)}


def test_schema_is_one_closed_object_with_every_field_required() -> None:
    schema = MOVE.schema()
    assert {key: schema[key] for key in schema if key != "properties"} == {
        "type": "object",
        "required": ["whom", "amount", "words", "free", "clauses"],
        "additionalProperties": False,
    }
    assert schema["properties"]["amount"] == {"type": "integer", "minimum": 1, "maximum": 5}
    assert schema["properties"]["words"] == {"type": "string", "maxLength": 40}
    assert schema["properties"]["free"] == {"type": "number"}


def test_schema_has_no_reference_title_or_default_but_keeps_fields_of_that_name() -> None:
    clause = MOVE.schema()["properties"]["clauses"]["items"]
    assert clause["properties"] == {
        "title": {"type": "string"},
        "description": {"type": "string"},
        "default": {"type": "integer"},
    }
    text = json.dumps(MOVE.schema())
    assert "$ref" not in text
    assert "$defs" not in text
    assert "title" not in clause


def test_the_schema_can_be_changed_by_who_gets_it() -> None:
    MOVE.schema()["properties"].clear()
    assert MOVE.schema()["properties"]


def test_golden_fingerprint_since_every_journal_depends_on_it() -> None:
    assert MOVE.fingerprint == GOLDEN


@each_row(
    "other",
    [
        replace(MOVE, player="B"),
        replace(MOVE, names=("A", "C")),
        replace(MOVE, names=("B", "A")),
        replace(MOVE, names=("A", "B", None)),
        replace(MOVE, low=0),
        replace(MOVE, high=6),
        replace(MOVE, high=None),
        replace(MOVE, limit=41),
        Bid(player="A"),
        Say(player="A"),
    ],
)
def test_fingerprint_changes_with_kind_player_and_options(other: Request[Any]) -> None:
    assert other.fingerprint != MOVE.fingerprint


def test_fingerprint_tells_a_name_from_a_number() -> None:
    assert replace(MOVE, names=("1",)).fingerprint != replace(MOVE, names=(1,)).fingerprint


def test_fingerprint_does_not_change_with_wording() -> None:
    assert replace(MOVE, wording="And now?").fingerprint == MOVE.fingerprint
    assert len(MOVE.fingerprint) == 16


def test_particulars_are_in_the_fingerprint_and_none_change_nothing() -> None:
    class Reply(Say, kind="say"):
        """What do you say to them?"""

        to: tuple[str, ...] = ()

        def fingerprint_fields(self) -> Mapping[str, Any]:
            return {"to": self.to} if self.to else {}

    prints = {request.fingerprint for request in (Reply(player="A", to=to) for to in (("B",), ("C",), ("B", "C")))}
    assert len(prints) == 3
    assert Reply(player="A").fingerprint == Say(player="A").fingerprint


def test_kinds_with_the_same_options_differ() -> None:
    class Shout(Say):
        """What do you shout?"""

    assert Shout(player="A").fingerprint != Say(player="A").fingerprint


@pytest.mark.parametrize(
    "request_",
    [MOVE, replace(MOVE, names=("Ä", 3, None), wording="\u2028 <b>"), Bid(player="@bank", most=0), Say(player="A")],
    ids=["plain", "strange values", "staff", "say"],
)
def test_a_request_survives_json(request_: Request[Any]) -> None:
    again = type(request_).restore(json.loads(json.dumps(request_.to_json())))
    assert again == request_
    assert again.fingerprint == request_.fingerprint


def test_a_request_is_frozen() -> None:
    with pytest.raises(AttributeError):
        MOVE.player = "B"  # type: ignore[misc] # the point of this test


def test_the_form_of_an_answer_names_its_legal_values() -> None:
    form = '{"whom": "<A, B or C>", "amount": <a whole number from 1 to 5>, "words": "<words, at most 40 characters>", '
    assert replace(MOVE, names=("A", "B", "C")).form().startswith(form)


def test_the_base_class_leaves_the_question_to_the_game() -> None:
    with pytest.raises(NotImplementedError):
        Request[Any](player="A").prompt()


class Noted(Decision):
    words: Annotated[str, Text(30, "a note")]
    stars: Annotated[int, Number(0, 5, if_null=0)]
    free: str


class Note(Request[Noted]):
    """A question whose options no state decides."""


def test_options_that_no_state_decides_stand_in_the_annotations_of_the_answer() -> None:
    request = Note(player="A")
    assert request.options() == {"words": Text(30, "a note"), "stars": Number(0, 5, if_null=0)}
    assert request.form() == (
        '{"words": "<a note, at most 30 characters>", "stars": <a whole number up to 5, 0 to pass>, "free": "<words>"}'
    )
    with pytest.raises(IllegalDecision):
        request.check(Noted(words="", stars=6, free=""))


def test_the_schema_of_an_open_range_has_no_maximum() -> None:
    assert OPEN.schema()["properties"]["amount"] == {"type": "integer", "minimum": 0}


@pytest.mark.parametrize(("value", "held"), [(0, True), (True, False), (1.0, False), ("1", False)], ids=repr)
def test_a_range_holds_whole_numbers_alone(value: object, held: bool) -> None:
    assert Number(0, None).holds(value) is held
    assert Number(0, 1).holds(value) is held


def test_an_open_range_survives_json_and_has_a_fingerprint_of_its_own() -> None:
    again = Move.restore(json.loads(json.dumps(OPEN.to_json())))
    assert again.fingerprint == OPEN.fingerprint == GOLDEN_OPEN


def test_a_closed_object_has_all_its_keys_and_no_other() -> None:
    schema = closed_object({"bid": {"type": "integer"}, "why": {"type": "string"}})
    assert schema["required"] == list(schema["properties"]) == ["bid", "why"]
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False


class Chosen(Decision):
    why: str
    whom: str
    amount: int


class Pick(Request[Chosen]):
    def options(self) -> Options:
        return {"why": Text(9), "whom": Choice(("A", "nobody"), if_null="nobody"), "amount": Number(0, 9, if_null=0)}


def test_a_fallback_has_no_words_and_of_each_option_what_stands_for_nothing() -> None:
    fallback = Pick(player="B").fallback()
    assert fallback == Chosen(why="", whom="nobody", amount=0)
    Pick(player="B").check(fallback)


class Skips(Decision):
    whole: Annotated[int, SkipValidation] = 0
    vote: Annotated[str, lambda asked: Choice(asked.ballot)]


class Vote(Request[Skips]):
    ballot: tuple[str, ...] | None

    def fallback(self) -> Skips:
        return Skips(vote="B")


class Forgetful(Decision):
    vote: Annotated[str, lambda asked: None]


class Asks(Request[Forgetful]):
    def fallback(self) -> Forgetful:
        return Forgetful(vote="B")


def test_a_class_in_an_annotation_is_no_function_of_the_request() -> None:
    assert Vote(player="A", ballot=("B",)).checked_options == {"vote": Choice(("B",))}


def test_a_function_in_an_annotation_that_returns_no_option_is_an_error_that_names_the_field() -> None:
    with pytest.raises(TypeError, match=r"^Asks: the function in the annotation of vote returns None, which is no opt"):
        _ = Asks(player="A").checked_options


class Dared(Move):
    """A move for which a small model names what is not there."""

    def field_overrides(self) -> Mapping[str, FieldOverride | None]:
        return {"whom": FieldOverride("a friend", for_models=Choice(("B",)))}


def test_a_schema_of_a_narrowed_field_is_for_models_and_its_words_are_for_people() -> None:
    """A reply beyond it is read all the same: what is legal is for the options and the rules to say."""
    asked = Dared(player="A", names=("B", "C"))
    whole = asked.answer_fields.parts["whom"]
    assert asked.schema()["properties"]["whom"] == {"type": "string", "enum": ["B"]}
    assert whole == Choice(("B", "C"))
    assert asked.form_field("whom", whole, {}) == FormField(whole, "a friend")
