"""Who sits where in a batch: what the squares promise, and what is said where they cannot."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.runs.batch.seating import Spread, balance, derived_seed, rows, williams
from tests.amounts import each_row


@each_row("size", range(1, 9))
def test_the_rows_of_a_square_are_latin(size: int) -> None:
    square = [williams(size, row) for row in range(size)]
    assert all(sorted(row) == list(range(size)) for row in square)
    assert all(sorted(column) == list(range(size)) for column in zip(*square, strict=True))


@each_row("size", range(2, 9))
def test_everyone_follows_everyone_else_equally_often(size: int) -> None:
    """One square of an even size does, of an odd size one and its mirror image."""
    blocks = 1 if size % 2 == 0 else 2
    square = [williams(size, row, block=block) for block in range(blocks) for row in range(size)]
    follows = Counter(pair for row in square for pair in pairwise(row))
    assert set(follows.values()) == {blocks}
    assert len(follows) == size * (size - 1)


@given(models=st.integers(1, 6), seats=st.integers(1, 8), blocks=st.integers(1, 4), rotate=st.booleans())
def test_whole_blocks_give_every_model_every_seat_and_position_equally_often(
    models: int, seats: int, blocks: int, rotate: bool
) -> None:
    plan = rows(models * blocks, seats, models, seed=1, rotate=rotate)
    by_what = {spread.what: spread for spread in balance(plan, seats, models)}
    assert by_what["each model in each seat"] == Spread("each model in each seat", blocks, blocks)
    assert by_what["each model at each place in the order of the table"].even


@pytest.mark.parametrize("seats", range(2, 7))
def test_rotating_alone_gives_every_seat_every_position(seats: int) -> None:
    (spread,) = balance(rows(seats, seats, 0, seed=1, rotate=True), seats, 0)
    assert spread == Spread("each player of the scenario at each place in the order of the table", 1, 1)


@pytest.mark.parametrize(("models", "seats"), [(2, 3), (3, 3), (3, 4)])
def test_models_and_rotation_together_balance_seats_over_positions_too(models: int, seats: int) -> None:
    plan = rows(models * seats, seats, models, seed=1, rotate=True)
    assert all(spread.least == spread.most for spread in balance(plan, seats, models) if "after" not in spread.what)


def test_where_the_games_are_no_whole_blocks_the_imbalance_is_told() -> None:
    by_what = {spread.what: spread for spread in balance(rows(7, 3, 3, seed=1), 3, 3)}
    assert by_what["each model in each seat"] == Spread("each model in each seat", 2, 3)
    assert by_what["each two models in one game"].even


def test_of_more_models_than_seats_all_meet() -> None:
    by_what = {spread.what: spread for spread in balance(rows(12, 2, 4, seed=1), 2, 4)}
    assert by_what["each two models in one game"] == Spread("each two models in one game", 2, 2)
    few = {spread.what: spread for spread in balance(rows(4, 2, 4, seed=1), 2, 4)}
    assert few["each two models in one game"].least == 0, "four games cannot bring six pairs together"


def test_seeds_are_each_games_own_and_the_same_for_ever() -> None:
    assert [derived_seed(1, number) for number in range(3)] == [derived_seed(1, number) for number in range(3)]
    seeds = {derived_seed(seed, number) for seed in range(20) for number in range(100)}
    assert len(seeds) == 2000
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert derived_seed(1, 0) == 1279843214, "a batch that is gone on with must find the seeds that it began with"


def test_paired_games_share_the_seed_of_their_block() -> None:
    plan = rows(6, 3, 3, seed=9, paired=True)
    assert [row.seed for row in plan] == [derived_seed(9, 0)] * 3 + [derived_seed(9, 1)] * 3
    assert len({row.models for row in plan[:3]}) == 3
    assert len({row.seed for row in rows(6, 3, 3, seed=9)}) == 6


def test_a_plan_does_not_depend_on_how_many_games_follow() -> None:
    assert rows(4, 5, 3, seed=2, rotate=True) == rows(9, 5, 3, seed=2, rotate=True)[:4]
