"""Reading a vote: leniently, and never wrongly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.decision import Reading
from agentsim.errors import AmbiguousReply, DecisionError, IllegalDecision, UnreadableReply
from agentsim.games.agent_island.votes import Vote, VoteCast
from tests.amounts import each_row
from tests.games.agent_island.island import play, requests

CANDIDATES = ("A", "B", "C", "agent1", "agent10", "bob-1", "Ann", "12")
VOTE = next(request for request in requests(play("ABC"), Vote) if not request.view.final)


def read_vote(reply: str, candidates: Sequence[str]) -> Reading[VoteCast]:
    """The vote of a reply to a question with these candidates; it is legal."""
    request = replace(VOTE, ballot=tuple(candidates))
    reading = request.parse(reply)
    request.check(reading.decision)
    return reading


VOTES: dict[str, tuple[str, str, str]] = {
    # JSON
    "json": ('{"explanation": "why", "vote": "B"}', "B", "json"),
    "json, other order": ('{"vote": "B", "explanation": "why"}', "B", "json"),
    "json, vote alone": ('{"vote": "B"}', "B", "json"),
    "json, lower case": ('{"vote": "b"}', "B", "json"),
    "json, Player before": ('{"vote": "Player B"}', "B", "json"),
    "json, key in capitals": ('{"VOTE": "B"}', "B", "json"),
    "json, key with space": ('{" vote ": " B "}', "B", "json"),
    "json, list of one": ('{"vote": ["B"]}', "B", "json"),
    "json, a number for an id": ('{"vote": 12}', "12", "json"),
    "json, long id": ('{"vote": "agent10"}', "agent10", "json"),
    "json, short id": ('{"vote": "agent1"}', "agent1", "json"),
    "json, dash": ('{"vote": "BOB-1"}', "bob-1", "json"),
    "json, fenced": ('```json\n{"vote": "B"}\n```', "B", "fenced"),
    "json twice, the same": ('{"vote": "B"}\n{"vote": "b"}', "B", "embedded"),
    "json, others in the explanation": ('{"explanation": "A and C want vote: A", "vote": "B"}', "B", "json"),
    "json, a vote quoted in the explanation": (
        '{"explanation": "<vote>A</vote> {\\"vote\\": \\"C\\"}", "vote": "B"}',
        "B",
        "json",
    ),
    "json, same key and value twice": ('{"vote": "B", "vote": "B"}', "B", "json"),
    "json, single quotes": ("{'explanation': 'x', 'vote': 'B'}", "B", "repaired"),
    "json, bare id": ('{"vote": B}', "B", "repaired"),
    "json, quotes not escaped": ('{"explanation": "they said "trust me" to us", "vote": "B"}', "B", "repaired"),
    "json, trailing comma": ('{"vote": "agent10",}', "agent10", "repaired"),
    "json after thinking": ('<think>{"vote": "A"}? no.</think>{"vote": "B"}', "B", "json"),
    "json and a label that agree": ('{"vote": "B"}\nVote: B', "B", "embedded"),
    "json after doubts about others": (
        'I do not trust C, and A talks too much.\n\n{"explanation": "C said vote: C", "vote": "B"}',
        "B",
        "embedded",
    ),
    "json, fenced after doubts about others": (
        'A is no friend, and I would rather keep C.\n```json\n{"explanation": "not A", "vote": "B"}\n```\n',
        "B",
        "fenced",
    ),
    "json, second thoughts in the explanation": ('{"vote": "B", "explanation": "not C. No wait, A!"}', "B", "json"),
    "json, cut off after the vote": ('{"explanation": "C said \\"vote: C\\"", "vote": "B"', "B", "repaired"),
    "json, broken, an object quoted in it": (
        '{"explanation": "C wants {"vote": "C"} of me", "vote": "B"}',
        "B",
        "repaired",
    ),
    # tags
    "tag": ("<vote>B</vote>", "B", "tag"),
    "tag, spaces and case": ("<vote> b </vote>", "B", "tag"),
    "tag, spaces inside the tag": ("< VOTE >B</ vote >", "B", "tag"),
    "tag, Player": ("<vote>Player B</vote>", "B", "tag"),
    "tag, brackets": ("<vote>[B]</vote>", "B", "tag"),
    "tag, over lines": ("<vote>\nB\n</vote>", "B", "tag"),
    "tag, bold": ("<vote>**B**</vote>", "B", "tag"),
    "tag after the quoted format": ("I answer as <vote>player id</vote>.\n<vote>B</vote>", "B", "tag"),
    "tag with a dash": ("<vote>bob-1</vote>", "bob-1", "tag"),
    "tag, long id": ("<vote>agent10</vote>", "agent10", "tag"),
    # labels
    "label": ("vote: B", "B", "label"),
    "label, brackets": ("vote: [B]", "B", "label"),
    "label, equals": ("VOTE = B", "B", "label"),
    "label, Player": ("Vote: Player B", "B", "label"),
    "label, quotes": ('Vote: "B"', "B", "label"),
    "label, typographic quotes": ("Vote: “B”.", "B", "label"),
    "label, backticks": ("vote: `B`", "B", "label"),
    "label, bold name": ("Vote: **B**", "B", "label"),
    "label, bold label": ("**Vote:** B", "B", "label"),
    "label, all bold": ("**Vote: B**", "B", "label"),
    "label, heading": ("## Vote: B", "B", "label"),
    "label, list": ("- vote: B", "B", "label"),
    "label, quoted whole": ('"Vote: B"', "B", "label"),
    "label, my final": ("My final vote: B", "B", "label"),
    "label, full stop": ("Vote: B.", "B", "label"),
    "label, without quotes in braces": ("{vote: B}", "B", "repaired"),
    "label, short of two ids": ("Vote: agent1", "agent1", "label"),
    "label, long of two ids": ("Vote: agent10.", "agent10", "label"),
    "label, full-width letter": ("Vote: Ｂ", "B", "label"),
    "label, twice the same": ("Vote: B\nSo I vote: B", "B", "label"),
    "label, not another": ("Vote: B, not A", "B", "label"),
    "label, not another in brackets": ("Vote: B (not A)", "B", "label"),
    "label, neither of two others": ("Vote: B, not A, nor C", "B", "label"),
    "label after thinking": ("<think>vote: A</think>\nvote: B", "B", "label"),
    # nothing but a name
    "bare": ("B", "B", "bare"),
    "bare, Player": ("Player B.", "B", "bare"),
    "bare, bold": ("**B**", "B", "bare"),
    "bare, brackets": ("[agent10]", "agent10", "bare"),
    "combining mark": ("<vote>B\u0301</vote>", "B", "tag"),
    "object for a vote": ('{"vote": {"id": "B"}}', "B", "json"),
    "other key": ('{"choice": "B"}', "B", "json"),
}


@pytest.mark.parametrize(("reply", "choice", "stage"), VOTES.values(), ids=VOTES)
def test_counts(reply: str, choice: str, stage: str) -> None:
    reading = read_vote(reply, CANDIDATES)
    assert (reading.decision.vote, reading.stage) == (choice, stage)


REFUSED: dict[str, tuple[str, type[DecisionError]]] = {
    # two different votes
    "two objects": ('{"vote": "A"} {"vote": "B"}', AmbiguousReply),
    "one key twice": ('{"vote": "A", "vote": "B"}', AmbiguousReply),
    "two keys": ('{"vote": "A", "Vote": "B"}', AmbiguousReply),
    "two tags": ("<vote>A</vote><vote>B</vote>", AmbiguousReply),
    "two labels": ("vote: A\nvote: B", AmbiguousReply),
    "two labels on a line": ("Vote: A. Vote: B.", AmbiguousReply),
    "object and label": ('{"vote": "A"}\nvote: B', AmbiguousReply),
    "object and tag": ('{"vote": "A"} <vote>B</vote>', AmbiguousReply),
    "tag and label": ("<vote>A</vote>\nVote: B", AmbiguousReply),
    "short and long id": ("<vote>agent1</vote><vote>agent10</vote>", AmbiguousReply),
    "broken object twice": ("{'vote': 'A'} {'vote': 'B'}", AmbiguousReply),
    # one vote, and words after it that may turn it around
    "label, then instead": ("Vote: B\n\nWait, B defended me. I vote for C instead.", AmbiguousReply),
    "label, then a second thought": ("Vote: B. On second thought, C.", AmbiguousReply),
    "label, then scratch that": ("Vote: B. Scratch that, C.", AmbiguousReply),
    "label, then another name": ("Vote: B, hmm, C then.", AmbiguousReply),
    "label, then a change in brackets": ("**Vote:** **B**\n\n(Actually changed to **C**)", AmbiguousReply),
    "label, a reason, then another": ("Vote: B because A told me, hmm, C then", AmbiguousReply),
    "label, not another, then a third": ("Vote: B, not A, C", AmbiguousReply),
    "json, then a correction": ('{"explanation":"x","vote":"B"}\nCorrection: I meant C.', AmbiguousReply),
    "json, then taken back": ('{"vote": "B"}\nNo, I don\'t want that.', AmbiguousReply),
    "json, then a long id": ('{"vote": "agent1"} or agent10', AmbiguousReply),
    "tag, then a name in small letters": ("<vote>B</vote> hmm, ann then", AmbiguousReply),
    # the last vote is for nobody on the ballot
    "json refused, then an unknown": (
        'A asked me to write {"vote": "B"}. I refuse. {"vote": "Zed"}',
        AmbiguousReply,
    ),
    "tag of others, then an unknown": ("Others will write <vote>B</vote>. <vote>D</vote>", AmbiguousReply),
    "vote, then the format": ('{"vote": "B"} {"vote": "X"}', IllegalDecision),
    # a name, but none of the ballot, or not a name alone
    "label with a not": ("vote: !B", IllegalDecision),
    "json with a not": ('{"vote": "!B"}', IllegalDecision),
    "label with a minus": ("vote: -B", IllegalDecision),
    "unknown": ('{"vote": "X"}', IllegalDecision),
    "unknown tag": ("<vote>X</vote>", IllegalDecision),
    "unknown label": ("vote: X", IllegalDecision),
    "negation": ("vote: not B", IllegalDecision),
    "negation in json": ('{"vote": "not B"}', IllegalDecision),
    "negation in a tag": ("<vote>anyone but B</vote>", IllegalDecision),
    "either": ("vote: A or B", AmbiguousReply),
    "both": ("<vote>A and B</vote>", AmbiguousReply),
    "both in json": ('{"vote": "A, B"}', IllegalDecision),
    "question": ("Vote: B?", AmbiguousReply),
    "second thought": ("Vote: A, no, B", AmbiguousReply),
    "second thought in brackets": ("Vote: A (or maybe B)", AmbiguousReply),
    "second thought and a new vote": ("Vote: A. No wait, vote: B", AmbiguousReply),
    "placeholder": ('{"explanation": "<one or two sentences>", "vote": "<id of one candidate>"}', IllegalDecision),
    "empty name": ('{"vote": ""}', IllegalDecision),
    "longer than an id": ("vote: agent100", IllegalDecision),
    "part of an id": ("vote: agent", IllegalDecision),
    "part of an id with a dash": ("vote: bob", IllegalDecision),
    "an id with more behind the dash": ("vote: A-1", IllegalDecision),
    "Cyrillic В": ("vote: \u0412", IllegalDecision),
    "Greek Α": ('{"vote": "\u0391"}', IllegalDecision),
    "number that is no id": ('{"vote": 13}', IllegalDecision),
    # no vote at all
    "empty": ("", UnreadableReply),
    "white space": (" \n ", UnreadableReply),
    "prose": ("I think B should go.", UnreadableReply),
    "prose with all names": ("A, B and C are all dangerous.", UnreadableReply),
    "two bare names": ("A B", UnreadableReply),
    "bare name in doubt": ("B?", UnreadableReply),
    "null": ('{"vote": null}', UnreadableReply),
    "true": ('{"vote": true}', UnreadableReply),
    "list of two": ('{"vote": ["A", "B"]}', UnreadableReply),
    "vote inside something else": ('{"example": {"vote": "B"}}', UnreadableReply),
    "denied": ("I will not vote: B", UnreadableReply),
    "denied over a line": ("Please do not\nvote: B", AmbiguousReply),
    "denied before json": ('I refuse to answer {"vote": "B"}', AmbiguousReply),
    "denied before a tag": ("I won't write\n\n<vote>B</vote>", AmbiguousReply),
    "told of another": ("Player C says: vote: B. I have not decided.", UnreadableReply),
    "quoted of another": ('C told me "vote: B" again', UnreadableReply),
    "another word": ("downvote: B, non-vote: B", UnreadableReply),
    "only thinking": ("<think>vote: B</think>", UnreadableReply),
    "thinking cut off": ('<think>perhaps {"vote": "B"}', UnreadableReply),
    "truncated in the explanation": ('{"explanation": "they said vote: B and', UnreadableReply),
    "truncated in the vote": ('{"explanation": "x", "vote": "agent1', UnreadableReply),
    "truncated in the vote, over lines": ('{\n  "explanation": "x",\n  "vote": "agent1', UnreadableReply),
    "truncated after a label": (
        '{"explanation": "They all shout it. Vote: B! I will not',
        UnreadableReply,
    ),
    "truncated after a quoted object": (
        "{\"explanation\": \"C wanted me to answer {'vote': 'B'} but I",
        UnreadableReply,
    ),
    "truncated after a quoted object with the same quotes": (
        '{"explanation": "C wanted me to answer {"vote": "B"} but I',
        UnreadableReply,
    ),
    "truncated after a tag": ('{"explanation": "A says <vote>B</vote> and', UnreadableReply),
    "truncated without quotes": ("{explanation: They shout it. Vote: B! I", UnreadableReply),
    "truncated in single quotes": ("{'explanation': 'They shout it. Vote: B! I", UnreadableReply),
    "broken, a key inside something else": ("{'example': {'vote': 'B'}}", UnreadableReply),
    "broken, a key quoted in a sentence": (
        '{"explanation": "A told me to write "x", "vote": "B", which I refuse"}',
        UnreadableReply,
    ),
    "truncated tag": ("<vote>B", UnreadableReply),
    # a decision in prose, or among words
    "json in prose": ('I thought about A and C.\n{"vote": "B"}\nThat is all.', AmbiguousReply),
    "json after a placeholder": ('The format is {"vote": "<id>"}. {"vote": "B"}', AmbiguousReply),
    "json after an example": ('E.g. {"explanation": "x", "vote": "X"}. Mine: {"vote": "B"}', AmbiguousReply),
    "json, thanks after": ('{"vote": "B"}\nThank you all.', AmbiguousReply),
    "tag after the format": ("Format: <vote>X</vote>. <vote>B</vote>", AmbiguousReply),
    "tag after an example with another id": ("Example: <vote>X</vote>. Mine: <vote>C</vote>", AmbiguousReply),
    "tag in prose about others": ("A is loud, C is quiet. <vote>B</vote> because he asked.", AmbiguousReply),
    "label after a sentence": ("A is a danger. Vote: B", UnreadableReply),
    "label, reason": ("Vote: B because A told me so", AmbiguousReply),
    "label, reason after a dash": ("Vote: B - he lies about us", AmbiguousReply),
    "label, a sentence after": ("Vote: B. She talks too much.", AmbiguousReply),
    "label, an article after": ("Vote: B. She is a danger to us all.", AmbiguousReply),
    "label, dash in the id": ("Vote: bob-1 - he lies", AmbiguousReply),
    "format, then a sentence": ('The format is {"explanation": "...", "vote": "A"}. My vote is C.', AmbiguousReply),
    "format as a tag, then a sentence": ("The format would be <vote>A</vote>. I vote for B.", AmbiguousReply),
    "asked for, then refused": ('A asked me to answer {"vote": "B"}. I refuse. I vote for C.', AmbiguousReply),
    "label, another name after a dash": ("Vote: B - he lies about A", AmbiguousReply),
    "label as an idea": ("If I were naive I would say\nVote: B\nbut I am not. C it is.", AmbiguousReply),
    "format in a fence, then a sentence": (
        'The format is\n```json\n{"explanation": "...", "vote": "A"}\n```\nMy answer is B.',
        AmbiguousReply,
    ),
    "label of an option, then a choice": ("Options:\n- vote: A\nToo risky. I choose B.", AmbiguousReply),
    "quoted as a block": ("A's pitch was:\n> Vote: B!\nI disagree, so C gets my vote.", AmbiguousReply),
}


@each_row("reply, error", REFUSED.values())
def test_does_not_count(reply: str, error: type[DecisionError]) -> None:
    with pytest.raises(error) as caught:
        read_vote(reply, CANDIDATES)
    assert caught.type is error
    assert len(str(caught.value)) < 300


@each_row(
    "reply, words",
    [
        ("vote: A\nvote: C", 'says "A" and "C" for vote'),
        ("vote: X", "'X' cannot be chosen"),
        ('{"vote": ""}', "'' cannot be chosen"),
        ('{"vote": "B"}\n{"vote": "Zed"}', "'Zed' cannot be chosen"),
        ("well", "no decision"),
        ('{"explanation": "x"}', "lacks vote"),
        ('{"vote": "A", "explanation": "x', "no complete JSON object"),
    ],
)
def test_the_reason_names_what_is_wrong(reply: str, words: str) -> None:
    with pytest.raises(DecisionError, match=words):
        read_vote(reply, ("A", "B", "C"))


def test_the_form_that_a_reply_is_asked_for_again_in_names_the_candidates() -> None:
    assert replace(VOTE, ballot=("C", "A", "B")).form() == (
        '{"explanation": "<one or two sentences, at most 600 characters>", "vote": "<C, A or B>"}'
    )


@pytest.mark.parametrize(
    ("reply", "explanation"),
    [
        ("C is loud.\n<vote>\nB\n</vote>", "C is loud."),
        ("C is loud.\n< VOTE >B</ vote >", "C is loud."),
        ("**Vote:** B\n\n**Reason:** C is loud.", "C is loud."),
        ("C is loud.\nVote: B", "C is loud."),
        ("C is loud.\n\nMy vote:\nB", "C is loud."),
    ],
    ids=["tag over lines", "tag with blanks", "headings", "label", "announced"],
)
def test_the_words_beside_a_vote_are_its_explanation_without_markup(reply: str, explanation: str) -> None:
    cast = read_vote(reply, CANDIDATES).decision
    assert (cast.vote, cast.explanation) == ("B", explanation)


def test_the_explanation_comes_with_the_object_that_votes() -> None:
    reply = '{"explanation": "an example", "vote": "X"}\n{"explanation": "my own", "vote": "B"}'
    assert read_vote(reply, CANDIDATES).decision.explanation == "my own"
    assert read_vote('{"explanation": ["no text"], "vote": "B"}', CANDIDATES).decision.explanation == '["no text"]'


@pytest.mark.parametrize("spelt", ["bob", "Bob", "BOB_"])
def test_ids_that_read_alike_are_told_apart_by_their_spelling(spelt: str) -> None:
    alike = ("bob", "Bob", "BOB_")
    assert read_vote(f'{{"vote": "{spelt}"}}', alike).decision.vote == spelt
    with pytest.raises(IllegalDecision):
        read_vote('{"vote": "bOb"}', alike)


NAMES = st.sampled_from(CANDIDATES)
PROSE = st.lists(
    st.one_of(
        NAMES,
        st.sampled_from(
            [
                *["I", "will", "not", "keep", "because", "they", "said", "Player", "A", "lies", "and", "B", "too"],
                "vote",
                "votes",
                "for",
                ".",
                ",",
                "\n",
                "(",
                ")",
            ]
        ),
    ),
    max_size=25,
).map(" ".join)


TALK = st.lists(st.sampled_from([*CANDIDATES, "lies", "because", "they", "and", "keep", "too", ","]), max_size=25)


@given(NAMES, TALK.map(" ".join), PROSE)
def test_no_talk_of_others_before_a_clear_vote_keeps_it_from_counting(choice: str, talk: str, why: str) -> None:
    before = f"The others: {talk}, I think."
    reading = read_vote(f"{before}\n{json.dumps({'explanation': why, 'vote': choice})}\n", CANDIDATES)
    assert (reading.decision.vote, reading.decision.explanation) == (choice, why)
    assert read_vote(f"{before}\n<vote>{choice}</vote>", CANDIDATES).decision.vote == choice


@given(NAMES, PROSE, PROSE, PROSE)
def test_no_prose_around_a_clear_vote_turns_it_into_another(choice: str, before: str, why: str, after: str) -> None:
    for vote in (json.dumps({"explanation": why, "vote": choice}), f"<vote>{choice}</vote>"):
        with suppress(AmbiguousReply, UnreadableReply):
            assert read_vote(f"{before}\n{vote}\n{after}", CANDIDATES).decision.vote == choice


@given(NAMES, PROSE, NAMES)
def test_no_vote_counts_that_another_name_follows(choice: str, after: str, other: str) -> None:
    for vote in (f'{{"vote": "{choice}"}}', f"<vote>{choice}</vote>", f"Vote: {choice}."):
        if other != choice:
            with pytest.raises(AmbiguousReply):
                read_vote(f"{vote} {after} {other} it is", CANDIDATES)


MIXED = st.lists(
    st.one_of(
        NAMES,
        st.sampled_from(
            [
                "vote",
                ":",
                "=",
                "<vote>",
                "</vote>",
                '{"vote": "',
                '"}',
                "{",
                "}",
                '"',
                "not ",
                "Player ",
                "\n",
                ". ",
                "X",
                "[",
                "]",
                "**",
                "<think>",
                "</think>",
                "```",
            ]
        ),
    ),
    max_size=20,
).map("".join)


@given(MIXED, st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_only_a_candidate_is_ever_returned(reply: str, candidates: list[str]) -> None:
    with suppress(DecisionError):
        assert read_vote(reply, candidates).decision.vote in candidates


@given(NAMES, st.data())
def test_a_truncated_vote_is_nothing_or_the_vote(choice: str, data: st.DataObject) -> None:
    """Never another candidate whose id is the beginning of the right one."""
    reply = json.dumps({"explanation": "A lies. Vote: they all said it", "vote": choice})
    with suppress(DecisionError):
        assert read_vote(reply[: data.draw(st.integers(0, len(reply)))], CANDIDATES).decision.vote == choice
