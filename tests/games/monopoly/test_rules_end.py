"""Rule 154 and around it: how a game ends, and who has won. Numbers are those of the reference list."""

from __future__ import annotations

from typing import Any

import pytest

from agentsim.engine.simulate import Answer, Simulation, simulate
from agentsim.errors import ScenarioError
from agentsim.games.monopoly import GAME
from agentsim.games.monopoly.match import GameEnded, Moved, Rolled
from tests.amounts import each_row
from tests.games.monopoly.answers import DECLINE, NO_TRADE, NOTHING, ROLL, bid
from tests.games.monopoly.table import Game


def quiet(players: str, dice: list[tuple[int, int]], **config: Any) -> Simulation:
    """A game in which nobody buys, bids or offers anything, with exactly these throws."""
    answers: dict[str, Answer] = {
        "buy_or_auction": DECLINE,
        "auction_bid": bid(0),
        "propose_trade": NO_TRADE,
        "manage_estate": NOTHING,
        "jail_action": ROLL,
    }
    played = simulate(
        GAME, {"max_turns": 1, **config}, players, answers, chance={"dice": [die for pair in dice for die in pair]}
    )
    assert [rolled.dice for rolled in played.events(Rolled)] == dice
    return played


def ranks(game: Game, *bankrupt_seats: int) -> dict[str, int | None]:
    return {standing.player: standing.rank for standing in game.state.standings(bankrupt_seats)}


def test_154_tie() -> None:
    assert ranks(Game("ABC", C="$1499")) == {"A": 1, "B": 1, "C": 3}
    assert ranks(Game("AB", A="$1440 3")) == {"A": 1, "B": 1}


@each_row(
    "hand, worth",
    [
        ("$10", 10),
        ("$0 39", 400),
        ("$0 39m", 200),
        ("$0 16:1 18:2 19:2", 560 + 500),
        ("$0 37:H 39:H", 750 + 2000),
        ("$0 chance", 0),
        ("out", 0),
    ],
)
def test_net_worth(hand: str, worth: int) -> None:
    game = Game(A=hand)
    assert game.state.worth(0) == worth


def test_the_fallen_rank_behind_everybody_the_last_to_fall_first() -> None:
    assert ranks(Game(A="out", C="out", D="$0"), 2, 0) == {"B": 1, "D": 2, "A": 3, "C": 4}


def test_the_cap_ends_the_game_after_so_many_turns_of_players() -> None:
    played = quiet("AB", [(4, 6), (4, 6), (4, 6)], max_turns=3)
    (ended,) = played.events(GameEnded)
    assert ended.turns == 3
    assert [moved.player for moved in played.events(Moved)] == ["A", "B", "A"]
    assert played.outcome.reason == "3 turns were played"
    assert {standing.rank for standing in played.outcome.standings} == {1}, "nothing happened: a tie"


def test_doubles_are_one_turn() -> None:
    played = quiet("AB", [(5, 5), (4, 6)])
    assert [rolled.player for rolled in played.events(Rolled)] == ["A", "A"]


def test_the_winner_at_the_cap_has_most() -> None:
    played = quiet("AB", [(1, 3), (4, 6)], max_turns=2)
    assert [(standing.player, standing.rank) for standing in played.outcome.standings] == [("B", 1), ("A", 2)]


@pytest.mark.parametrize("players", ["AB", "ABCDEFGH"])
def test_two_to_eight_players_move_in_order(players: str) -> None:
    count = len(players)
    played = quiet(players, [(4, 6)] * count + [(4, 6)], max_turns=count + 1)
    assert "".join(moved.player for moved in played.events(Moved)) == players + players[0]


@pytest.mark.parametrize("players", ["A", "ABCDEFGHI"])
def test_one_player_or_nine_are_refused(players: str) -> None:
    config: Any = GAME.config.from_toml({})
    with pytest.raises(ScenarioError, match="2 to 8"):
        GAME.admit(config, players)
