"""Braces: one pass over a text says of each the same as looking from it alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.braces import closing, closings


@given(st.text(alphabet='{}"\\\\a', max_size=30))
def test_one_pass_says_of_every_brace_where_it_closes(text: str) -> None:
    start = text.find("{")
    if start < 0:
        return
    for brace, (end, deep) in closings(text, start).items():
        assert end == closing(text, brace)
        assert bool(deep) == (end is not None)


def test_the_depth_of_a_brace_is_that_of_what_it_holds() -> None:
    found = {0: (15, 3), 2: (4, 1), 5: (9, 2), 6: (8, 1), 15: (None, 0), 17: (None, 0)}
    assert closings('{ {} {{}} "{" }{ {', 0) == found
