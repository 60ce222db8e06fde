"""Networks and threads: everybody has a place, everything said is beneath what it answers."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.panel import (
    Edge,
    Network,
    Node,
    ThreadPost,
    Threads,
)
from agentsim.report.page import view
from agentsim.report.people import DEEPEST, MOST_ARCS, MOST_NODES, MOST_ROWS
from tests.report.test_charts import drawn

PLAYERS = {"A": 0, "B": 1, "C": 2}


def web(*edges: Edge, nodes: tuple[Node, ...] = (Node("A"), Node("B"), Node("C"))) -> Any:
    return view(Network("Talk", nodes, edges), PLAYERS)


def forum(*posts: ThreadPost) -> list[list[tuple[int, int]]]:
    """The numbers and depths of each thread."""
    made: Any = view(Threads("Forum", posts), PLAYERS)
    return [[(found.post.number, found.depth) for found in thread] for thread in made.threads]


def post(number: int, answers: int | None = None) -> ThreadPost:
    return ThreadPost(number, "A", f"day {number}", f"words {number}", answers)


def test_every_node_stands_on_the_circle_in_the_tone_of_its_player() -> None:
    made = web(Edge("A", "B", 1))
    assert [spot.name for spot in made.spots] == ["A", "B", "C"]
    assert [spot.tone for spot in made.spots] == ["t0", "t1", "t2"]
    assert len({round(math.hypot(spot.x - 320, spot.y - 320)) for spot in made.spots}) == 1


def test_no_name_leans_out_of_the_drawing() -> None:
    long = "a name of so many letters that it is cut"
    made = web(nodes=(Node(long), Node("B"), Node("C"), Node("D")))
    assert made.spots[0].label == "a name of so many…"
    assert made.spots[0].name == long
    for spot in made.spots:
        reach = math.hypot(spot.x - 320, spot.y - 320) + 12 + 5.4 * len(spot.label)
        assert reach <= 320


def test_those_of_one_group_stand_side_by_side_and_share_a_tone() -> None:
    nodes = (Node("A", "calm"), Node("B", "bold"), Node("C", "calm"))
    made = web(nodes=nodes)
    assert [spot.name for spot in made.spots] == ["A", "C", "B"]
    assert [spot.tone for spot in made.spots] == ["s0", "s0", "s1"]
    assert made.groups == (("calm", "s0"), ("bold", "s1"))


def test_ties_of_one_pair_and_kind_add_up_and_the_two_directions_are_two_arcs() -> None:
    made = web(Edge("A", "B", 2), Edge("B", "A", 1), Edge("A", "B", 3))
    assert {arc.title for arc in made.arcs} == {"A to B: 5", "B to A: 1"}
    assert len({arc.path.split("Q")[1].split(" ")[0] for arc in made.arcs}) == 2, "they do not lie on each other"
    widths = {arc.title: arc.width for arc in made.arcs}
    assert widths["A to B: 5"] > widths["B to A: 1"]


def test_kinds_of_ties_are_told_apart_in_the_legend_and_in_the_table() -> None:
    made = web(Edge("A", "B", 2, "gifts"), Edge("A", "B", 1, "letters"))
    assert made.kinds == (("gifts", "kind0"), ("letters", "kind1"))
    assert [[cell.text for cell in row] for row in made.data.rows] == [
        ["A", "B", "gifts", "2"],
        ["A", "B", "letters", "1"],
    ]


def test_two_kinds_from_one_to_another_do_not_hide_each_other() -> None:
    made = web(*(Edge("A", "B", 1.0, kind) for kind in ("gifts", "messages")))
    assert len({arc.path for arc in made.arcs}) == 2


def test_what_cannot_be_drawn_is_left_out() -> None:
    nan = float("nan")
    made = web(
        Edge("A", "A", 3), Edge("A", "Z", 1), Edge("A", "B", 0), Edge("A", "B", nan), Edge("A", "B", float("inf"))
    )
    assert made.arcs == []
    assert [[cell.text for cell in row] for row in made.data.rows] == [["A", "A", "3"]], (
        "an edge to itself is in the table"
    )


def test_of_a_crowd_the_busiest_are_drawn_and_the_page_says_so() -> None:
    crowd = tuple(Node(f"n{index}") for index in range(MOST_NODES + 5))
    edges = tuple(Edge(a.name, b.name, 1 + index) for index, a in enumerate(crowd[5:]) for b in crowd[5:] if a is not b)
    made = web(*edges, nodes=crowd)
    assert [spot.name for spot in made.spots] == [node.name for node in crowd[5:]]
    assert len(made.arcs) == MOST_ARCS
    assert len(made.data.rows) == MOST_ROWS
    assert made.left_out == (
        f"5 who had less to do with others are not drawn; {len(edges) - MOST_ARCS:,} slighter edges are not drawn; "
        f"the table holds the {MOST_ROWS:,} strongest edges of {len(edges):,}."
    )
    assert made.left_out in drawn(Network("Talk", crowd, edges)).text


def test_nobody_at_all_is_said() -> None:
    assert "No one is drawn" in drawn(Network("Talk", (), ())).text


def test_answers_stand_beneath_what_they_answer_in_the_order_in_which_they_came() -> None:
    assert forum(post(1), post(2), post(3, 1), post(4, 2), post(5, 3), post(6, 1)) == [
        [(1, 0), (3, 1), (5, 2), (6, 1)],
        [(2, 0), (4, 1)],
    ]


def test_an_answer_to_what_is_not_there_begins_a_thread() -> None:
    assert forum(post(7, 3), post(8, 7)) == [[(7, 0), (8, 1)]]
    assert forum(post(1, 2), post(2)) == [[(1, 0)], [(2, 0)]], "nobody answers what comes later"


def test_a_thread_deeper_than_the_call_stack_is_shown_and_leans_no_further_than_there_is_room() -> None:
    [thread] = forum(post(1), *(post(number, number - 1) for number in range(2, 3000)))
    assert [number for number, _ in thread] == list(range(1, 3000))
    assert max(depth for _, depth in thread) == DEEPEST


@given(st.lists(st.integers(0, 30)))
def test_every_post_is_shown_once(parents: list[int]) -> None:
    posts = [post(number, parent or None) for number, parent in enumerate(parents, start=1)]
    shown = [number for thread in forum(*posts) for number, _ in thread]
    assert sorted(shown) == list(range(1, len(parents) + 1))


def test_a_thread_reads_in_the_page() -> None:
    figure = drawn(
        Threads("Forum", (ThreadPost(1, "A", "day 1", "Who farms?"), ThreadPost(2, "X", "day 2", "I do.", 1)))
    )
    assert "2 posts in 1 thread" in figure.text
    assert [said.text for said in figure.all("div", cls="said")] == ["Who farms?", "I do."]
    assert "no. 1, 1 answer" in " ".join(figure.text.split())
    assert "no. 2, to no. 1" in " ".join(figure.text.split())
