"""A decision that its writer struck out, took back beside it, or denied above it is asked again, in any spelling."""

from __future__ import annotations

import pytest

from agentsim.errors import DecisionError
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


@pytest.mark.parametrize(("name", "reply"), STRUCK)
def test_a_decision_that_is_struck_out_or_crossed_is_asked_again(name: str, reply: str) -> None:
    with pytest.raises(DecisionError):
        read(asked(name).request, reply)
