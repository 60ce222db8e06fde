"""Replay: the game worked out from events alone is the game that was played."""

from __future__ import annotations

import pytest

from agentsim.engine.play import GamePlay
from agentsim.games.monopoly import GAME
from agentsim.games.monopoly.match import GameBegan, GameEnded, Rolled
from agentsim.games.monopoly.question import MonopolyRequest
from agentsim.games.monopoly.replay import Replay, began, snapshots
from agentsim.games.monopoly.state import BANK
from tests.games.monopoly.logs import heard_by, log_of, played, rolls


@pytest.mark.parametrize("seed", [1, 2])
def test_before_every_decision_of_random_play_the_replay_is_the_view(seed: int) -> None:
    play = GamePlay(GAME, GAME.config.from_toml({"max_turns": 200}), list("ABCD"), seed)
    policy, wave, seen, checked = GAME.bots["random"], play.start(), 0, 0
    game: Replay | None = None
    while wave is not None:
        for told in play.log[seen:]:
            if isinstance(told.event, GameBegan):
                game = Replay.begin(told.event)
            else:
                assert game is not None
                game.apply(told.event)
        seen = len(play.log)
        for ask in wave.asks:
            assert game is not None
            assert isinstance(ask.request, MonopolyRequest)
            view = ask.request.view
            assert game.cash == {seat.id: seat.cash for seat in view.seats}
            assert game.bankrupt == {seat.id for seat in view.seats if seat.bankrupt}
            assert game.jailed == {seat.id for seat in view.seats if seat.jailed}
            assert game.cards == {seat.id: len(seat.cards) for seat in view.seats}
            standing = {seat.id: seat.position for seat in view.seats if not seat.bankrupt}
            assert {player: game.positions[player] for player in standing} == standing
            estate = game.estate
            assert (tuple(estate.owner), tuple(estate.houses)) == (view.owner, view.houses)
            assert tuple(estate.mortgaged) == view.mortgaged
            checked += 1
        wave = play.answer([policy(ask.request, play.bot_rng(ask)) for ask in wave.asks])
    assert checked > 500


@pytest.mark.parametrize("bot", ["random", "shark"])
def test_the_last_snapshot_is_what_the_end_says(bot: str) -> None:
    log = played(300, bot)
    last = snapshots(log)[-1]
    (ended,) = [told.event for told in log if isinstance(told.event, GameEnded)]
    assert last.turn == ended.turns
    for number, player in enumerate("ABCD"):
        (result,) = [result for result in ended.results if result.player == player]
        found = (last.worth(player), last.cash[player], len(last.estate.held(number)))
        assert found == (result.net_worth, result.cash, result.deeds)


def test_every_turn_has_its_snapshot_and_its_player_is_the_one_who_rolls() -> None:
    log = played(300)
    turns = snapshots(log)
    assert [turn.turn for turn in turns] == list(range(turns[-1].turn + 1))
    for turn in turns[1:]:
        rollers = {event.player for event in turn.events if isinstance(event, Rolled)}
        assert rollers <= {turn.active}


def test_what_one_player_heard_gives_the_same() -> None:
    log = played()
    for mine, whole in zip(snapshots(heard_by(log, "B")), snapshots(log), strict=True):
        assert (mine.cash, mine.positions, mine.estate.owner) == (whole.cash, whole.positions, whole.estate.owner)


def test_before_the_beginning_there_is_nothing_and_then_the_set_up() -> None:
    assert began([]) is None
    assert snapshots([]) == []
    assert snapshots(log_of([*rolls("A", 1, 2, 3)])[1:]) == []
    (start,) = snapshots(log_of())
    assert (start.turn, start.active, start.cash["C"], start.estate.owner[1]) == (0, None, 1500, BANK)


def test_a_snapshot_stays_as_it_was() -> None:
    first, second = snapshots(log_of([*rolls("A", 1, 2, 3)]))
    assert (first.positions["A"], second.positions["A"]) == (0, 3)
