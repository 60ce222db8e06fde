"""No leak between players: what one may not see never changes what another is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from agentsim import games
from agentsim.engine.event import Everyone, LogEntry
from agentsim.engine.prompt import Prompt
from agentsim.engine.request import Request
from agentsim.engine.simulate import Simulation
from agentsim.engine.table import Table
from tests.contract.harness import GAMES, free_texts, marker_of, marking, on_bots, some_bot, tiny

pytestmark = pytest.mark.parametrize("name", GAMES)


def asked(request: Request[Any]) -> str:
    return json.dumps([request.to_json(), request.prompt().text()], ensure_ascii=False)


def audiences(name: str, played: Simulation) -> dict[str, set[str]]:
    """Who wrote or heard each marker, by marker."""
    heard: dict[str, set[str]] = {}
    scenario = tiny(name)
    readers = [*(plan.id for plan in scenario.players), *(f"@{role}" for role in scenario.staff)]
    for wave, decisions in played.waves:
        for ask, decision in zip(wave.asks, decisions, strict=True):
            for path in free_texts(ask.request, decision):
                heard[marker_of(ask.request.player, ask.request.kind, ask.nth, path)] = {ask.request.player}
    for told in played.log:
        for marker, players in heard.items():
            if marker in _words(told):
                players.update(reader for reader in readers if told.heard_by(reader))
    return heard


def _words(told: LogEntry) -> str:
    return json.dumps([told.event.heading, told.event.content, told.event.data()], ensure_ascii=False)


def leaks(heard: Mapping[str, set[str]], played: Simulation) -> list[str]:
    """Every request that holds a marker which its player neither wrote nor heard."""
    return [
        f"{ask.request.player} was shown {marker} in {ask.request.kind} {ask.nth}"
        for ask in played.asks()
        for marker, players in heard.items()
        if ask.request.player not in players and marker in asked(ask.request)
    ]


def test_no_request_holds_words_that_its_player_did_not_hear(name: str) -> None:
    played = on_bots(name, marking(some_bot(games.find(name))))
    heard = audiences(name, played)
    everybody = {plan.id for plan in tiny(name).players}
    assert any(players < everybody for players in heard.values()), "a game without secrets would prove nothing here"
    assert leaks(heard, played) == []


def test_a_planted_leak_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: where everything is told to everybody and what was told is shown, it does."""
    game = games.find(name)
    heard = audiences(name, on_bots(name, marking(some_bot(game))))
    tell, ask_all = Table.tell, Table.ask_all
    monkeypatch.setattr(Table, "tell", lambda self, event, *, to, by=None: tell(self, event, to=Everyone, by=by))
    shown: dict[str, list[str]] = {}

    async def noting(self: Table, requests: Any) -> Any:
        for request in requests:
            shown.setdefault(request.player, []).extend(_words(told) for told in self.heard(request.player))
        return await ask_all(self, requests)

    monkeypatch.setattr(Table, "ask_all", noting)
    played = on_bots(name, marking(some_bot(game)))
    for ask in played.asks():  # a game may show the state alone: this one shows what was heard as well
        object.__setattr__(ask.request, "prompt", lambda words=shown[ask.request.player]: Prompt((), (), (), words))
    assert leaks(heard, played)


def test_changing_what_a_player_may_not_see_changes_none_of_its_requests(name: str) -> None:
    """Noninterference: somebody's private words are replaced; who did not hear them is asked the very same."""
    policy = some_bot(games.find(name))
    plain = on_bots(name, marking(policy))
    heard = audiences(name, plain)
    everybody = {plan.id for plan in tiny(name).players}
    changed = 0
    for wave, decisions in plain.waves:
        for ask, decision in zip(wave.asks, decisions, strict=True):
            who, kind, nth = ask.request.player, ask.request.kind, ask.nth
            for path in free_texts(ask.request, decision):
                outside = everybody - heard.get(marker_of(who, kind, nth, path), everybody)
                if not outside:
                    continue
                other = on_bots(name, marking(policy, _only(who, kind, nth, path)))
                changed += asked_of(other, who) != asked_of(plain, who) or other.log != plain.log
                for player in outside:
                    assert asked_of(other, player) == asked_of(plain, player), (
                        f"{player} can tell what {who} said: {path} of {kind} {nth}"
                    )
    assert changed, "nothing was ever changed: this proved nothing"


def asked_of(played: Simulation, player: str) -> list[str]:
    return [asked(ask.request) for ask in played.asks(player)]


def _only(who: str, kind: str, nth: int, path: str) -> Any:
    return lambda request, number: path if (request.player, request.kind, number) == (who, kind, nth) else None
