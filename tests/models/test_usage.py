"""Usage: what a provider says of tokens, in its own way of counting, becomes what is paid for."""

from __future__ import annotations

from typing import Any

import pytest

from agentsim.models.base import Call, Completion, Sampling, Usage
from tests.fakes.replies import envelope
from tests.fakes.server import FakeServer, Raw
from tests.models.asking import tried


def counted(said: dict[str, Any]) -> Usage:
    """The usage of one call to a server that says so of it."""
    server = FakeServer(lambda _body: Raw(body=envelope("yes") | {"usage": said}))
    answer = tried(server, Call((("user", "Vote."),)), Sampling())
    assert isinstance(answer, Completion)
    return answer.usage


THOUGHT = {"completion_tokens_details": {"reasoning_tokens": 1000}}
COUNTS: dict[str, tuple[dict[str, Any], int | None]] = {
    "beside the completion, in the total": (
        {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 1015, **THOUGHT},
        1005,
    ),
    "only in the total": ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 1015}, 1005),
    "all thinking, no completion": ({"prompt_tokens": 10, "total_tokens": 1010}, 1000),
    "beside the completion, without a total": ({"prompt_tokens": 10, "completion_tokens": 5, **THOUGHT}, 1005),
    "within the completion": ({"prompt_tokens": 10, "completion_tokens": 1005, "total_tokens": 1015, **THOUGHT}, 1005),
    "a total that is none": ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": "many"}, 5),
    "a total below its parts": ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 3}, 5),
    "no count at all": ({"prompt_tokens": 10}, None),
}


@pytest.mark.parametrize(("said", "paid"), COUNTS.values(), ids=COUNTS)
def test_thinking_is_part_of_the_completion_however_a_provider_counts_it(
    said: dict[str, Any], paid: int | None
) -> None:
    usage = counted(said)
    assert (usage.prompt_tokens, usage.completion_tokens) == (10, paid)
