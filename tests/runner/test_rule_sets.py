"""Rule sets: a journal is played by the rules that wrote it, and a scenario by the newest or by those it names."""

from __future__ import annotations

import shutil
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import pytest
from typer.testing import CliRunner

from agentsim.cli.app import app
from agentsim.engine.game import Outcome
from agentsim.engine.rule_sets import Since
from agentsim.engine.table import Table
from agentsim.errors import JournalMismatch, ScenarioError
from agentsim.games.auction.config import AuctionConfig
from agentsim.games.auction.game import AgentAuction
from agentsim.history.run_files import RunFiles
from agentsim.runner.replay import prove
from agentsim.runner.session import begin
from agentsim.scenario.load import load
from tests.contract.golden import GOLDEN
from tests.fakes.journals import change_line

TINY = Path(str(files("agentsim.games.auction") / "tiny.toml"))


class Later(AuctionConfig):
    """The auction's settings, with a rule of the second set and one of the third."""

    encore: Annotated[bool, Since(2, before=False)] = True
    bows: Annotated[int, Since(3, before=0)] = 2


class LaterAuction(AgentAuction):
    """An auction that ends with bows."""

    rules_version = 3
    config = Later

    async def play(self, table: Table, config: Any) -> Outcome:
        found = await super().play(table, config)
        extra = f", encore {config.encore}, {config.bows} bows" if config.encore or config.bows else ""
        return replace(found, reason=f"sold{extra}" if extra else found.reason)


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentsim.games.auction.GAME", LaterAuction())


def played(logs: Path, *overrides: str) -> dict[str, Any]:
    result = begin(load(TINY, overrides=overrides), logs, env={}, stem="run")
    assert prove(RunFiles(logs, "run")).complete
    return dict(result.history)


@pytest.mark.parametrize(
    ("overrides", "reason", "version"),
    [
        ([], "sold, encore True, 2 bows", 3),
        (["rules_version=3"], "sold, encore True, 2 bows", 3),
        (["rules_version=2"], "sold, encore True, 0 bows", 2),
        (["rules_version=1"], "all items were offered", 1),
        (["rules_version=1", "game_config.bows=5"], "sold, encore False, 5 bows", 3),
        (["game_config.bows=0"], "sold, encore True, 0 bows", 2),
    ],
)
def test_a_scenario_gets_the_newest_rules_or_those_it_names(
    tmp_path: Path, overrides: list[str], reason: str, version: int
) -> None:
    history = played(tmp_path, *overrides)
    assert history["outcome"]["reason"] == reason
    assert history["rules_version"] == version


def test_a_journal_from_before_a_setting_is_played_without_it(tmp_path: Path) -> None:
    assert "encore" not in played(tmp_path, "rules_version=1")["scenario"]["game_config"]
    for suffix in (".json", ".jsonl"):
        shutil.copy(GOLDEN / f"auction{suffix}", tmp_path)
    assert prove(RunFiles(tmp_path, "auction")).history["rules_version"] == 1
    change_line(tmp_path / "auction.jsonl", '"record":"run"', _with_a_later_setting)
    with pytest.raises(JournalMismatch, match=r"names rules version 1 .* its settings are of 3"):
        prove(RunFiles(tmp_path, "auction"))


def _with_a_later_setting(line: dict[str, Any]) -> None:
    line["scenario"]["game_config"]["bows"] = 1


def test_a_rule_set_that_is_not_there_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r"rules_version: auction has no rule set 4 \(valid: 1, 2, 3\)"):
        load(TINY, overrides=["rules_version=4"])


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        ([], "rules: version 3, the newest; rules_version = 2 plays the earlier ones"),
        (["rules_version=1"], "rules: version 1; the newest is 3"),
        (["game_config.encore=false"], "rules: version 3, the newest, but for encore = false; rules_version = 2 plays"),
    ],
)
def test_validate_says_which_rules_a_scenario_gets(overrides: list[str], says: str) -> None:
    arguments = [part for override in overrides for part in ("--set", override)]
    found = CliRunner().invoke(app, ["validate", "--config", str(TINY), *arguments])
    assert says in " ".join(found.output.split())


def test_a_game_of_one_rule_set_says_nothing_of_it() -> None:
    other = TINY.parent.with_name("werewolf") / TINY.name
    found = CliRunner().invoke(app, ["validate", "--config", str(other)])
    assert "rules: version" not in found.output
