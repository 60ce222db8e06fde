"""Game: ranks, the winner, and the table in which a game is configured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agentsim.engine.chance import Stream
from agentsim.engine.game import (
    Bot,
    Game,
    GameConfig,
    Outcome,
    Standing,
    bots_of,
    ranked,
    typical_of,
)
from agentsim.engine.random_policy import random_decision
from agentsim.engine.request import Request
from agentsim.errors import ScenarioError
from tests.amounts import each_row


def _ranks(**keys: Any) -> dict[str, int | None]:
    return {standing.player: standing.rank for standing in ranked([(player, key, {}) for player, key in keys.items()])}


@each_row(
    "keys, expected",
    [
        ({"A": 1, "B": 3, "C": 2}, {"B": 1, "C": 2, "A": 3}),
        ({"A": 5, "B": 5, "C": 2}, {"A": 1, "B": 1, "C": 3}),
        ({"A": 1, "B": 2, "C": 1, "D": 0}, {"B": 1, "A": 2, "C": 2, "D": 4}),
        ({"A": 0, "B": 0, "C": 0}, {"A": 1, "B": 1, "C": 1}),
        ({"A": (True, 0), "B": (False, 9)}, {"A": 1, "B": 2}),
        ({}, {}),
    ],
)
def test_ranks_are_shared_as_in_a_race(keys: dict[str, Any], expected: dict[str, int]) -> None:
    assert _ranks(**keys) == expected
    assert list(_ranks(**keys)) == list(expected), "best first, equals in the order given"


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_a_rank_is_one_more_than_the_number_of_better_players(keys: list[int]) -> None:
    standings = ranked([(str(index), key, {"points": key}) for index, key in enumerate(keys)])
    for standing in standings:
        mine = keys[int(standing.player)]
        assert standing.rank == 1 + sum(key > mine for key in keys)
        assert standing.score == {"points": mine}


@pytest.mark.parametrize(
    ("ranks", "winner"), [((1, 2, 2), "A"), ((1, 1, 3), None), ((), None)], ids=["one", "shared", "nobody"]
)
def test_the_winner_is_the_only_first(ranks: tuple[int, ...], winner: str | None) -> None:
    standings = tuple(Standing(player, rank) for player, rank in zip("ABC", ranks, strict=False))
    assert Outcome("over", standings).winner == winner


class _Config(GameConfig):
    rounds: int = 3
    phases: tuple[str, ...] = ()
    rate: float = 0.5


def test_an_array_fills_a_tuple_and_a_whole_number_a_fraction() -> None:
    assert _Config.from_toml({"phases": ["a", "b"], "rate": 1}) == _Config(phases=("a", "b"), rate=1.0)


@each_row(
    "values",
    [{"rounds": "3"}, {"rounds": 3.5}, {"rounds": True}, {"round": 3}, {"rate": float("nan")}, {"rate": float("inf")}],
)
def test_a_table_that_does_not_fit_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        _Config.from_toml(values)


def answers(request: Request[Any], rng: Stream) -> Any:
    return request.fallback()


class Ruled(Game):
    async def play(self, table: Any, config: Any) -> Outcome:
        raise NotImplementedError


class Reserving(Ruled):
    title, reserved = "Small", frozenset({"Nobody"})
    bots: ClassVar[Mapping[str, Bot]] = {"own": answers}


class Dynamic(Ruled):
    @property
    def bots(self) -> Mapping[str, Bot]:  # type: ignore[override] # an author may compute them
        return {"made": answers}


class Botless(Ruled): ...


def test_a_reserved_name_is_reserved_in_any_case() -> None:
    for name in ("Nobody", "nobody", "NOBODY"):
        with pytest.raises(ScenarioError, match="no player can be called nobody"):
            Reserving().admit(None, [name])


@pytest.mark.parametrize(("game", "names"), [(Reserving, ["own"]), (Dynamic, ["made"]), (Botless, [])])
def test_every_game_has_a_random_bot_beside_its_own_which_come_first(game: Any, names: list[str]) -> None:
    assert list(bots_of(game())) == [*names, "random"]


def test_a_bot_that_is_added_later_is_a_bot_of_the_game() -> None:
    table: dict[str, Bot] = {"own": answers}

    class Late(Ruled):
        bots = table

    table["late"] = table["random"] = answers
    assert bots_of(Late()) == {"own": answers, "late": answers, "random": answers}


def test_a_games_first_bot_stands_for_models_where_none_is_typical() -> None:
    class Own(Ruled):
        bots: ClassVar[Mapping[str, Bot]] = {"first": lambda request, rng: request.fallback(), "random": answers}

    class Said(Reserving):
        typical = ("random",)

    class Unknown(Reserving):
        typical = ("nothing",)

    made: list[Any] = [Reserving, Dynamic, Own, Said, Unknown, Botless]
    expected = [[answers], [answers], [answers], [random_decision], [answers], [random_decision]]
    assert [typical_of(each()) for each in made] == expected
