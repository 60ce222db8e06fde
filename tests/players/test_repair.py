"""Broken punctuation: what is mended, what is left unreadable, and that no text ever becomes a decision."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentsim import games
from agentsim.engine.decision import Decision, Reading
from agentsim.engine.request import Request
from agentsim.engine.simulate import simulate
from agentsim.errors import AmbiguousReply, DecisionError, IllegalDecision, UnreadableReply
from tests.amounts import each_row

ISLAND = {
    ask.request.kind: ask.request
    for ask in simulate(games.find("agent_island"), {}, ["A", "B", "C", "D"], bot="grudge").asks()
}
VOTE: Request[Any] = next(
    ask.request
    for ask in simulate(games.find("agent_island"), {}, ["A", "B", "C", "D"], bot="grudge").asks()
    if ask.request.kind == "vote" and {"B", "C"} <= set(ask.request.options()["vote"].values)
)
PITCH = ISLAND["pitch"]


def bid() -> Request[Any]:
    return simulate(games.find("auction"), {"items": "random"}, ["A", "B"], bot="random").asks()[0].request


def read(request: Request[Any], text: str, finish_reason: str = "stop", *, repair: bool = True) -> Reading[Any]:
    return request.parse(text, truncated=finish_reason == "length", repair=repair)


@each_row(
    "text",
    [
        '{"explanation": "Because.", "vote": "B",}',
        "{'explanation': 'Because.', 'vote': 'B'}",
        '{"explanation": "She said "no" to me", "vote": "B"}',
        '{explanation: "Because.", vote: "B"}',
        "{“explanation”: “Because.”, “vote”: “B”}",
        '{"explanation": "Because\nof that.", "vote": "B",}',
        '{"explanation": "Because." "vote": "B"}',
        '```json\n{"explanation": "Because.", "vote": "B",}\n```',
        '<think>{"vote": "C"}</think>{"explanation": "Because.", "vote": "B",}',
    ],
)
def test_broken_punctuation_is_mended(text: str) -> None:
    assert read(VOTE, text).decision.vote == "B"


def test_what_was_mended_says_so_and_what_was_not_does_not() -> None:
    rebuilt = read(PITCH, "{'text': 'Hello there.'}")
    assert (rebuilt.decision.text, rebuilt.stage, rebuilt.repaired) == ("Hello there.", "repaired", True)
    whole = read(PITCH, '{"text": "Hello there."}')
    assert (whole.decision.text, whole.stage, whole.repaired) == ("Hello there.", "json", False)


def test_it_can_be_switched_off() -> None:
    with pytest.raises(UnreadableReply):
        read(PITCH, "{'text': 'Hello there.'}", repair=False)


@pytest.mark.parametrize(
    "text",
    ['{"text": "Hello th', '{"text": "Hello there."', '{"text": "Hello", ', "{'text': 'Hello'", '{"text": "Hello}'],
)
def test_what_was_cut_off_is_never_mended(text: str) -> None:
    for reason in ("length", "stop"):
        with pytest.raises(UnreadableReply):
            read(PITCH, text, reason)


def test_a_reply_that_reached_its_longest_length_is_not_mended_though_its_object_ends() -> None:
    with pytest.raises(UnreadableReply):
        read(PITCH, "{'text': 'Hello there.'}", "length")


@pytest.mark.parametrize(
    "text",
    [
        "I shall not vote today.",
        "{'mood': 'good'}",
        "{text}",
        '{"text": NaN,}',
        "{" * 5_000 + "}" * 5_000,
    ],
    ids=lambda text: text[:30],
)
def test_no_object_and_other_keys_are_left_alone(text: str) -> None:
    request = VOTE if "vote" in text else PITCH
    with pytest.raises(UnreadableReply):
        read(request, text)


def test_words_that_are_an_object_of_their_own_name_are_its_words() -> None:
    reading = read(PITCH, "{'text': {'text': 'Hello.'}}")
    assert (reading.decision.text, reading.repaired) == ("Hello.", True)


def test_of_two_objects_that_were_mended_none_counts() -> None:
    with pytest.raises(AmbiguousReply):
        read(PITCH, "{'text': 'One.'} {'text': 'Two.'}")


@pytest.mark.parametrize(
    ("text", "words"),
    [("{'text': 'Hello.', 'mood': 'good'}", "Hello."), ("{'text': '" + "x" * 20_000 + "'}", "x" * 20_000)],
    ids=["a key too many", "long words"],
)
def test_other_keys_and_long_words_are_as_in_an_object_that_is_whole(text: str, words: str) -> None:
    assert read(PITCH, text).decision.text == words


@each_row(
    "text",
    [
        'I will not answer {"vote": "B",}',
        'Never: {"explanation": "x", "vote": "B",}',
        '{"explanation": "They say, "vote": "C""}',
        '{"explanation": "They say, "vote": "C", all day"}',
        '{"explanation": "x", "vote": "C", "vote": "B",}',
        '{"explanation": "x", "vote": "nobody",}',
        '{"vote": "B", "explanation": "x",} No wait, C.',
    ],
)
def test_a_vote_is_never_made_of_a_negation_a_quotation_or_a_doubt(text: str) -> None:
    with pytest.raises(DecisionError):
        read(VOTE, text)


class Accepted(Decision):
    accept: bool | None


class Offer(Request[Accepted]):
    """A question whose answer is yes, no or nothing."""

    kind = "accept"
    answer = Accepted

    def options(self) -> Mapping[str, Any]:
        return {}


@pytest.mark.parametrize(
    ("spelt", "accept"), [("true", True), ("True", True), ("false", False), ("null", None), ("None", None)]
)
def test_yes_no_and_nothing_are_mended_only_where_they_stand_alone(spelt: str, accept: bool | None) -> None:
    request = Offer(player="A")
    for alone in (spelt, f" {spelt}\n"):
        assert read(request, f"{{'accept': {alone}}}").decision.accept is accept
    for mark in ("!", "~", "-", "not ", "no, "):
        with pytest.raises(UnreadableReply):
            read(request, f"{{'accept': {mark}{spelt}}}")
    with pytest.raises(UnreadableReply):
        read(request, f"{{'accept': {spelt}?}}")


def test_what_the_strict_reader_has_read_is_not_read_again() -> None:
    for text, error in (
        ('{"explanation": "", "vote": "nobody"}', IllegalDecision),
        ('{"explanation": "", "vote": "B"} {"explanation": "", "vote": "C"}', AmbiguousReply),
    ):
        with pytest.raises(error):
            read(VOTE, text)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ('{"bid": 120, "reasoning": "x",}', 120),
        ("{'bid': 120, 'reasoning': 'x'}", 120),
        ('{"bid": "120" "reasoning": "x"}', 120),
        ('{"bid": 1,200, "reasoning": "x"}', None),
        ('{"bid": 1.200, "reasoning": "x",}', None),
        ('{"bid": 5e1, "reasoning": "x",}', None),
        ('{"bid": 0120, "reasoning": "x"}', None),
        ('{"bid": -5, "reasoning": "x",}', None),
        ('{"bid": 100 200, "reasoning": "x"}', None),
        ('{"bid": 100 // or 200\n, "reasoning": "x"}', None),
        ('{"bid": $120, "reasoning": "x"}', 120),
        ('{"bid": True, "reasoning": "x"}', None),
        ('{"reasoning": "I thought "bid": 400, then less", "bid": 100}', None),
    ],
)
def test_a_bid_is_mended_only_where_its_number_is_spelt_out(text: str, amount: int | None) -> None:
    request = bid()
    if amount is None:
        with pytest.raises(DecisionError):
            read(request, text)
    else:
        assert read(request, text).decision.bid == amount


WORDS = st.text(st.sampled_from("ab BC,:\"'{}[]\n\\.<>“”éTrue"), max_size=40)
TEXTS = st.one_of(
    WORDS,
    st.builds("{}vote{}C{}".format, WORDS, WORDS, WORDS),
    st.builds('{}", "vote": "C{}'.format, WORDS, WORDS),
    st.builds('{}"vote": "C"{}'.format, WORDS, WORDS),
    st.builds("{}, 'vote': 'C'{}".format, WORDS, WORDS),
)
BREAKS = {
    "a comma at the end": lambda whole: whole[:-1] + ",}",
    "single quotes": lambda whole: whole.replace('"', "'"),
    "typographic quotes": lambda whole: re.sub(r'"([^"]*)"', "“\\1”", whole),
    "bare keys": lambda whole: re.sub(r'"(\w+)":', r"\1:", whole),
    "nothing escaped": lambda whole: whole.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\"),
    "no comma": lambda whole: whole.replace('", "', '" "'),
    "no colon": lambda whole: whole.replace('": "', '" "'),
    "an end too many": lambda whole: whole + "}",
    "a comment": lambda whole: whole[:-1] + " // so\n}",
    "cut off": lambda whole: whole[:-3],
}


@given(
    explanation=TEXTS,
    vote=st.sampled_from(["B", None]),
    last=st.booleans(),
    broken=st.lists(st.sampled_from(sorted(BREAKS)), min_size=1, max_size=3),
    wrapped=st.sampled_from(["{}", "```json\n{}\n```", "Here it is: {}", "{}\n"]),
)
def test_an_explanation_never_changes_the_vote(
    explanation: str, vote: str | None, last: bool, broken: list[str], wrapped: str
) -> None:
    """Neither which vote it is nor whether there is one: where the voter names nobody, no quotation does."""
    fields = [("explanation", explanation), *([("vote", vote)] if vote else [])]
    text = json.dumps(dict(fields if last else reversed(fields)), ensure_ascii=False)
    for how in broken:
        text = BREAKS[how](text)  # type: ignore[no-untyped-call]  # a table of lambdas
    # a quotation that ends its own string and writes a vote with its key, or that ends the object and writes one below
    # it, is, unescaped, the one vote of the reply
    assume(vote or not ("nothing escaped" in broken and re.search(r'"\s*(,?\s*"vote"\s*:|})', explanation)))
    text = wrapped.replace("{}", text)
    try:
        reading = read(VOTE, text)
    except DecisionError:
        return
    assert reading.decision.vote == vote


@given(st.text(max_size=200) | st.text(st.sampled_from("{}[]\"',:\\ \nabtex1.-/"), max_size=60).map("{{{}}}".format))
def test_whatever_comes_is_a_decision_or_an_error_for_the_model(text: str) -> None:
    for request in (PITCH, VOTE):
        try:
            read(request, text)
        except DecisionError:
            continue
