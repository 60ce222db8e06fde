"""Reading: which replies to a question about one number are a decision, which one, and how they were found."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.decision import Decision
from agentsim.engine.reading.layers import holds_remains, turn_of
from agentsim.engine.reading.speech import split
from agentsim.engine.reading.text import MAX_TEXT
from agentsim.errors import AmbiguousReply, DecisionError, UnreadableReply
from tests.amounts import each_row
from tests.engine.small import Terms


class Deal(Decision):
    price: int
    words: str = ""


class Sell(Terms[Deal], kind="deal"):
    """At what price?"""


class Leading(Sell):
    """At what price, said at once?"""

    object_first: ClassVar[bool] = True


class Bargain(Deal):
    extra: Any = None


class Haggle(Terms[Bargain]):
    """At what price, and what else?"""


SELL, LEADING, HAGGLE = Sell(player="A"), Leading(player="A"), Haggle(player="A")


def _read(text: str) -> tuple[int, str, int]:
    reading = SELL.parse(text)
    return reading.decision.price, reading.stage, reading.candidates


READ: dict[str, tuple[str, tuple[int, str, int]]] = {
    "whole": ('{"price": 5}', (5, "json", 1)),
    "whole with space around": ('\n\t {"price": 5}  \n', (5, "json", 1)),
    "unknown keys": ('{"price": 5, "mood": [1, {"a": {}}]}', (5, "json", 1)),
    "number as text": ('{"price": "5"}', (5, "json", 1)),
    "negative": ('{"price": -5}', (-5, "json", 1)),
    "whole float": ('{"price": 5.0}', (5, "json", 1)),
    "non-ascii words": ('{"price": 5, "words": "größer — 五"}', (5, "json", 1)),
    "fenced": ('```json\n{"price": 5}\n```', (5, "fenced", 1)),
    "fenced, no language": ('```\n{"price": 5}\n```', (5, "fenced", 1)),
    "fenced on one line": ('```json {"price": 5}```', (5, "fenced", 1)),
    "fenced in prose": ('Here it is:\n```json\n{"price": 5}\n```\n', (5, "fenced", 1)),
    "fence of prose then object": ('```\nprint(1).\n```\n{"price": 5}', (5, "embedded", 1)),
    "fence that never closes": ('```json\n{"price": 5}\n', (5, "embedded", 1)),
    "prose before": ('It is worth more.\n\n{"price": 5}', (5, "embedded", 1)),
    "an announcement before": ('Sure! Here is my answer: {"price": 5}', (5, "embedded", 1)),
    "in a list": ('[{"price": 5}]', (5, "embedded", 1)),
    "example of another shape first": ('{"cost": 5} {"price": 6}', (6, "embedded", 1)),
    "another shape last": ('{"price": 5} {"cost": 6}', (5, "embedded", 1)),
    "placeholder first": ('{"price": <n>} {"price": 6}', (6, "embedded", 2)),
    "template braces": ('{{"price": 5}}', (5, "embedded", 1)),
    "set in prose": ('Prices are in {1, 2, 3}.\n{"price": 3}', (3, "embedded", 1)),
    "lone brace before": ('a { b.\n{"price": 5}', (5, "embedded", 1)),
    "lone brace after": ('{"price": 5} }', (5, "embedded", 1)),
    "empty object before": ('{} {"price": 5}', (5, "embedded", 1)),
    "braces in strings": ('{"words": "} {\\"price\\": 9} {", "price": 5}', (5, "json", 1)),
    "object inside is no decision": ('{"price": 5, "extra": {"price": 9}}', (5, "json", 1)),
    "fence in a string": ('{"words": "```json {\\"price\\": 9} ```", "price": 5}', (5, "json", 1)),
    "same key, same value": ('{"price": 5, "price": 5}', (5, "json", 1)),
    "thinking before": ('<think>{"price": 9}</think>{"price": 5}', (5, "json", 1)),
    "thinking after": ('{"price": 5}<think>{"price": 9}</think>', (5, "json", 1)),
    "thinking in capitals": ('<THINKING>\n{"price": 9}\n</THINKING>\n{"price": 5}', (5, "json", 1)),
    "two thoughts": ('<think>a</think><think>{"price": 9}</think> {"price": 5}', (5, "json", 1)),
    "thought in a thought": ('<think>a<think>b</think>{"price": 9}</think>{"price": 5}', (5, "json", 1)),
    "an answer of before the thinking": ('or {"price": 9} <think>a</think> b</think>{"price": 5}', (5, "json", 1)),
    "18 digits": ('{"price": ' + "9" * 18 + "}", (10**18 - 1, "json", 1)),
    "only the end of the thinking": ('hm {"price": 9} or</think>{"price": 5}', (5, "json", 1)),
    "thinking that begins behind an answer": ('{"price": 5}<think>{"price": 9}', (5, "json", 1)),
    "thinking as a word of an answer": ('{"price": 5, "words": "</think> <think>"}', (5, "json", 1)),
    "a beginning as a word in prose": ('Sure.\n{"words": "<think> is a tag", "price": 5}', (5, "embedded", 1)),
    "an end as a word in a fence": ('```json\n{"words": "a </think>", "price": 5}\n```', (5, "fenced", 1)),
    "a word of an answer, then thinking": ('So {"words": "<think>", "price": 5}<think>9</think>', (5, "embedded", 1)),
    "a word of what was thought": ('<think>or {"words": "<think>", "price": 9}</think>{"price": 5}', (5, "json", 1)),
    "a word in what ends as thinking": ('or {"words": "<think>", "price": 9}</think>{"price": 5}', (5, "json", 1)),
    "thought": ('<thought>{"price": 9}</thought>{"price": 5}', (5, "json", 1)),
    "thoughts": ('<thoughts>{"price": 9}</thoughts>{"price": 5}', (5, "json", 1)),
    "scratchpad": ('<scratchpad>{"price": 9}</scratchpad>{"price": 5}', (5, "json", 1)),
    "analysis": ('<Analysis>{"price": 9}</Analysis>{"price": 5}', (5, "json", 1)),
    "reflection": ('<reflection>{"price": 9}</reflection>{"price": 5}', (5, "json", 1)),
    "thinking in triangles": ('◁think▷{"price": 9}◁/think▷{"price": 5}', (5, "json", 1)),
    "only the end of triangles": ('hm {"price": 9}◁/think▷{"price": 5}', (5, "json", 1)),
    "object inside a broken one": ('{"a": oops, "b": {"price": 9}} {"price": 5}', (5, "embedded", 1)),
    "trailing comma": ('{"price": 5,}', (5, "repaired", 1)),
    "single quotes": ("{'price': 5}", (5, "repaired", 1)),
    "a list of one": ("[5]", (5, "bare", 1)),
    "a number": ("5", (5, "bare", 1)),
    "another key for the one decision": ('{"choice": 5}', (5, "json", 1)),
    "in an answer": ('{"answer": {"price": 5}}', (5, "json", 1)),
    "a call of it": ('{"name": "deal", "arguments": {"price": 5}}', (5, "json", 1)),
    "a value in an object": ('{"price": {"value": 5}}', (5, "json", 1)),
    "1e999 in a key of no answer": ('{"price": 5, "extra": [1e999]}', (5, "repaired", 1)),
    "deep but readable": ('{"price": 5, "extra": ' + "[" * 100 + "]" * 100 + "}", (5, "json", 1)),
}


@each_row("text, expected", READ.values())
def test_is_read(text: str, expected: tuple[int, str, int]) -> None:
    assert _read(text) == expected


NOT_READ: dict[str, tuple[str, type[DecisionError], str]] = {
    "empty": ("", UnreadableReply, "empty"),
    "white space": (" \n\t ", UnreadableReply, "empty"),
    "only thinking": ('<think>{"price": 9}</think>', UnreadableReply, "empty"),
    "thinking cut off": ('<think>perhaps {"price": 9} but', UnreadableReply, "empty"),
    "analysis cut off": ('<analysis>perhaps {"price": 9} but', UnreadableReply, "empty"),
    "triangles cut off": ('◁think▷perhaps {"price": 9} but', UnreadableReply, "empty"),
    "prose": ("I pay five.", UnreadableReply, "no decision"),
    "truncated in a value": ('{"price": 5', UnreadableReply, "no complete JSON object"),
    "truncated in a string": ('{"price": 5, "words": "and', UnreadableReply, "no complete JSON object"),
    "truncated after an inner object": ('{"extra": {"price": 9}, "pri', UnreadableReply, "no complete JSON object"),
    "truncated fence": ('```json\n{"extra": {"price": 9},\n', UnreadableReply, "no complete JSON object"),
    "missing field": ('{"cost": 5}', UnreadableReply, "lacks price"),
    "wrong type": ('{"price": "five"}', UnreadableReply, "price must be a whole number"),
    "null": ('{"price": null}', UnreadableReply, "price is null"),
    "fraction": ('{"price": 5.5}', UnreadableReply, "price must be a whole number"),
    "NaN": ('{"price": NaN}', UnreadableReply, "no complete JSON object"),
    "Infinity": ('{"price": -Infinity}', UnreadableReply, "no complete JSON object"),
    "1e999": ('{"price": 1e999}', UnreadableReply, "no complete JSON object"),
    "30 digits": ('{"price": ' + "9" * 30 + "}", UnreadableReply, "price must be a whole number"),
    "31 digits": ('{"price": ' + "9" * 31 + "}", UnreadableReply, "price must be a whole number"),
    "5000 digits": ('{"price": ' + "9" * 5000 + "}", UnreadableReply, "no complete JSON object"),
    "5000 digits as text": ('{"price": "' + "9" * 5000 + '"}', UnreadableReply, "price must be a whole number"),
    "empty text": ('{"price": ""}', UnreadableReply, "price must be a whole number"),
    "too deep": ('{"price": 5, "extra": ' + "[" * 100_000 + "]" * 100_000 + "}", UnreadableReply, "no complete"),
    "too deep to be written": ('{"price": 5, "extra": ' + "[" * 200 + "]" * 200 + "}", UnreadableReply, "no complete"),
    "objects too deep": ('{"price":' * 25_000, UnreadableReply, "no complete JSON object"),
    "prose on its line, before": ('I will pay {"price": 5}', AmbiguousReply, "among other words"),
    "prose on its line, after": ('{"price": 5} is my answer', AmbiguousReply, "among other words"),
    "prose behind": ('{"price": 5}\n\nGood luck!', AmbiguousReply, "says more"),
    "two fences": ('```\n{"price": 5}\n```\nor\n```\n{"price": 6}\n```', AmbiguousReply, "5 and 6 for price"),
    "two objects": ('{"price": 5} {"price": 6}', AmbiguousReply, "5 and 6 for price"),
    "another object, mended, before": ('{"price": 9,} {"price": 5}', AmbiguousReply, "9 and 5 for price"),
    "key twice": ('{"price": 5, "price": 6}', AmbiguousReply, "'price' stands twice"),
    "key twice, true and one": ('{"price": 1, "price": true}', AmbiguousReply, "'price' stands twice"),
    "key twice, spelt with an escape": ('{"price": 5, "pric\\u0065": 6}', AmbiguousReply, "'price' stands twice"),
    "key twice inside": ('{"price": 5, "extra": {"a": 1, "a": 2}}', AmbiguousReply, "'a' stands twice"),
}


@pytest.mark.parametrize(("text", "error", "reason"), NOT_READ.values(), ids=NOT_READ)
def test_is_not_read_and_says_why(text: str, error: type[DecisionError], reason: str) -> None:
    with pytest.raises(error) as caught:
        _read(text)
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 200, "a reason is a line for the model, not a copy of its reply"


@each_row(
    "text, price",
    [
        ('{"price": 5} {"price": 6}', 5),
        ('  {"price": 5} and then {"price": 6}', 5),
        ('First {"price": 5} then {"price": 6}', None),
        ('{"cost": 1} {"price": 6}', None),
        ('{"price": 5} {"cost": 1}', 5),
        ('```json\n{"price": 5}\n```', None),
        ('{"price": "much"} {"price": 5}', None),
        ('{"price": 5} {"price": "much"}', 5),
    ],
)
def test_where_the_first_object_counts_it_stands_at_the_beginning(text: str, price: int | None) -> None:
    if price is None:
        with pytest.raises(DecisionError):
            LEADING.parse(text)
    else:
        reading = LEADING.parse(text)
        assert (reading.decision.price, reading.candidates) == (price, 1)


COUNTS: dict[str, tuple[str, tuple[int, int] | type[DecisionError]]] = {
    "last does not fit": ('{"price": 5} {"price": "much"}', UnreadableReply),
    "last is null": ('{"price": 5} or nothing: {"price": null}', UnreadableReply),
    "last lacks the price": ('{"price": 5} {"words": "or not"}', (5, 1)),
    "first does not fit": ('{"price": "much"} {"price": 5}', (5, 2)),
    "last is spelt otherwise": ('{"price": 5} no, {"Price": 6}', AmbiguousReply),
    "first is spelt otherwise": ('{"PRICE": 6} {"price": 5}', AmbiguousReply),
    "both spellings, the same price": ('{"Price": 5} {"price": 5}', (5, 2)),
    "spelt in two ways": ('{"price": 5, "Price": 6}', AmbiguousReply),
    "spelt in two ways, said once": ('{"price": 5, "Price": 5}', (5, 1)),
    "others are passed over": ('{"cost": 1} {"price": 5} {"state": {"price": 9}} {}', (5, 1)),
    "others are passed over, before it": ('{"cost": 1} {} {"price": 5}', (5, 1)),
    "fenced, last does not fit": ('```\n{"price": 5}\n```\n```\n{"price": []}\n```', UnreadableReply),
    # what cannot be decoded names its keys all the same
    "last is cut off": ('{"price": 5} no, {"price": 6', AmbiguousReply),
    "last is cut off in another key": ('{"price": 5} no, {"words": "a } b", "price": 6', AmbiguousReply),
    "last has a comma too many": ('{"price": 5} {"price": 6,}', AmbiguousReply),
    "last in single quotes": ("{\"price\": 5} {'price': 6}", AmbiguousReply),
    "last in curly quotes": ('{"price": 5} {“price”: 6}', AmbiguousReply),
    "last without quotes": ('{"price": 5} { price : 6}', AmbiguousReply),
    "NaN in one of two": ('{"price": 5, "extra": NaN} {"price": 6}', AmbiguousReply),
    "last is NaN": ('{"price": 5} {"price": NaN}', UnreadableReply),
    "last is endless": ('{"price": 5} {"price": ' + "9" * 5000 + "}", UnreadableReply),
    "broken, but the same": ('{"price": 5,} {"price": 5}', (5, 2)),
    "first has a comma too many": ('{"price": 6,} {"price": 5}', AmbiguousReply),
    "cut off behind one that is whole": ('{"price": 5} {"price": 6', UnreadableReply),
    "broken, of another shape": ('{"price": 5} {"cost": 6,} { priceless: 6 }', (5, 1)),
    "prose about the key": ('{"price": 5}\n"price": what I pay, price: five', AmbiguousReply),
    "the key behind braces": ('{"price": 5} {x}, "price": "', AmbiguousReply),
    "the key inside another object": ('{"price": 5} {"echo": {"price": 6}}', (5, 1)),
    "a label before the object": ('My price:\n{"price": 5}', (5, 1)),
    "a label before a fence": ('My price:\n```json\n{"price": 5}\n```', (5, 1)),
    "a label before the object, prose behind": ('My price:\n{"price": 5}\n4 would be too little.', AmbiguousReply),
}


@each_row("text, expected", COUNTS.values())
def test_the_object_that_counts_is_not_passed_over_for_another(
    text: str, expected: tuple[int, int] | type[DecisionError]
) -> None:
    if isinstance(expected, tuple):
        price, _, candidates = _read(text)
        assert (price, candidates) == expected
    else:
        with pytest.raises(expected):
            _read(text)


class Wish(Decision):
    """An answer that says nothing by force."""

    colour: str = "any"
    size: int = 0


class Ask(Terms[Wish], kind="wish"):
    """What do you wish?"""


@each_row(
    "text, expected",
    [
        ('{"size": 3}', Wish(size=3)),
        ('{"Colour": "red", "size": 3}', Wish(colour="red", size=3)),
        ('{"mood": 1} {"size": 3} {}', Wish(size=3)),
        ('{"colour": "red"} {"size": 3}', Wish(size=3)),
        ("{}", None),
        ('{"mood": 1}', None),
        ('{"colour": "red"} {"mood": 1}', None),
    ],
)
def test_an_object_counts_that_names_what_is_decided(text: str, expected: Wish | None) -> None:
    """A field that may be left out decides all the same; words beside it do not."""
    request = Ask(player="A")
    if expected is None:
        with pytest.raises(UnreadableReply):
            request.parse(text)
    else:
        assert request.parse(text).decision == expected


def test_what_stands_beyond_the_bound_is_not_looked_at() -> None:
    with pytest.raises(UnreadableReply):
        _read(" " * MAX_TEXT + '{"price": 5}')


@pytest.mark.parametrize(
    ("escape", "expected"),
    [("\\u001b[31mred", "red"), ("\\u0000", ""), ("\\ud83d\\ude00", "😀"), ("\\ud800", "\ufffd"), ("\\u202e", "")],
    ids=["ansi", "nul", "surrogate pair", "lone surrogate", "bidi"],
)
def test_escapes_cannot_smuggle_what_the_door_refuses(escape: str, expected: str) -> None:
    """Replies are cleaned as text; a JSON escape becomes its character only afterwards."""
    text = f'{{"price": 5, "words": "{escape}", "extra": {{"{escape}": ["{escape}"]}}}}'
    decision = HAGGLE.parse(text).decision
    assert decision.words == expected
    assert decision.extra == {expected: [expected]}


NOISE = st.text(st.characters(exclude_characters='{}"`<', exclude_categories=["Cs"]), max_size=60)
DEALS = st.builds(
    Deal, price=st.integers(-(10**12), 10**12), words=st.text(st.sampled_from('ab {}[]"\\\n`ü'), max_size=30)
).filter(lambda deal: turn_of(deal.words) == deal.words and not holds_remains(deal.words))
"""Deals whose words are no JSON and no part of an object, which are decoded and cut."""


@given(DEALS, NOISE, NOISE)
def test_noise_around_an_object_never_changes_it(deal: Deal, before: str, after: str) -> None:
    with suppress(DecisionError):
        assert SELL.parse(before + deal.model_dump_json() + after).decision == deal


def test_a_whole_thought_in_a_string_is_not_said_aloud() -> None:
    deal = SELL.parse('{"words": "<think>They must not know.</think>Hello.", "price": 5}').decision
    assert deal.words == "Hello."


@given(DEALS, NOISE, NOISE)
def test_a_fence_around_an_object_never_changes_it(deal: Deal, before: str, after: str) -> None:
    with suppress(DecisionError):
        assert SELL.parse(f"{before}\n```json\n{deal.model_dump_json()}\n```\n{after}").decision == deal


@given(DEALS, st.data())
def test_a_truncated_object_is_never_read(deal: Deal, data: st.DataObject) -> None:
    text = json.dumps({"extra": {"price": 9}, **deal.model_dump()})
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(UnreadableReply):
        SELL.parse(text[:cut])


@given(st.text(st.sampled_from('{}[]",:\\ \nab1-.eE`<>/think'), max_size=200))
def test_any_text_is_a_decision_or_a_decision_error(text: str) -> None:
    with suppress(DecisionError):
        assert isinstance(SELL.parse(text).decision, Deal)


@given(st.text(st.sampled_from('ab{}" \n'), max_size=40))
def test_text_without_thinking_is_left_alone(text: str) -> None:
    assert split(text) == (text, ())


@given(st.integers(min_value=1, max_value=199), st.booleans())
def test_what_is_read_can_be_written_as_json_again(depth: int, lists: bool) -> None:
    opening, closing = ("[", "]") if lists else ('{"a":', "}")
    inner = f"{opening * depth}{'' if lists else 1}{closing * depth}"
    decision = HAGGLE.parse(f'{{"price": 5, "extra": {inner}}}').decision
    assert Bargain.model_validate_json(decision.model_dump_json()) == decision
