"""Outlook: where the next turn of a token rests, and what its next roll may cost."""

from __future__ import annotations

import random

import pytest

from agentsim.games.monopoly.board import GROUPS, SPACES
from agentsim.games.monopoly.landing_odds import IN_JAIL, any_visit, transitions, visits, worst_rent
from agentsim.games.monopoly.prompts import state_lines
from tests.games.monopoly.asked import board
from tests.games.monopoly.table import Game


@pytest.mark.parametrize("start", [0, 16, IN_JAIL])
def test_visits_are_what_turns_of_rolls_come_to(start: int) -> None:
    dice, turns = random.Random(start), 20_000
    counts = dict.fromkeys(GROUPS, 0)
    for _ in range(turns):
        position, doubles, seen = start, 0, set()
        while True:
            row = transitions("leave")[position, doubles]
            position, doubles = dice.choices(list(row), list(row.values()))[0]
            seen.add(SPACES[position].group if position != IN_JAIL else "")
            if not doubles:
                break
        for group in seen - {""}:
            counts[group] += 1
    for group, chance in visits(start).items():
        assert counts[group] / turns == pytest.approx(chance, abs=0.015), group


def test_of_several_opponents_one_is_enough() -> None:
    one, other = (visits(start)["orange"] for start in (10, 5))
    assert any_visit("orange", [10, 5]) == pytest.approx(one + other - one * other)
    assert any_visit("orange", []) == 0


@pytest.mark.parametrize(
    ("hands", "seat", "start", "worst"),
    [
        pytest.param({"B": "37 39"}, 0, 30, (100, 39), id="a bare lot of a whole group costs double"),
        pytest.param({"B": "37 39m"}, 0, 30, (70, 37), id="a mortgaged one costs nothing"),
        pytest.param({"B": "37 39"}, 1, 30, (0, 0), id="what is one's own costs nothing"),
        pytest.param({"B": "39:H 37:H"}, 0, 0, (2000, 39), id="Chance may send a token to Boardwalk"),
        pytest.param({"B": "5 15 25 35"}, 0, 0, (400, 15), id="and to the next railroad, for twice the rent"),
        pytest.param({"B": "12"}, 0, 5, (120, 12), id="and to the next utility, for ten times a throw"),
        pytest.param({"B": "16"}, 0, IN_JAIL, (14, 16), id="out of jail a token starts at its visitors'"),
    ],
)
def test_the_highest_rent_that_a_roll_may_cost(
    hands: dict[str, str], seat: int, start: int, worst: tuple[int, int]
) -> None:
    assert worst_rent(Game(**hands).state.estate, seat, start) == worst


def test_the_board_tells_chances_of_the_opponents_and_the_danger_of_ones_own_roll() -> None:
    view = board()
    lines = state_lines(view, 1, 200)
    starts = [IN_JAIL if seat.jailed else seat.position for seat in view.seats if seat.id != "Professor"]
    assert any(line.startswith(f"- red ({any_visit('red', starts):.0%}): ") for line in lines)
    assert "Highest rent that your next roll can cost: $300, on 24 Illinois Avenue." in lines
