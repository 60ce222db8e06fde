"""A decision that its writer struck out, took back beside it, or denied above it is asked again, in any spelling."""

from __future__ import annotations

import pytest

from agentsim.errors import DecisionError
from tests.amounts import each_row
from tests.replies.asked import asked, read

STRUCK = [
    ("agent_island/vote", '<s>{"vote":"B"}</s>\nNo.'),
    ("agent_island/vote", '<s>Vote: B</s>\n{"vote":"C"}'),
    ("agent_island/vote", "<s>Answer: B</s>\nC"),
    ("agent_island/vote", "\n <s>B</s>\nC"),
    ("agent_island/vote", "<s>\nVote: B\n</s>\nNo."),
    ("agent_island/vote", "<s><s>B</s></s>\nC"),
    ("agent_island/vote", "<s>B</s></s>\nC"),
    ("agent_island/vote", "<s><s>B</s>\nC"),
    ("agent_island/vote", "<s>B</s><s>C</s>"),
    ("agent_island/vote", "<|begin_of_text|><s>B</s>\nC"),
    ("agent_island/vote", "<|im_start|>assistant\n<s>B</s>\nC"),
    ("agent_island/vote", "<s>B</s><pad>\nC"),
    ("agent_island/vote", "<s>B</s>\nC<|im_end|>"),
    ("agent_island/vote", "<s>B</s>\n❌"),
    ("agent_island/vote", '"<s>B</s>\\nC"'),
    ("agent_island/vote", "B ✗"),
    ("agent_island/vote", "B 👎"),
    ("agent_island/vote", "B 👎🏽"),
    ("agent_island/vote", "B 🙅‍♀️"),
    ("agent_island/vote", "B 🚫"),
    ("agent_island/vote", "Vote: B ❌"),
    ("agent_island/vote", "**Vote:** **B** ❌"),
    ("agent_island/vote", '{"vote":"B"} ❌'),
    ("agent_island/vote", '{"vote":"B"}\n❌'),
    ("agent_island/vote", "B\n\n👎"),
    ("agent_island/vote", "❌\n\nVote: B"),
    ("agent_island/vote", "| ❌ | B |"),
    ("agent_island/vote", "| B | ❌ |\n| C | ✅ |"),
    ("agent_island/vote", "<vote>B</vote> ❌"),
    ("agent_island/vote", "B ❓"),
    ("agent_island/vote", "Vote: B 🤔"),
    ("agent_island/vote", "Vote: B̶"),
    ("agent_island/vote", '{"vote":"B̶"}'),
    ("agent_island/vote", "B̷"),
    ("agent_island/vote", '{"vote":"\\u003cs\\u003eB\\u003c/s\\u003e"}'),
    ("agent_island/vote", '{"vote":"<del>B</del>"}'),
    ("agent_island/vote", '{"vote":"~~B~~"}'),
    ("agent_island/vote", '~{"vote":"B"}~'),
    ("agent_island/vote", "~~Vote: B~~"),
    ("agent_island/vote", '~~\nB lies.\n{"vote":"B"}\n~~'),
    ("agent_island/vote", '<del>\nB lies.\n{"vote":"B"}\n</del>'),
    ("agent_island/vote", "I choose.\n<strike>\nB lies.\nVote: B\n</strike>"),
    ("agent_island/vote", "[s]\nB lies.\n\nB\n[/s]"),
    ("agent_island/vote", '<del>\nB lies.\n\n{"vote":"B"}'),
    ("agent_island/vote", '// {"vote":"B"}'),
    ("agent_island/vote", '```json\n// {"vote":"B"}\n```'),
    ("agent_island/vote", '/*\nB lies.\n{"vote":"B"}\n*/'),
    ("agent_island/vote", '# {"vote":"B"}'),
    ("agent_island/vote", '-- {"vote":"B"}'),
    ("agent_island/vote", '!{"vote":"B"}'),
    ("agent_island/vote", '-{"vote":"B"}'),
    ("agent_island/answer_approach", "Accept ❌"),
    ("agent_island/answer_approach", "Yes 👎"),
    ("agent_island/answer_approach", '{"accept":"yes ❌"}'),
    ("agent_island/answer_approach", "N̶o̶"),
    ("auction/bid", "150 ❌"),
    ("auction/bid", "Bid: 150 🚫"),
    ("auction/bid", '{"bid": 150} ❌'),
    ("auction/bid", "Bid: 1̶5̶0̶"),
    ("auction/bid", '{"bid": "150 ❌"}'),
]

SECOND = [
    ("agent_island/vote", '{"vote":"B","revised_vote":"C"}'),
    ("agent_island/vote", '{"vote":"B","vote_2":"C"}'),
    ("agent_island/vote", '{"vote":"B","finalVote":"C"}'),
    ("agent_island/vote", '{"vote":"B","final-vote":"C"}'),
    ("agent_island/vote", '{"vote":"B","finalvote":"C"}'),
    ("agent_island/vote", '{"vote":"B","actual_vote":"C"}'),
    ("agent_island/vote", '{"vote":"B","correction":"C"}'),
    ("agent_island/vote", '{"vote":"B","revised":"C"}'),
    ("agent_island/vote", '{"vote":"B","instead":"C"}'),
    ("agent_island/vote", '{"vote":"B","my_vote":"C"}'),
    ("agent_island/vote", '{"vote":"B","vote_target":"C"}'),
    ("agent_island/vote", '{"vote":"B","second_vote":"C"}'),
    ("agent_island/vote", '{"vote":"B","final_choice":"C"}'),
    ("agent_island/vote", '{"vote":"B","not_vote":"B"}'),
    ("agent_island/vote", '{"vote":"B","final_vote":{"player":"C"}}'),
    ("agent_island/vote", '{"vote":"B","revision":{"vote":"C"}}'),
    ("agent_island/vote", '{"vote":"B","final_vote":["C"]}'),
    ("agent_island/vote", '{"vote":"B","C":true}'),
    ("agent_island/vote", '{"vote":"B","B":false}'),
    ("auction/bid", '{"bid":150,"final_bid":200}'),
    ("auction/bid", '{"bid":150,"bid2":200}'),
    ("auction/bid", '{"bid":150,"revised":200}'),
]

BOTH = [
    ("agent_island/answer_approach", '{"accept":true,"reject":"yes"}'),
    ("agent_island/answer_approach", '{"accept":false,"decline":false}'),
    ("agent_island/answer_approach", '{"accept":true,"refuse":1}'),
    ("agent_island/answer_approach", '{"accept":true,"final_accept":false}'),
    ("agent_island/answer_approach", '{"accept":true,"do_not_accept":true}'),
]

DENIED = [
    ("agent_island/vote", "This is what I will not do.\n\nVote: B"),
    ("agent_island/vote", "Vote:\n\nNo!\n\nB"),
    ("agent_island/vote", "No!\n\nB"),
    ("agent_island/vote", 'I would never vote for this one.\n{"vote":"B"}'),
    ("agent_island/vote", "This is not my vote.\n\nVote: B"),
    ("agent_island/vote", 'Nope.\n\n{"vote":"B"}'),
    ("agent_island/vote", "The opposite of my vote.\n\nB"),
    ("agent_island/vote", "The following is a lie. My vote:\n\nB"),
    ("agent_island/vote", "The following is a lie.\n\nVote:\n\nB"),
    ("agent_island/vote", "I won't vote for the player below.\n\nB"),
    ("agent_island/vote", "Ignore the following.\n\nB"),
    ("agent_island/vote", "Nein!\n\nB"),
    ("agent_island/vote", "Here is a vote I would never cast.\n\nB"),
]

DOUBT = [
    ("agent_island/vote", "Vote: C\nConfidence: none, take B instead"),
    ("agent_island/vote", "Vote: C\nConfidence: B"),
    ("agent_island/vote", "Vote: C, not B?"),
    ("agent_island/vote", "Vote: C, not C"),
    ("agent_island/vote", "Vote: C, B"),
    ("agent_island/vote", "Vote: C (not B) or D"),
    ("agent_island/vote", "Vote:\n- B\n- C"),
    ("agent_island/vote", "Vote:\n- C\n- No."),
    ("agent_island/vote", "- C"),
    ("agent_island/vote", "1. C\n2. B"),
    ("agent_island/vote", "1. C?"),
    ("agent_island/vote", "Candidates:\n- C"),
    ("agent_island/vote", "Not my vote:\n- C"),
    ("agent_island/vote", "D's vote:\n- C"),
    ("agent_island/vote", "D said:\n\n1. C"),
    ("agent_island/vote", "❌ Vote: C"),
    ("agent_island/vote", "Vote:\n- C ❌"),
    ("agent_island/vote", "Vote:\n- !C"),
    ("agent_island/vote", "Vote:\n+ C\n- B"),
    ("agent_island/vote", "The following is a lie.\n\nVote:\n- C"),
]


@each_row("name, reply", STRUCK)
def test_a_decision_that_is_struck_out_or_crossed_is_asked_again(name: str, reply: str) -> None:
    with pytest.raises(DecisionError):
        read(asked(name).request, reply)


@each_row("name, reply", SECOND)
def test_another_value_in_the_same_object_is_asked_again(name: str, reply: str) -> None:
    with pytest.raises(DecisionError):
        read(asked(name).request, reply)


@pytest.mark.parametrize(("name", "reply"), BOTH)
def test_an_object_that_says_yes_and_no_is_asked_again(name: str, reply: str) -> None:
    with pytest.raises(DecisionError):
        read(asked(name).request, reply)


@each_row("name, reply", DENIED)
def test_a_decision_below_a_sentence_that_denies_it_is_asked_again(name: str, reply: str) -> None:
    with pytest.raises(DecisionError):
        read(asked(name).request, reply)


@each_row("name, reply", DOUBT)
def test_what_only_looks_like_one_decision_is_asked_again(name: str, reply: str) -> None:
    with pytest.raises(DecisionError):
        read(asked(name).request, reply)
