"""Ids: given, numbered, or made of a prompt file's name; legal, and no two alike in any case."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsim.errors import ScenarioError
from agentsim.scenario.seating import seat_ids
from agentsim.scenario.toml_tables import PlayerTable, legal_id


def ids(*seats: str) -> list[str]:
    """The ids of these seats, one word each: `A` given, `agent*3` a population, `team one.txt` a file."""
    found = seat_ids([(_table(seat), ("players", place)) for place, seat in enumerate(seats)])
    assert len(found) == len(seats)
    return [name for names in found for name in names]


def _table(seat: str) -> PlayerTable:
    if seat.endswith(".txt"):
        return PlayerTable(prompt_file=seat)
    name, _, count = seat.partition("*")
    return PlayerTable(id=name, count=int(count)) if count else PlayerTable(id=name)


@pytest.mark.parametrize(
    ("seats", "expected"),
    [
        (["A", "b"], ["A", "b"]),
        (["agent*3"], ["agent1", "agent2", "agent3"]),
        (["agent*2", "B", "agent*2"], ["agent1", "agent2", "B", "agent3", "agent4"]),
        (["zespół 1.txt"], ["zespol_1"]),
        (["deep/er/team.txt"], ["team"]),
        (["a.txt", "A"], ["a_2", "A"]),
        (["a.txt", "x/a.txt", "A.txt"], ["a", "a_2", "A_3"]),
        (["a 2.txt", "a.txt", "x/a.txt"], ["a_2", "a", "a_3"]),
        (["agent1.txt", "agent*1"], ["agent1_2", "agent1"]),
        (["Engine.txt", "EVERYONE.txt", "narrator.txt"], ["Engine_2", "EVERYONE_2", "narrator_2"]),
        (["???.txt", "!!!.txt"], ["player", "player_2"]),
        (["x" * 40 + ".txt", "x" * 50 + ".txt"], ["x" * 32, "x" * 30 + "_2"]),
        (["a" * 31 + "-b.txt"], ["a" * 31]),
        (["@boss.txt"], ["boss"]),
    ],
    ids=lambda given: " ".join(given)[:40],
)
def test_ids_in_the_order_of_the_tables(seats: list[str], expected: list[str]) -> None:
    assert ids(*seats) == expected


@pytest.mark.parametrize(
    ("seats", "line"),
    [
        (["A", "B", "a"], 'players.2.id: "a" is the id of players.0 already; case does not count'),
        (["agent1", "agent*2"], 'players.1.id: "agent1" is the id of players.0 already; case does not count'),
        (
            ["x" * 32 + "*1"],
            "players.0.id: must be 1 to 32 of the characters A-Z a-z 0-9 _ -, the first a letter or a ",
        ),
        (["agent*20000", "B"], "players: 20001 are too many (valid: at most 20000)"),
    ],
    ids=["twice", "a population's", "too long with its number", "too many"],
)
def test_given_ids_that_clash_are_one_line_with_the_key(seats: list[str], line: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        ids(*seats)
    assert str(raised.value).startswith(line)
    assert "\n" not in str(raised.value)


STEMS = st.text(min_size=1, max_size=40).filter(lambda text: "/" not in text and "\0" not in text)
SEATS = st.lists(st.one_of(STEMS.map(lambda name: f"{name}.txt"), st.sampled_from(["a.txt", "A.txt", "p/a.txt"])))


@settings(deadline=None)
@given(SEATS.filter(bool))
def test_whatever_files_are_called_their_ids_are_legal_and_all_different(seats: list[str]) -> None:
    made = ids(*seats)
    assert [legal_id(name) for name in made] == made
    assert len({name.casefold() for name in made}) == len(seats)
    assert ids(*seats) == made
