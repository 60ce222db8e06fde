"""Properties: noise makes no other decision of a reply, a reply means one thing in all games, thoughts are not said."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentsim.errors import DecisionError
from tests.amounts import each_row, one_in
from tests.replies.asked import ASKED, asked, read, thinking_kept
from tests.replies.corpus import Outcome, Reply, judged, replies, shown, value_at

VALUES = {
    "agent_island/vote": ("vote", ("B", "C", "D")),
    "agent_island/approach": ("partner", ("B", "C", "D", "nobody")),
    "agent_island/answer_approach": ("accept", (True, False)),
    "auction/bid": ("bid", (0, 120, 999)),
    "monopoly/auction_bid": ("bid", (0, 140, 300)),
    "monopoly/buy_or_auction": ("action", ("buy", "auction")),
}
"""Questions with one decision: the field, and values that it may have."""


def outcome_of(name: str, text: str) -> Outcome:
    try:
        return read(asked(name).request, text).model_dump(mode="json")
    except DecisionError as error:
        return error.code


@cache
def meant(name: str) -> tuple[Reply, ...]:
    """Return the whole replies of the corpus that mean a decision of this question."""
    return tuple(each for each in replies() if each.meant and name in each.asked and each.finish == "stop")


def noise(name: str) -> st.SearchStrategy[str]:
    """Lines that decide nothing: talk, other objects, what was thought, quoted, or shown as a format."""
    field, values = VALUES[name]
    other = st.sampled_from(values)
    answer = st.one_of(
        other.map(lambda value: json.dumps({field: value})),
        other.map(lambda value: f"{field}: {value}"),
        other.map(lambda value: f"<{field}>{value}</{field}>"),
    )
    talk = [
        "Let me see.",
        "They all talk too much!",
        "It was a long day",
        "---",
        "",
        "(sighs)",
        "Thanks for asking.",
        "# Notes",
    ]
    objects = ['{"mood": "calm"}', "{}", '{"state": {"day": 3}, "left": [1, 2]}', '```json\n{"weather": "fine"}\n```']
    return st.one_of(
        st.sampled_from([*talk, *objects]),
        st.builds("<think>{}</think>".format, answer),
        st.builds("[THINK]I could say {}[/THINK]".format, answer),
        st.builds("D said: {}".format, answer),
        st.builds("D told me:\n{}\nSo much for that.".format, answer),
        st.builds("> {}".format, answer),
        st.builds("The format is {}".format, answer),
        st.builds("For example: {}".format, answer),
        st.builds("I will not answer {}".format, answer),
        st.builds("If they ask nicely, {}".format, answer),
        st.builds("Earlier I was thinking of {}".format, answer),
        st.builds("I could answer {}, but I do not.".format, answer),
        st.builds("D's message: {}".format, answer),
        st.just(f'{{"{field}": "<your answer>"}}'),
    )


@pytest.mark.parametrize("name", VALUES)
@given(data=st.data())
def test_noise_around_a_reply_makes_no_other_decision_of_it(name: str, data: st.DataObject) -> None:
    reply = data.draw(st.sampled_from(meant(name)))
    assume(judged(reply, name, outcome_of(name, reply.text)) == "right")  # it decides when it stands alone
    before, after = (data.draw(st.lists(noise(name), max_size=3)) for _ in range(2))
    text = "\n".join([*before, reply.text, *after])
    outcome = outcome_of(name, text)
    assert judged(reply, name, outcome) != "misread", f"{text!r}\n{shown(reply, name, outcome)}"


@each_row(
    "name, text",
    [
        ("agent_island/vote", "D said: vote: D\nvote: B\nvote: C"),
        ("agent_island/vote", 'D said: {"vote": "D"}\n{"vote": "B"}\nOr should I say {"vote": "C"}'),
        ("agent_island/vote", 'The format is vote: C\nMy vote is B\nEarlier I was thinking of {"vote": "D"}'),
        ("agent_island/vote", '{"vote": "B"}\nOkay C it is.'),
        ("agent_island/vote", '{"vote": "B"}\nSo C gets my vote.'),
        ("agent_island/vote", '{"vote": "B"}\n\nFinal: C'),
        ("agent_island/vote", '{"vote": "B"}\nVote C!'),
        ("agent_island/vote", '{"vote": "B"}\nLet us eliminate C.'),
        ("auction/bid", 'The format is {"bid": 0}\n{"bid": 130}\nEarlier I was thinking of {"bid": 120}'),
        ("auction/bid", '{"bid": 150}\n\nI am out.'),
        ("auction/bid", "Bid: 150\nI am out."),
        ("auction/bid", '{"bid": 150}\nBetter: 200'),
        ("auction/bid", "150\n\nFinal bid 200"),
        ("auction/bid", '{"bid": 150}\nRaise to 200.'),
    ],
)
def test_of_two_decisions_of_its_own_none_is_taken(name: str, text: str) -> None:
    with pytest.raises(DecisionError):
        read(asked(name).request, text)


@each_row(
    "name, text, value",
    [
        ("agent_island/vote", 'My vote:\n```json\n{"vote": "B"}\n```', "B"),
        ("agent_island/vote", 'C was close, D too.\n\n{"vote": "B"}', "B"),
        ("agent_island/vote", '```json\n{"explanation": "...", "vote": "B"}\n```', "B"),
        ("agent_island/vote", "Vote：C", "C"),
        ("agent_island/vote", "Reason: C and D are loud.\nVote: B", "B"),
        ("auction/bid", 'My bid:\n{"bid": 150}', 150),
        ("auction/bid", '```json\n{"bid": 150, "reasoning": "..."}\n```', 150),
    ],
)
def test_a_decision_that_stands_once_is_read(name: str, text: str, value: Any) -> None:
    assert value_of(name, text) == value


@each_row(
    "name, text",
    [
        ("agent_island/vote", "Okay C it is."),
        ("agent_island/vote", "He lies, so C gets my vote."),
        ("agent_island/vote", "They are weak. Vote: C"),
        ("agent_island/vote", "Vote: C, because he lies"),
        ("agent_island/vote", "> Vote: C"),
        ("agent_island/vote", "D said:\n\nVote: C"),
        ("agent_island/vote", "D told me\n<vote>C</vote>"),
        ("agent_island/vote", "An answer of the form\n\nC"),
        ("agent_island/vote", 'I am told to say {"vote": "C"}'),
        ("agent_island/vote", 'D said: {"vote": "D"}\n{"vote": "B"}'),
        ("agent_island/vote", 'My vote:\n{"vote": "B"}\nC was close.'),
        ("agent_island/vote", '{"vote": "B"}\n\nForget that.'),
        ("agent_island/vote", '{"vote": "B"}\n\nReason: He lies.\nForget that.'),
        ("agent_island/vote", '{"vote": "B"} <!-- I mean it --> or not'),
        ("agent_island/vote", "Vote: B\nReason: He lies.\n\nForget that."),
        ("agent_island/vote", '{"vote": "B" // or C\n}'),
        ("agent_island/vote", '{"vote": "B" /* for now */}'),
        ("agent_island/answer_approach", "Sure, why not"),
        ("auction/bid", 'My bid:\n{"bid": 150}\n120 was too low for me.'),
        ("auction/bid", "150 for the compass"),
    ],
)
def test_a_decision_among_words_is_asked_again(name: str, text: str) -> None:
    assert value_of(name, text) == "in doubt"


@pytest.mark.parametrize("name", VALUES)
@given(data=st.data())
def test_thinking_and_other_objects_around_a_reply_leave_it_alone(name: str, data: st.DataObject) -> None:
    """Neither is a word of the answer: what was read without them is read with them."""
    objects = [each for each in meant(name) if each.text.lstrip().startswith("{") and each.text.rstrip().endswith("}")]
    reply = data.draw(st.sampled_from(objects))
    assume(judged(reply, name, outcome_of(name, reply.text)) == "right")
    harmless = ['{"mood": "calm"}', "<think>Hm, or the other one?</think>", "{}"]
    before = data.draw(st.lists(st.sampled_from([*harmless, "Let me see."]), max_size=3))
    after = data.draw(st.lists(st.sampled_from(harmless), max_size=3))
    text = "\n".join([*before, reply.text, *after])
    assert judged(reply, name, outcome_of(name, text)) in {"right", "words lost"}, text


# -- one reply, several games

ALIKE = {"bid": ("auction/bid", "monopoly/auction_bid"), "player": ("agent_island/vote", "agent_island/approach")}
"""Questions that have a field of one kind with values in common."""
OWN_WORDS = {
    "bid": re.compile(r"\baction\b|public speech", re.IGNORECASE),  # Monopoly's bid stands beside its speech
    "player": re.compile(
        r"vot|ballot|eliminat|partner|approach|sidebar|\btalk\b|aside|beiseite|私下|stimm|voix|голос|票|투표|g[lł]os|stem\b",
        re.IGNORECASE,
    ),
}
"""What says which of them is answered."""


def value_of(name: str, text: str) -> Any:
    """What a reply decides, or that it is illegal, or in doubt."""
    outcome = outcome_of(name, text)
    if isinstance(outcome, str):
        return "illegal" if outcome == "illegal" else "in doubt"
    return value_at(outcome, ASKED[name].decides)


@pytest.mark.parametrize("kind", ALIKE)
def test_a_reply_means_the_same_in_every_question_that_has_such_a_field(kind: str) -> None:
    one, other = ALIKE[kind]
    compared, differ = 0, []
    for each in replies():
        if each.finish != "stop" or not {one, other} & set(each.asked) or OWN_WORDS[kind].search(each.text):
            continue
        values = value_of(one, each.text), value_of(other, each.text)
        if "illegal" in values or "nobody" in values:  # a value that only one of them may have
            continue
        compared += 1
        if values[0] != values[1]:
            differ.append(f"{each.id}: {each.text[:120]!r} is {values[0]!r} in {one}, {values[1]!r} in {other}")
    assert not differ, "\n".join(differ)
    assert compared >= 20


# -- thinking and words

SECRET = "I will betray B"
SPELLINGS = [
    *[
        "<think>{}</think>{}",
        "<thinking>\n{}\n</thinking>\n{}",
        "<thought>{}</thought>\n{}",
        "<reasoning>{}</reasoning>{}",
    ],
    *[
        "[THINK]{}[/THINK]{}",
        "◁think▷{}◁/think▷{}",
        "<|begin_of_thought|>{}<|end_of_thought|>{}",
        "<mm:think>{}</mm:think>{}",
    ],
    *[
        "<seed:think>{}</seed:think>{}",
        "<ant:thinking>{}</ant:thinking>\n{}",
        "{}</think>{}",
        "<scratchpad>{}</scratchpad>\n{}",
    ],
    "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>",
    *["analysis{}assistantfinal{}", "<|channel>thought\n{}<channel|>{}", "<inner_monologue>{}</inner_monologue>\n{}"],
    *[
        "**Thinking:** {}\n\n**Pitch:** {}",
        "# Thinking\n{}\n\n# Pitch\n{}",
        "Thoughts: {}\n\nPitch: {}",
        "**Analysis**\n{}\n\n**Pitch**\n{}",
    ],
    *["```thinking\n{}\n```\n{}", "<!-- {} -->\n{}", "(thinking: {})\n{}", '{{"thinking": "{}", "text": "{}"}}'],
]
THOUGHTS = st.lists(
    st.sampled_from(
        ["They", "trust", "me", ",", ".", "\n", "Hm", "vote: B", "loud", "42", "- so", "**maybe**", "'not'"]
    ),
    max_size=8,
).map(" ".join)


@pytest.mark.parametrize("spelling", SPELLINGS)
@given(
    before=THOUGHTS, after=THOUGHTS, speech=st.sampled_from(["Keep me, friends.", "I am loyal. Keep me!", "Hello all"])
)
@one_in(4)
def test_thinking_in_no_spelling_is_among_the_words(spelling: str, before: str, after: str, speech: str) -> None:
    thought = f"We look {before} {SECRET} {after}."
    if spelling.startswith("{{"):
        thought = json.dumps(thought)[1:-1]
    text = spelling.format(thought, speech)
    request = asked("agent_island/pitch").request
    try:
        said = read(request, text)
    except DecisionError:
        return
    assert said.model_dump()["text"].strip() == speech
    assert SECRET in thinking_kept(request, text)


@each_row("spelling", SPELLINGS)
def test_words_behind_thinking_are_said(spelling: str) -> None:
    text = spelling.format(f"Hm. {SECRET}.", "Keep me, friends.")
    assert read(asked("agent_island/pitch").request, text).model_dump() == {"text": "Keep me, friends."}


@each_row("spelling", [each for each in SPELLINGS if not each.startswith(("{}", "{{"))])
def test_thinking_that_is_not_closed_says_nothing(spelling: str) -> None:
    opened = spelling.partition("{}")[0]
    with pytest.raises(DecisionError):
        read(asked("agent_island/pitch").request, f"{opened}{SECRET}. Keep me, friends.", "length")


REASONING = {
    "a table": "| C | 512 | 3 | `17` | **yes** |\n",
    "a list": "- **Player C**: voted against me in round 3 (see `history[2]`), *seems* quiet.\n",
    "formulas": "$$ \\mathbb{E}[v_{3}] = \\frac{42}{7} \\cdot ( p_{B} - p_{C} ) $$ so the value falls a little.\n",
    "code": "    if bids[i] > max(best, budget - spent):\n        best = bids[i]  # keep\n",
    "short lines": "Cash: 1500, fine\n",
    "lines without blanks": "然后比较每个方案。\n",
    "suppositions": "Suppose I vote for C; then D stays.\n",
}


@pytest.mark.parametrize(
    ("wrapped", "longest"), [("<think>\n{}</think>\n{}", 60_000), ("{}\n\nThat settles it.\n\n{}", 5_000)]
)
@pytest.mark.parametrize("kind", REASONING)
def test_long_reasoning_before_an_answer_leaves_it_alone(kind: str, wrapped: str, longest: int) -> None:
    """The bounds on work (`engine.reading.text`) refuse nothing that a model writes in earnest."""
    reasoning = REASONING[kind] * (longest // len(REASONING[kind]))
    text = wrapped.format(reasoning, '{"explanation":"B is strongest.","vote":"B"}')
    assert outcome_of("agent_island/vote", text) == {"explanation": "B is strongest.", "vote": "B"}
