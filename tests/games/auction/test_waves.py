"""All teams of an iteration are asked at the same moment: one wave, one latency, whatever their number."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from agentsim.scenario.load import load
from tests.fakes.server import FakeServer
from tests.games.auction.auction import play, waves_of
from tests.playing import play_scenario

ITEMS = 3
LATENCY_S = 0.1


def _scenario(url: str, folder: Path, teams: int) -> Path:
    """Every team bids 10 whatever it is shown, so an item takes two iterations: one bid counts, then none does."""
    path = folder / "waves.toml"
    lots = ", ".join(f'{{ Name = "Item {lot}", Quality = 5, IsRequired = true }}' for lot in range(ITEMS))
    path.write_text(
        f'game = "auction"\nseed = 1\n[defaults]\nmodel = "fake/echo"\n[providers.fake]\nbase_url = "{url}"\n'
        f'[game_config]\nitems = {{ scenario = "waves", items = [{lots}] }}\n'
        f'[[players]]\nid = "team"\ncount = {teams}\n',
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(("teams", "in_flight"), [(6, 6), (20, 16)], ids=["six", "more than fit"])
def test_an_iteration_is_one_wave_of_calls_at_once(teams: int, in_flight: int, tmp_path: Path) -> None:
    """Twenty do not fit into `limits.concurrency`, which is 16: the last four wait for the first who are ready."""
    arrivals: list[tuple[float, int]] = []  # when, and how many were in flight then, itself included

    def latency(_body: Any) -> float:
        arrivals.append((time.monotonic(), server.in_flight))
        return LATENCY_S

    def ten(_body: Any) -> str:
        return json.dumps({"bid": 10, "reasoning": ""})

    with FakeServer(ten, latency_s=latency).in_thread() as server:
        result = play_scenario(load(_scenario(server.url(), tmp_path, teams)), tmp_path, env={})
        assert result.status == "completed", result.error
        assert server.most_in_flight == in_flight
    waves = 2 * ITEMS
    asked = [decision["player"] for decision in result.history["decisions"]]
    assert len(arrivals) == len(asked) == waves * teams
    for wave in range(waves):
        assert len(set(asked[wave * teams : (wave + 1) * teams])) == teams, "each team once in each wave"
        if in_flight == teams and wave:
            pause = arrivals[wave * teams][0] - arrivals[wave * teams - 1][0]
            assert pause >= LATENCY_S * 0.9, "a wave is asked once the one before is answered"
    alone = sum(in_flight == 1 for _, in_flight in arrivals)
    assert waves <= alone < waves * teams / 2, "one after another, all would be alone; a busy machine may delay a few"


def test_iterations_are_the_only_waves() -> None:
    played = play("Compass 60, Kettle -5", {team: [] for team in "ABCDEF"} | {"C": [10]})
    assert waves_of(played) == ["ABCDEF"] * 3
