"""Each game in progress on a terminal of 80 and of 120 columns, as golden text; `python -m tests.cli.test_in_progress`.

The game is real and so is the display; the calls, their cost and one fallback are made up, and times are masked.
"""

from __future__ import annotations

import re
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.live import Live

from agentsim.engine.play import GamePlay
from agentsim.games import find
from agentsim.history.fold import Totals
from agentsim.runner.admission import Budget
from agentsim.runner.plays import new_play
from agentsim.scenario import load
from tests.cli.command_line import ROOT
from tests.cli.test_display import Terminal, rich_on
from tests.cli.vt import Screen

GOLDEN = Path(__file__).parent / "golden"
GAMES = {
    "agent_island": ("agent_island_bots", 12),
    "auction": ("auction", 9),
    "monopoly": ("monopoly_bots", 150),
    "society": ("society_bots", 9),
    "market": ("market_bots", 30),
    "werewolf": ("werewolf_bots", 20),
}
"""The config of each game, and the wave that is being decided when the picture is taken."""
MODELS = ("lab/echo", "openrouter/openai/gpt-5-mini")
_ABOVE = 8  # rows above the panel that are kept


def played(config: str, waves: int, display: Any) -> GamePlay:
    """The game up to a wave, on its bots, shown to the display as a run shows it."""
    scenario = load(ROOT / "configs" / f"{config}.toml", seed=7)
    game = find(scenario.game)
    play = new_play(scenario, game)
    bots = {plan.id: game.bots[plan.name.rest] for plan in scenario.players}
    display.began("run-1", game.title, play.table.players)
    display.seated({player: MODELS[place % 2] for place, player in enumerate(play.table.players)})
    wave, told = play.start(), 0
    while wave is not None:
        display.stands(play.table.progress)
        display.told(play.log[told:])
        told = len(play.log)
        display._look_at = 0.0
        display.wave(wave, play.table.rounds[-1])
        if wave.number == waves:
            break
        wave = play.answer([bots[ask.request.player](ask.request, play.bot_rng(ask)) for ask in wave.asks])
    assert wave is not None, "the game is over by then"
    for ask in wave.asks[:2]:
        display.calling(ask)
    return play


def picture(game: str, width: int, **env: str) -> str:
    """What stands on the screen while the game is played."""
    config, waves = GAMES[game]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"TERM": "xterm-256color", "COLUMNS": str(width), "LINES": "40", **env}.items():
            patch.setenv(name, value)
        patch.setattr("agentsim.cli.panels.Live", partial(Live, auto_refresh=False))  # no clock draws in between
        stream = Terminal()
        display = rich_on(stream)
        budget = Budget(max_cost_usd=2.0)
        budget.reserved_usd = 0.05
        display.budgeted(budget)
        play = played(config, waves, display)
        totals = Totals()
        totals.calls, totals.prompt_tokens, totals.completion_tokens, totals.cost_usd = 34, 56_789, 1_234, 0.1234
        display.counted(totals)
        first, second = play.table.players[:2]
        for player, source in ((first, "model"), (first, "fallback"), (second, "model")):
            made = {"player": player, "source": source, "kind": "act", "tries": (), "fallback_reason": "unreadable"}
            display.decided(cast("Any", SimpleNamespace(**made)))
        display._first = display._first and (time.monotonic(), display._first[1])
        display.person(asked=True)  # drawn by the next line, and not by the clock
        display.person(asked=False)
        text = Screen(width).feed(stream.getvalue()).text()
        display.close()
    panel = text.rindex("──", 0, text.rindex(" run-1 "))
    start = text.rindex("\n", 0, panel)
    above = [row for row in text[:start].splitlines() if not row.startswith("──")]  # an older panel, half drawn over
    rows = [*above[-_ABOVE:], *text[start + 1 :].splitlines()]
    masked = re.sub(r"\b\d+:\d\d\b", "M:SS", "\n".join(rows))
    return re.sub("[⠀-⣿]", "*", masked) + "\n"


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("game", GAMES)
def test_a_game_in_progress_looks_like_this(game: str, width: int) -> None:
    golden = GOLDEN / f"{game}_{width}.txt"
    assert picture(game, width) == golden.read_text(encoding="utf-8"), "python -m tests.cli.test_in_progress makes it"


def test_without_colour_the_words_are_the_same() -> None:
    assert picture("monopoly", 80, NO_COLOR="1") == (GOLDEN / "monopoly_80.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name in GAMES:
        for columns in (80, 120):
            (GOLDEN / f"{name}_{columns}.txt").write_text(picture(name, columns), encoding="utf-8")
