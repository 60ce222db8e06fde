"""No leak between players: what one may not see never changes what another is asked."""

from __future__ import annotations

import json

import pytest

from agentsim import games
from agentsim.engine.request import Request
from tests.contract.harness import GAMES, free_texts, marker_of, marking, on_bots, some_bot, tiny

pytestmark = pytest.mark.parametrize("name", GAMES)


def _asked(request: Request[object]) -> str:
    return json.dumps([request.to_json(), request.prompt().text()], ensure_ascii=False)


def test_no_request_holds_words_that_its_player_did_not_hear(name: str) -> None:
    """Every free text is a marker; a player's requests hold the markers of its own and of what it heard."""
    played = on_bots(name, marking(some_bot(games.find(name))))
    audience: dict[str, set[str]] = {}
    for wave, decisions in played.waves:
        for ask, decision in zip(wave.asks, decisions, strict=True):
            if free_texts(ask.request, decision):
                marker = marker_of(ask.request.player, ask.request.kind, ask.nth)
                audience[marker] = {ask.request.player}
    assert audience, "a game without any words would prove nothing here"
    for told in played.log:
        for marker, heard in audience.items():
            if marker in told.event.content or marker in json.dumps(told.event.data()):
                heard.update(plan.id for plan in tiny(name).players if told.heard_by(plan.id))
    private = 0
    for ask in played.asks():
        text = _asked(ask.request)
        for marker, heard in audience.items():
            if ask.request.player not in heard:
                private += 1
                assert marker not in text, f"{ask.request.player} was shown {marker}"
    assert private


def test_changing_what_a_player_may_not_see_changes_none_of_its_requests(name: str) -> None:
    """Noninterference: another's private words are replaced, and every request of the rest is the same."""
    policy = some_bot(games.find(name))
    plain = on_bots(name, marking(policy))
    players = [plan.id for plan in tiny(name).players]
    changed_any = False
    for wave, decisions in plain.waves:
        for ask, decision in zip(wave.asks, decisions, strict=True):
            if not free_texts(ask.request, decision):
                continue
            who, kind, nth = ask.request.player, ask.request.kind, ask.nth
            marker = marker_of(who, kind, nth)
            heard = {who} | {
                player
                for told in plain.log
                if marker in told.event.content or marker in json.dumps(told.event.data())
                for player in players
                if told.heard_by(player)
            }
            if heard == set(players):
                continue
            changed_any = True
            other = on_bots(
                name,
                marking(policy, lambda r, n, who=who, kind=kind, nth=nth: (r.player, r.kind, n) == (who, kind, nth)),  # type: ignore[misc] # the defaults bind this turn's values
            )
            for player in players:
                if player not in heard:
                    one = [_asked(entry.request) for entry in plain.asks(player)]
                    two = [_asked(entry.request) for entry in other.asks(player)]
                    assert one == two, f"{player} can tell what {who} said in {kind} {nth}"
    assert changed_any


def test_a_planted_leak_is_found(name: str) -> None:
    """The test above can fail: with everybody hearing everything, it does."""
    from agentsim.engine.event import Everyone
    from agentsim.engine.table import Table

    original = Table.tell
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Table, "tell", lambda self, event, *, to, by=None: original(self, event, to=Everyone, by=by))
        played = on_bots(name, marking(some_bot(games.find(name))))
    quiet = [told for told in on_bots(name, marking(some_bot(games.find(name)))).log if isinstance(told.to, tuple)]
    assert quiet
    leaked = 0
    for told in quiet:
        words = [w for w in (told.event.content, json.dumps(told.event.data())) if "xq" in w]
        for player in (plan.id for plan in tiny(name).players):
            if words and not told.heard_by(player):
                start = words[0].index("xq")
                marker = words[0][start : words[0].index("q", words[0].index("q", words[0].index("q", start + 2) + 1) + 1)]
                leaked += any(marker in _asked(ask.request) for ask in played.asks(player))
    assert leaked
