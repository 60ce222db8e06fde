"""The faults of `benchmarks/faults.py` are in the games that there are, and what finds some of them."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import agentsim
from benchmarks.faults import Fault, listed, look_for
from tests.amounts import each_row

PACKAGE = Path(agentsim.__file__).parent
FAULTS = {(fault.game, fault.name): fault for fault in listed()}


@each_row("fault", FAULTS.values())
def test_every_fault_can_be_put_into_its_game(fault: Fault) -> None:
    for path, text in fault.edited(PACKAGE).items():
        ast.parse(text)
        assert text != path.read_text(encoding="utf-8")


def test_there_are_fifteen_faults_of_werewolf_and_sixteen_of_the_other_games() -> None:
    assert len(listed()) == len(FAULTS)
    assert Counter(game == "werewolf" for game, _ in FAULTS) == {True: 15, False: 16}


def test_a_fault_whose_text_is_gone_is_an_error() -> None:
    fault = FAULTS["auction", "one iteration more"]
    gone = replace(fault, edits=(replace(fault.edits[0], old="iteration < config.turns"),))
    with pytest.raises(ValueError, match=r"game\.py has 'iteration < config.turns' 0 times"):
        gone.edited(PACKAGE)


@pytest.mark.parametrize(
    ("game", "name", "by"),
    [
        pytest.param("werewolf", "the doctor's rule dropped", "invariants_hold", marks=pytest.mark.slow),
        pytest.param("werewolf", "iteration over a set", "same_process", marks=pytest.mark.slow),
        pytest.param("auction", "one iteration more", "warnings_true", marks=pytest.mark.slow),
        pytest.param("society", "a status that is counted twice", "games_end", marks=pytest.mark.slow),
    ],
)
def test_a_fault_is_found_by_the_check_that_is_for_it(game: str, name: str, by: str) -> None:
    found = look_for(FAULTS[game, name], seeds=8)
    assert by in found.by
    assert not found.refused


def test_what_is_private_is_refused_by_the_kernel() -> None:
    found = look_for(FAULTS["werewolf", "the night's vote told to all"], seeds=1)
    assert found.refused
    assert found.how == "refused by the kernel"
