"""No leak between players: an event that a player cannot see never changes its requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agentsim.engine.event import Event, Everyone
from agentsim.engine.table import Table
from agentsim.engine.wording import Prompt
from agentsim.errors import RulesBroken
from agentsim.testing.case import SampleGame, words_of
from agentsim.testing.privacy import audiences, marking, shown_to
from tests.amounts import amounts
from tests.contract.harness import GAMES, case
from tests.contract.test_rules import look

by_game = pytest.mark.parametrize("name", GAMES)


def leaks(heard: Mapping[str, set[str]], played: SampleGame) -> list[str]:
    """Return the requests that contain a marker which the player neither wrote nor heard."""
    return [
        f"{asked} and shown {marker}"
        for asked in played.asked
        for marker, players in heard.items()
        if asked.player not in players and marker in shown_to(asked)
    ]


@by_game
def test_no_request_holds_words_that_its_player_did_not_hear(name: str) -> None:
    played = case(name).play(marking(case(name).bot))
    heard = audiences(case(name), played)
    assert any(players < set(case(name).players) for players in heard.values()), "a game without secrets proves nothing"
    assert leaks(heard, played) == []


def test_a_planted_leak_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: it does if every event is told to all players and shown in prompts."""
    village = case("werewolf")
    policy = marking(village.bot)
    heard = audiences(village, village.play(marking(village.bot)))
    tell, ask_all = Table.tell, Table.ask_all
    monkeypatch.setattr(Event, "confidants", lambda *_: None)  # otherwise the table would reject the first one
    monkeypatch.setattr(Table, "tell", lambda self, event, *, to, by=None: tell(self, event, to=Everyone, by=by))
    shown: dict[str, list[str]] = {}

    async def noting(self: Table, requests: Any) -> Any:
        for request in requests:
            shown.setdefault(request.player, []).extend(words_of(told) for told in self.heard(request.player))
        return await ask_all(self, requests)

    monkeypatch.setattr(Table, "ask_all", noting)
    played = village.play(policy)
    for asked in played.asked:  # games may show the state alone; this one shows heard events too
        words = tuple(shown[asked.player])
        object.__setattr__(asked.ask.request, "prompt", lambda words=words: Prompt((), (), (), words))
    assert leaks(heard, played)


@by_game
def test_what_is_private_cannot_be_told_to_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tell = Table.tell
    monkeypatch.setattr(Table, "tell", lambda self, event, *, to, by=None: tell(self, event, to=Everyone, by=by))
    with pytest.raises(RulesBroken, match="is private, and is told to"):
        case(name).play(marking(case(name).bot))


@amounts("others", False, True)
@by_game
def test_changing_what_a_player_may_not_see_changes_none_of_its_requests(name: str, others: bool) -> None:
    """Noninterference: if a player's private texts change, players that did not hear them get the same requests."""
    looked_at = look(name, "private_words", others=others)  # it fails at any finding
    assert not looked_at.startswith("nothing"), "the game has private texts to change"
