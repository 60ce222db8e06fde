"""An account of its own, from what was told alone, comes to the deaths, the end and the standings of a game."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from agentsim.engine.game import Outcome
from agentsim.engine.simulate import Simulation, simulate
from agentsim.games.werewolf import GAME
from agentsim.games.werewolf.state import NOBODY
from agentsim.games.werewolf.words import Dealt, Died, Inspected, Protected, Said, Unmasked, Voted

ROLES = {"werewolf", "seer", "doctor", "villager"}
PLAYERS = ["A", "B", "C", "D", "E", "F", "G", "H"]


class Account:
    """Who has which role and lives, by the rules as players read them and by no code of the game."""

    def __init__(self) -> None:
        self.roles: dict[str, str] = {}
        self.dead: set[str] = set()
        self.votes: dict[str, str] = {}
        self.safe = ""
        self.protected_before = ""

    @property
    def alive(self) -> set[str]:
        return self.roles.keys() - self.dead

    @property
    def pack(self) -> set[str]:
        return {player for player in self.alive if self.roles[player] == "werewolf"}

    def won(self) -> str | None:
        if not self.pack:
            return "village"
        return "werewolves" if len(self.pack) >= len(self.alive - self.pack) else None

    def hear(self, event: Any) -> None:
        match event:
            case Dealt():
                self.roles[event.player] = event.role
            case Said() if event.pack is None:
                assert event.speaker in self.alive
            case Said():
                assert event.speaker in self.pack == set(event.pack or ())
            case Inspected():
                assert self.roles[event.seer] == "seer"
                assert event.seer in self.alive
                assert event.werewolf == (self.roles[event.target] == "werewolf")
            case Protected():
                assert self.roles[event.doctor] == "doctor"
                assert event.doctor in self.alive
                assert event.target == NOBODY or event.target != self.protected_before
                self.safe = event.target
            case Voted():
                assert event.votes.keys() == (self.pack if event.at == "night" else self.alive)
                assert {target for target in event.votes.values() if target != NOBODY} <= self.alive
                self.votes = event.votes
            case Died():
                self.bury(event)
            case Unmasked():
                assert event.roles == self.roles
                assert event.winners == self.won()

    def bury(self, died: Died) -> None:
        """Check a death against the votes before it: by day the one with the most, by night one of those."""
        assert self.won() is None, "the game goes on though a team has won"
        count = Counter(target for target in self.votes.values() if target != NOBODY)
        most = {target for target, votes in count.items() if votes == max(count.values())}
        if died.at == "day":
            assert died.victim == (next(iter(most)) if len(most) == 1 else None)
        elif died.victim is None:
            assert not most or self.safe in most
        else:
            assert died.victim in most - {self.safe}
            assert self.roles[died.victim] != "werewolf"
        if died.victim is not None:
            assert died.role in {self.roles[died.victim], None}
            self.dead.add(died.victim)
        if died.at == "night":
            self.protected_before, self.safe = self.safe, ""
        self.votes = {}


def told(played: Simulation) -> Account:
    account = Account()
    for entry in played.log:
        account.hear(entry.event)
    return account


@pytest.mark.parametrize("bot", ["random", "candid"])
@pytest.mark.parametrize("seed", range(12))
def test_what_was_told_accounts_for_every_death_and_for_the_end(bot: str, seed: int) -> None:
    played = simulate(GAME, {"max_days": 6, "werewolves": 2}, PLAYERS, bot=bot, seed=seed)
    account = told(played)
    outcome = played.outcome
    assert isinstance(outcome, Outcome)
    won = {"village": ROLES - {"werewolf"}, "werewolves": {"werewolf"}}.get(account.won() or "", set())
    expected = {p: (int(account.roles[p] in won), int(p in account.alive)) for p in PLAYERS}
    assert {each.player: (each.score["won"], each.score["survived"]) for each in outcome.standings} == expected
    assert account.dead, "or nothing was accounted for"


def test_the_account_disagrees_with_a_death_that_the_votes_do_not_bring_about() -> None:
    played = simulate(GAME, {"max_days": 6, "werewolves": 2}, PLAYERS, bot="candid", seed=1)
    account, forged = Account(), 0
    for entry in played.log:
        event = entry.event
        if isinstance(event, Died) and event.at == "day" and event.victim and not forged:
            forged += 1
            event = replace(event, victim=min(account.alive - {event.victim}), role=None)
            with pytest.raises(AssertionError):
                account.hear(event)
            break
        account.hear(event)
    assert forged
