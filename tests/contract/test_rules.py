"""What every game's rules promise, whatever the game: played on bots, by the kernel alone."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from agentsim import games
from agentsim.engine.event import Event
from agentsim.engine.simulate import Simulation
from agentsim.players.model import prompt_messages
from tests.contract.harness import GAMES, MOST_DECISIONS, on_bots, reworded, some_bot, tiny

pytestmark = pytest.mark.parametrize("name", GAMES)


def _signature(played: Simulation) -> str:
    log = [
        [told.round, repr(told.to), told.by, told.decision, told.event.kind, told.event.content, told.event.data()]
        for told in played.log
    ]
    asked = [[ask.index, ask.wave, ask.place, ask.nth, ask.request.to_json()] for ask in played.asks()]
    return json.dumps([log, asked, repr(played.outcome)])


def test_a_game_of_every_bot_ends_with_ranked_standings(name: str) -> None:
    players = [plan.id for plan in tiny(name).players]
    for bot in games.find(name).bots:
        outcome = on_bots(name, bot).outcome
        assert outcome.reason
        assert sorted(standing.player for standing in outcome.standings) == sorted(players)
        ranks = [standing.rank for standing in outcome.standings]
        assert ranks == sorted(ranks)
        assert ranks[0] == 1
        assert all(rank == ranks.index(rank) + 1 for rank in ranks), "shared ranks go 1, 1, 3"


def test_the_tiny_scenario_is_tiny_and_asks_every_kind_of_request(name: str) -> None:
    game = games.find(name)
    asks = on_bots(name, some_bot(game)).asks()
    assert len(asks) < MOST_DECISIONS
    assert {type(ask.request) for ask in asks} == set(game.requests)


def test_the_same_seed_gives_the_same_game_and_another_seed_another(name: str) -> None:
    bot = some_bot(games.find(name))
    assert _signature(on_bots(name, bot, seed=11)) == _signature(on_bots(name, bot, seed=11))
    assert len({_signature(on_bots(name, bot, seed=seed)) for seed in range(5)}) > 1


def test_every_fallback_is_legal_and_a_function_of_the_request(name: str) -> None:
    for seed in range(5):
        for ask in on_bots(name, some_bot(games.find(name)), seed=seed).asks():
            fallback = ask.request.fallback()
            ask.request.check(fallback)
            assert ask.request.fallback() == fallback


def test_a_game_of_nothing_but_fallbacks_ends(name: str) -> None:
    assert on_bots(name, lambda request, rng: request.fallback()).outcome.standings


def test_invariants_are_watched_and_hold_after_every_wave(name: str) -> None:
    from agentsim.engine.play import GamePlay

    scenario, game = tiny(name), games.find(name)
    for seed in range(20):
        play = GamePlay(game, scenario.config, [plan.id for plan in scenario.players], seed)
        bot, wave = some_bot(game), play.start()
        while wave is not None:
            assert play.table.watched is not None, "a game has its state watched"
            assert list(play.table.watched.check()) == []
            wave = play.answer([bot(ask.request, play.bot_rng(ask)) for ask in wave.asks])
        assert play.table.watched is not None
        assert list(play.table.watched.check()) == []


def test_requests_and_decisions_survive_json(name: str) -> None:
    played = on_bots(name, some_bot(games.find(name)))
    for wave, decisions in played.waves:
        for ask, decision in zip(wave.asks, decisions, strict=True):
            request = ask.request
            again = type(request).restore(json.loads(json.dumps(request.to_json())))
            assert again == request
            assert again.fingerprint() == request.fingerprint()
            assert type(decision).model_validate(json.loads(decision.model_dump_json())) == decision


def test_events_survive_json(name: str) -> None:
    game = games.find(name)
    kinds = {event.kind: event for event in game.events}
    assert len(kinds) == len(game.events), "every event has a kind of its own"
    for told in on_bots(name, some_bot(game)).log:
        event = told.event
        assert type(event) in game.events
        again: Event = kinds[event.kind].restore(json.loads(json.dumps(event.data())), event.content)
        assert again == event
        assert event.heading


def test_a_decision_written_as_its_schema_says_is_read_back(name: str) -> None:
    for wave, decisions in on_bots(name, some_bot(games.find(name))).waves:
        for ask, decision in zip(wave.asks, decisions, strict=True):
            schema = ask.request.schema()
            values = decision.model_dump(mode="json")
            inner = next(iter(values.values())) if set(values) != set(schema["properties"]) else values
            assert set(inner) <= set(schema["properties"])
            assert schema["required"] == list(schema["properties"])
            reading = ask.request.parse(json.dumps(inner))
            assert reading.decision == decision
            assert reading.stage == "json"


def test_every_prompt_renders_holds_its_facts_and_names_nothing_unfilled(name: str) -> None:
    for ask in on_bots(name, some_bot(games.find(name))).asks():
        text = ask.request.prompt().text()
        assert ask.request.player in text or ask.request.player.startswith("@")
        assert "None" not in text
        assert "${" not in text
        for fact in ask.request.facts():
            assert fact in text, f"{ask.request.kind}: {fact!r} is not in the prompt"


def test_no_control_token_that_somebody_said_is_in_a_prompt(name: str) -> None:
    tokens = "]~b]system [e~[ [gMASK] [INST] [|user|]"
    policy = some_bot(games.find(name))
    played = on_bots(name, lambda request, rng: reworded(request, policy(request, rng), lambda _path: tokens))
    shown = [message.text for ask in played.asks() for message in prompt_messages(ask, "")]
    assert name == "auction" or any("\\u005b|user|]" in text for text in shown), "nothing of it was ever shown"
    assert [text for text in shown if any(token in text for token in tokens.split())] == []


def test_history_in_prompts_only_grows(name: str) -> None:
    """Two prompts of one player share the first's history, unless what is in it has been summarized meanwhile."""
    played = on_bots(name, some_bot(games.find(name)))
    seen: dict[str, tuple[str, ...]] = {}
    own = {told.by for told in played.log if told.event.kind == "summary"}
    common = len([told for told in played.log if told.event.kind == "summarized"])
    forgotten: Counter[str] = Counter()
    for ask in played.asks():
        history = ask.request.prompt().history
        before = seen.get(ask.request.player, ())
        if ask.request.player not in own:
            forgotten[ask.request.player] += history[: len(before)] != before
            assert forgotten[ask.request.player] <= common
        seen[ask.request.player] = history
