"""The run's own part in a seat: its seed and its file, for models and for errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentsim.errors import ScenarioError
from agentsim.games import find
from agentsim.models.local import LocalModel
from agentsim.models.prices import PricedModel
from agentsim.runs.seats import build_players
from agentsim.scenario.load import load
from agentsim.scenario.scenario import Scenario

BOTS = '[[players]]\nid = "bot"\ncount = 3\nmodel = "bot/random"\n'


def scenario(folder: Path, text: str) -> Scenario:
    path = folder / "game.toml"
    path.write_text(f'game = "agent_island"\n{text}', encoding="utf-8")
    return load(path)


@pytest.mark.parametrize(("seed", "passed"), [(11, 11), (None, 0)])
def test_the_embedded_model_samples_by_the_seed_of_the_run(
    seed: int | None, passed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentsim.models.local.find_gguf", lambda _name, _path: tmp_path / "weights.gguf")
    loaded = replace(scenario(tmp_path, f'{BOTS}[[players]]\nid = "A"\nmodel = "local/smollm2-135m"\n'), seed=seed)
    (model,) = build_players(loaded, find("agent_island"), {}).models.values()
    assert isinstance(model, PricedModel)
    assert isinstance(model._model, LocalModel)
    assert model._model._seed == passed


def test_who_looks_at_the_terminal_is_known(tmp_path: Path) -> None:
    game = find("agent_island")
    assert not build_players(scenario(tmp_path, BOTS), game, {}).has_person
    assert build_players(scenario(tmp_path, f'{BOTS}[[players]]\nid = "A"\nmodel = "human"\n'), game, {}).has_person


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (f'{BOTS}[[players]]\nid = "A"\nmodel = "openai/x"\n', "players.1.model"),
        (f'[defaults]\nmodel = "openai/x"\n{BOTS}[[players]]\nid = "A"\n', "defaults.model"),
    ],
)
def test_an_error_names_the_file_and_the_key_of_the_model(
    text: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = scenario(tmp_path, text)
    needed = "openai needs a key: set OPENAI_API_KEY in the environment or in ./.env"
    for folder, shown in ((tmp_path, "game.toml"), (Path("/"), str(tmp_path / "game.toml").removeprefix("/"))):
        monkeypatch.chdir(folder)
        with pytest.raises(ScenarioError) as caught:
            build_players(loaded, find("agent_island"), {})
        assert str(caught.value) == f"{shown}: {key}: {needed}"
    restored = Scenario.restore(loaded.game_settings(), loaded.run_settings())
    with pytest.raises(ScenarioError, match="the model of A: openai needs a key"):
        build_players(restored, find("agent_island"), {})
