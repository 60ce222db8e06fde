"""Ids: given, numbered, or a prompt file's name; legal, and no two alike in any case or script."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsim.engine.letters import made_name, slugs, written_name
from agentsim.errors import ScenarioError
from agentsim.scenario.seating import seat_ids
from agentsim.scenario.toml_tables import PlayerTable, legal_id
from tests.amounts import each_row


def ids(*seats: str) -> list[str]:
    """The ids of these seats, one word each: `A` given, `agent*3` a population, `team one.txt` a file."""
    found = seat_ids([(_table(seat), ("players", index)) for index, seat in enumerate(seats)])
    assert len(found) == len(seats)
    return [name for names in found for name in names]


def _table(seat: str) -> PlayerTable:
    if seat.endswith(".txt"):
        return PlayerTable(prompt_file=seat)
    name, _, count = seat.partition("*")
    return PlayerTable(id=name, count=int(count)) if count else PlayerTable(id=name)


@each_row(
    "seats, expected",
    [
        (["A", "b"], ["A", "b"]),
        (["agent*3"], ["agent1", "agent2", "agent3"]),
        (["agent*2", "B", "agent*2"], ["agent1", "agent2", "B", "agent3", "agent4"]),
        (["zespół 1.txt"], ["zespół 1"]),
        (["Ομάδα Α.txt", "Ομάδα Β.txt"], ["Ομάδα Α", "Ομάδα Β"]),
        (["José", "李雷", "Zespół 1", "Ana Maria"], ["José", "李雷", "Zespół 1", "Ana Maria"]),
        (["Jose\u0301", "e\u0301quipe.txt"], ["José", "équipe"]),
        (["राम", "นารี", "علی", "Łukasz*2"], ["राम", "นารี", "علی", "Łukasz1", "Łukasz2"]),
        (["José", "Jose"], ["José", "Jose"]),
        (["а.txt", "a.txt"], ["а", "a_2"]),
        (["می\u200cر.txt", "\u202eb.txt", "c'd.txt"], ["میر", "b", "c_d"]),
        (["deep/er/team.txt"], ["team"]),
        (["a.txt", "A"], ["a_2", "A"]),
        (["a.txt", "x/a.txt", "A.txt"], ["a", "a_2", "A_3"]),
        (["a_2.txt", "a.txt", "x/a.txt"], ["a_2", "a", "a_3"]),
        (["a 2.txt", "a.txt", "x/a.txt"], ["a 2", "a", "a_2"]),
        (["agent1.txt", "agent*1"], ["agent1_2", "agent1"]),
        (["Engine.txt", "EVERYONE.txt", "narrator.txt"], ["Engine_2", "EVERYONE_2", "narrator_2"]),
        (["???.txt", "!!!.txt"], ["player", "player_2"]),
        (["x" * 40 + ".txt", "x" * 50 + ".txt"], ["x" * 32, "x" * 30 + "_2"]),
        (["a" * 31 + "-b.txt"], ["a" * 31]),
        (["@boss.txt"], ["boss"]),
    ],
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
            "players.0.id: must be 1 to 32 letters and digits of any script, single spaces, _ and -, the first a ",
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


NAMES = [
    "José",
    "Jose",
    "Ana Maria",
    "Ana_Maria",
    "李雷",
    "王芳",
    "Zespół 1",
    "Zespol_1",
    "player",
    "Ομάδα",
    "ANA MARIA ",
]


def test_slugs_are_ascii_different_in_any_case_and_a_plain_name_is_its_own() -> None:
    found = slugs(NAMES)
    assert found["Jose"] == "Jose"
    assert [found[name] for name in ("Ana_Maria", "Zespol_1", "player")] == ["Ana_Maria", "Zespol_1", "player"]
    assert found["José"] == "Jose_2"
    assert found["李雷"] != found["王芳"]
    assert all(re.fullmatch("[A-Za-z0-9][A-Za-z0-9_-]*", slug) for slug in found.values())
    assert len({slug.casefold() for slug in found.values()}) == len(NAMES)
    assert slugs(NAMES) == found


def test_names_that_differ_by_case_alone_are_different_files() -> None:
    assert slugs(["R", "r", "r_2"]) == {"R": "R", "r": "r_3", "r_2": "r_2"}


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, unique=True))
def test_slugs_of_any_names_are_legal_names_of_files(names: list[str]) -> None:
    found = slugs(names)
    assert list(found) == names
    assert all(re.fullmatch("[A-Za-z0-9][A-Za-z0-9_-]*", slug) for slug in found.values())
    assert len({slug.casefold() for slug in found.values()}) == len(names)


@given(st.text(max_size=40))
def test_what_is_made_of_any_text_is_a_name_or_nothing(text: str) -> None:
    made = made_name(text)
    assert not made or written_name(made) == made
