"""Prompts are ordered for prefix caching: a player's next prompt begins with most of its last one.

The tests measure the characters of consecutive calls of a model player, in the shipped configs, with replies as long as
a forecast assumes. (In the tiny scenarios replies are so short that the question outweighs the history.) The least
share of each game is in `LEAST`.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentsim import games
from agentsim.engine.request import Ask
from agentsim.engine.survey import decided_by
from agentsim.models.base import prompt_messages
from agentsim.runs.forecast import alike, wordy
from agentsim.runs.game_in_progress import new_play
from agentsim.scenario.load import load
from tests.contract.harness import GAMES, tiny_path
from tests.fakes.server import FakeServer
from tests.runs.island import play

LEAST = {"agent_island": 0.8, "auction": 0.5, "market": 0.35, "monopoly": 0.12, "society": 0.04, "werewolf": 0.5}
"""The least part of the shorter of two consecutive prompts of a player that both begin with, by game.

In Society the forum turns over between two turns of an agent; there the shared prefix is that of all agents of one turn
(`tests/games/society/test_prompts.py`). In Market seven whole steps slide on with every turn; in experiments each has
the quotes of a round. In Monopoly ten turns of talk leave at once, and then little but the rules is as it was.
"""
MEDIAN = {**LEAST, "monopoly": 0.72, "werewolf": 0.8}
"""What the median of these parts exceeds."""

CONFIGS = sorted(Path(__file__).parents[2].joinpath("configs").glob("*.toml"))
MOST = 300
"""The number of prompts of a game that are measured: later ones are like those of its middle."""
FORGETTING = {"summary"}
"""The kinds of request that replace a player's history by a new memory."""


def _game(path: Path) -> str | None:
    text = path.read_text(encoding="utf-8")
    return next((name for name in GAMES if f'game = "{name}"' in text), None)


SCENARIOS = [(name, path) for name in GAMES for path in CONFIGS if _game(path) == name]
FIRST = dict(reversed(SCENARIOS))
"""The config of each game that is measured in every run; the others differ from it in numbers only."""


def _sent(ask: Ask, persona: str) -> str:
    return "".join(message.text for message in prompt_messages(ask.prompt(), persona))


def shares(path: Path, bot: str, seed: int = 1) -> Iterator[tuple[float, str]]:
    """Yield the shared part of each two consecutive prompts with one memory, and the kind of the later request."""
    scenario = replace(load(path), seed=seed)
    game = games.find(scenario.game)
    personas = {plan.id: plan.prompt or "" for plan in (*scenario.players, *scenario.staff.values())}
    game_play = new_play(scenario, game)
    last: dict[str, str] = {}
    wave = game_play.start()
    while wave is not None and wave.asks[0].index <= MOST:
        for ask in wave.asks:
            player = ask.request.player
            text, before = _sent(ask, personas[player]), last.get(player)
            if before is not None and not player.startswith("@"):  # each request to staff is about something new
                yield alike(before, text) / min(len(before), len(text)), ask.request.kind
            last[player] = text
            if ask.request.kind in FORGETTING:
                del last[player]
        wave = game_play.answer(
            [wordy(ask.request, decided_by(game.bots[bot], ask.request, game_play.bot_rng(ask))) for ask in wave.asks]
        )


def test_every_game_says_how_much_of_a_prompt_it_repeats() -> None:
    assert set(GAMES) <= set(LEAST), "measure the new game, and put its share into LEAST"
    assert {name for name, _ in SCENARIOS} == set(GAMES)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        pytest.param(name, path, id=f"{name}-{path.stem}", marks=() if path in FIRST.values() else pytest.mark.slow)
        for name, path in SCENARIOS
    ],
)
def test_consecutive_prompts_of_a_player_begin_alike(name: str, path: Path) -> None:
    for bot in games.find(name).bots:
        found = list(shares(path, bot))
        least, kind = min(found)
        assert least >= LEAST[name], f"{bot}: {least:.2f} of the prompt of {kind}"
        assert statistics.median(share for share, _ in found) > MEDIAN[name]


def test_what_is_measured_is_what_a_server_receives(tmp_path: Path) -> None:
    """Check the requests of a run of Agent Island as the server received them."""
    last: dict[str, str] = {}
    with FakeServer().in_thread() as server:
        play(server.url(), tmp_path, "limits.concurrency=1")
        received = [request.body["messages"] for request in server.received]
    for messages in received:
        text = "".join(message["content"] for message in messages)
        player = text.partition("You are player ")[2][0]
        before = last.get(player, text)
        assert alike(before, text) >= LEAST["agent_island"] * min(len(before), len(text))
        last[player] = text
    assert len(last) == 4


def test_a_prompt_that_begins_with_what_changes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the tests above can fail."""

    def worse(ask: Ask, persona: str) -> str:
        return f"Decision {ask.index}. {original(ask, persona)}"

    original: Any = _sent
    monkeypatch.setitem(globals(), "_sent", worse)
    assert min(shares(tiny_path("auction"), "random"))[0] < LEAST["auction"]
