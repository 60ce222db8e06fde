"""The corpus through the reader alone: none is misread, no thinking is among words, what is meant is read at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from agentsim.engine.options import Choice, Number
from agentsim.engine.reading import READER_VERSION
from agentsim.errors import DecisionError
from tests.amounts import each_row
from tests.replies.asked import ASKED, asked, thinking_kept
from tests.replies.corpus import CorpusError, Meaning, Outcome, Reply, Verdict, judged, replies, shown, value_at
from tests.replies.readings import outcomes, readings, recorded

LEAST = 450
LEAST_MEANT = 0.6
LEAST_READ = 0.97
LEAST_IN_PROSE = 150


class Case(NamedTuple):
    """A reply to one of the questions that it may answer, and what became of it."""

    reply: Reply
    name: str
    outcome: Outcome
    verdict: Verdict


@cache
def cases() -> tuple[Case, ...]:
    return tuple(Case(reply, name, outcome, judged(reply, name, outcome)) for reply, name, outcome in outcomes())


def listed(offenders: Iterable[Case]) -> str:
    return "\n".join(shown(case.reply, case.name, case.outcome) for case in offenders)


def of(verdict: Verdict) -> list[Case]:
    return [case for case in cases() if case.verdict == verdict]


def test_corpus_is_large_mostly_of_meant_replies_and_of_every_question() -> None:
    found = replies()
    assert len(found) >= LEAST
    assert sum(reply.meant for reply in found) >= LEAST_MEANT * len(found)
    assert sum(reply.doubtful for reply in found) >= LEAST // 5
    assert sum(bool(reply.thought) for reply in found) >= LEAST // 10
    assert {name for reply in found for name in reply.asked} == set(ASKED)


@each_row("name", ASKED)
def test_every_question_is_asked_of_its_player_by_a_real_game(name: str) -> None:
    request = asked(name).request
    assert (request.kind, request.player) == (ASKED[name].kind, ASKED[name].player)
    value_at(request.fallback().model_dump(mode="json"), ASKED[name].decides)


def test_what_is_meant_is_legal() -> None:
    """Else an entry could never be read."""
    for reply in replies():
        for name in reply.asked:
            legal = {path.rpartition(".")[2]: option for path, option in asked(name).request.legal.items()}
            for meaning in reply.means:
                fields = dict(meaning) if isinstance(meaning, Mapping) else {}
                if "decides" in fields:
                    fields[ASKED[name].decides] = fields["decides"]
                for field, value in fields.items():
                    match legal.get(field):
                        case Choice(values):
                            assert value in values, f"{reply.id} @ {name}: {field}"
                        case Number() as numbers:
                            assert numbers.holds(value), f"{reply.id} @ {name}: {field}"


@each_row(
    "means, name, outcome, verdict",
    [
        ({"vote": "C"}, "agent_island/vote", {"explanation": "x", "vote": "C"}, "right"),
        ({"decides": "C"}, "agent_island/vote", {"explanation": "x", "vote": "C"}, "right"),
        ({"vote": "C"}, "agent_island/vote", {"explanation": "x", "vote": "B"}, "misread"),
        ({"vote": "C", "explanation": "y"}, "agent_island/vote", {"explanation": "", "vote": "C"}, "words lost"),
        ({"vote": "C"}, "agent_island/vote", "ambiguous", "lost"),
        ("unclear", "agent_island/vote", "unreadable", "right"),
        ("unclear", "agent_island/vote", "illegal", "misnamed"),
        ("unclear", "agent_island/vote", {"explanation": "", "vote": "C"}, "misread"),
        ("illegal", "market/action", {"action": None, "working_memory": ""}, "right"),
        ("unclear", "market/query", {"query": None}, "misread"),
        ("rejected", "society/act", {"action": {"action": "rejected", "reason": "x"}}, "right"),
        ("rejected", "society/act", {"action": {"action": "forum_post", "content": "x"}}, "misread"),
        ({"action": "idle"}, "society/act", {"action": {"action": "rejected", "reason": "x"}}, "lost"),
        ({"bid": 1}, "auction/bid", {"bid": True}, "misread"),
        ({"text": "Keep me."}, "agent_island/summary", {"text": "Note: Keep me."}, "misread"),
    ],
)
def test_an_outcome_is_judged_by_what_was_meant(means: Meaning, name: str, outcome: Outcome, verdict: Verdict) -> None:
    assert judged(Reply("a", (name,), "x", (means,)), name, outcome) == verdict


def test_no_reply_is_read_as_what_was_not_meant() -> None:
    offenders = of("misread")
    assert not offenders, f"{len(offenders)} of {len(cases())} are misread:\n{listed(offenders)}"


def test_no_thinking_is_among_the_words_of_a_decision() -> None:
    offenders = [case for case in cases() if any(part in words(case.outcome) for part in case.reply.thought)]
    assert not offenders, f"{len(offenders)} hold thinking:\n{listed(offenders)}"


def words(outcome: Outcome) -> str:
    """All that a decision says; what Society keeps of an object that it rejects is no word of a decision."""
    return "" if isinstance(outcome, str) or '"rejected"' in json.dumps(outcome) else json.dumps(outcome)


def test_thinking_is_kept_as_reasoning() -> None:
    lost = [
        f"{reply.id} @ {name}"
        for reply in replies()
        for name in reply.asked
        if not all(part in thinking_kept(asked(name).request, reply.text) for part in reply.thought)
    ]
    assert not lost, f"of {len(lost)} the thinking is not kept: {', '.join(lost)}"


def test_what_is_given_in_form_is_read_at_the_first_try() -> None:
    """JSON, a tag, a label or a bare value that stands alone; and of words that were asked for, as many."""
    formal = [case for case in cases() if case.reply.formal]
    for given in ([case for case in formal if not speaks(case.name)], formal):
        lost = [case for case in given if case.verdict != "right"]
        share = 1 - len(lost) / len(given)
        assert share >= LEAST_READ, f"{share:.1%} of {len(given)} are read; not:\n{listed(lost)}"


def speaks(name: str) -> bool:
    """Whether a question is answered in words alone."""
    return set(ASKED[name].words) == {ASKED[name].decides}


def test_a_decision_in_prose_is_asked_again() -> None:
    prose = [case for case in cases() if case.reply.prose]
    assert len({case.reply.id for case in prose}) >= LEAST_IN_PROSE
    read = [case for case in prose if case.verdict == "right"]
    assert not read, f"{len(read)} of {len(prose)} are read:\n{listed(read)}"


def test_doubt_is_called_by_its_name() -> None:
    offenders = of("misnamed")
    assert not offenders, f"{len(offenders)} are turned away for another reason:\n{listed(offenders)}"


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ('asked = ["agent_island/vote"]\ntext = "C"\nmeans = "unclear"', "'id' is missing"),
        ('id = "a"\nasked = ["chess/move"]\ntext = "C"\nmeans = "unclear"', "there is no question 'chess/move'"),
        ('id = "a"\nasked = []\ntext = "C"\nmeans = "unclear"', "'asked' must name a question"),
        ('id = "a"\nasked = "agent_island/vote"\ntext = "C"\nmeans = "unclear"', "'asked' must be a list of texts"),
        ('id = "a"\nasked = ["agent_island/vote"]\ntext = 3\nmeans = "unclear"', "'text' must be a text"),
        ('id = "a"\nasked = ["agent_island/vote"]\ntext = "C"\nmeans = "perhaps"', "'means' must be fields"),
        ('id = "a"\nasked = ["agent_island/vote"]\ntext = "C"\nmeans = {}', "'means' must be fields"),
        ('id = "a"\nasked = ["agent_island/vote"]\ntext = "C"\nmean = "unclear"', "unknown key 'mean'"),
        (
            'id = "a"\nasked = ["agent_island/vote"]\ntext = "C"\nmeans = "unclear"\nthought = ["B"]',
            "'B' does not stand in the text",
        ),
        ('id = "a"\nasked = ["agent_island/vote"]\nprose = 1\ntext = "C"\nmeans = "unclear"', "'prose' must be true"),
        (
            'id = "a"\nasked = ["agent_island/vote"]\ntext = "C"\nmeans = "unclear"\nfinish = "cut"',
            "there is no finish 'cut'",
        ),
    ],
)
def test_an_entry_that_is_wrong_is_named_with_its_file(tmp_path: Path, entry: str, complaint: str) -> None:
    (tmp_path / "some.toml").write_text(f"[[reply]]\n{entry}\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"^some\.toml: reply 1 \(") as error:
        replies(tmp_path)
    assert complaint in str(error.value)


def test_an_id_stands_once(tmp_path: Path) -> None:
    entry = '[[reply]]\nid = "a"\nasked = ["agent_island/vote"]\ntext = "C"\nmeans = "unclear"\n'
    (tmp_path / "some.toml").write_text(entry * 2, encoding="utf-8")
    with pytest.raises(CorpusError, match="that id is taken"):
        replies(tmp_path)


def test_a_reply_that_is_read_otherwise_makes_another_version_of_the_reader() -> None:
    """Resume and replay read recorded replies again, and refuse a decision that its reply does not say."""
    version, before = recorded()
    now = readings()
    changed = [key for key, digest in before.items() if now.get(key, digest) != digest]
    assert not changed or version < READER_VERSION, f"raise READER_VERSION: {', '.join(changed[:20])}"
    assert (version, before) == (READER_VERSION, now), "record them: `python -m tests.replies.readings`"


@pytest.mark.parametrize(
    "name", [name for name, each in ASKED.items() if each.kind in {"manage_estate", "propose_trade"}]
)
def test_an_answer_to_another_question_is_no_decision_to_do_nothing(name: str) -> None:
    with pytest.raises(DecisionError):
        asked(name).request.parse('{"private_thought": "", "action": {"bid": 120}, "public_speech": ""}')


@pytest.mark.parametrize("name", [name for name, each in ASKED.items() if each.kind == "act"])
def test_thoughts_behind_words_in_braces_are_kept(name: str) -> None:
    request = asked(name).request
    assert thinking_kept(
        request, "{so} I will betray them later, but first I will flatter them.\n**Answer:** Hello, all."
    )
