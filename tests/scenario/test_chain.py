"""A list of models for one seat: what may stand in it, what becomes of it, and what is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentsim import games
from agentsim.errors import ScenarioError
from agentsim.runs.fork import changed_scenario
from agentsim.scenario import Scenario, load
from agentsim.scenario.scenario import check_prices
from agentsim.scenario.toml_tables import json_schema
from tests.cli.json_schema import complaints
from tests.scenario.parlour import SEATS, Parlour, refused, written
from tests.scenario.test_errors import MODEL_SHAPE

LAB = '[providers.lab]\nbase_url = "http://127.0.0.1:1/v1"\n'
CHAIN = (
    SEATS.replace('id = "B"', 'id = "B"\nmodel = ["lab/big", "script:s.json", "local/w.gguf", "openai/gpt-5-mini"]')
    + LAB
)


def chained(folder: Path, **arguments: object) -> Scenario:
    path = written(folder, CHAIN)
    path.with_name("s.json").write_text("{}", encoding="utf-8")
    path.with_name("w.gguf").write_bytes(b"GGUF")
    return load(path, **arguments)  # type: ignore[arg-type]  # each test's own


def test_the_models_stand_in_the_order_of_asking_with_their_files(tmp_path: Path) -> None:
    scenario = chained(tmp_path)
    plan, folder = scenario.players[1], scenario.path.parent
    assert plan.models == ("lab/big", "script:s.json", "local/w.gguf", "openai/gpt-5-mini")
    assert plan.files == (None, folder / "s.json", folder / "w.gguf", None)
    assert plan.title == "lab/big > script:s.json > local/w.gguf > openai/gpt-5-mini"
    backup = plan.backup
    assert backup is not None
    assert (backup.model, backup.models) == ("script:s.json", plan.models[1:])
    assert [each.backup is None for each in (plan, backup)] == [False, False]


def test_it_survives_a_journal(tmp_path: Path) -> None:
    scenario = chained(tmp_path)
    folder = scenario.path.parent
    identity, run_settings = json.loads(json.dumps([scenario.game_settings(), scenario.run_settings()]))
    assert identity["players"][1]["model"] == list(scenario.players[1].models)
    assert identity["players"][0]["model"] == "bot/careful"
    assert run_settings["paths"]["models"] == {"B": [None, str(folder / "s.json"), str(folder / "w.gguf"), None]}
    again = Scenario.restore(identity, run_settings)
    assert again.players == scenario.players
    assert json.dumps(again.game_settings()) == json.dumps(identity)


def test_a_list_of_one_is_that_one(tmp_path: Path) -> None:
    listed = load(written(tmp_path, SEATS, "a.toml"), overrides=['defaults.model=["bot/bold"]'])
    plain = load(written(tmp_path, SEATS, "b.toml"), overrides=["defaults.model=bot/bold"])
    assert listed.game_settings() == plain.game_settings()


def test_the_provider_stands_before_each_name(tmp_path: Path) -> None:
    text = SEATS.replace('"bot/careful"', '["a/b", "c", "local/smollm2-135m"]')
    plan = load(written(tmp_path, text), provider="openrouter").players[0]
    assert plan.title == "openrouter/a/b > openrouter/c > local/smollm2-135m"


def test_a_place_in_the_list_can_be_set(tmp_path: Path) -> None:
    overrides = ['players.1.model=["lab/a", "lab/b"]', "players.1.model.1=lab/c"]
    scenario = load(written(tmp_path, SEATS + LAB), overrides=overrides)
    assert scenario.players[1].title == "lab/a > lab/c"


def test_staff_may_have_one(tmp_path: Path) -> None:
    text = SEATS + LAB + '[staff.summarizer]\nmodel = ["lab/a", "lab/b"]\n'
    assert load(written(tmp_path, text)).staff["summarizer"].title == "lab/a > lab/b"


ALONE = "can always be reached; a list is for models that may fail"


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ('["lab/a", "bot/bold"]', f"players.1.model: bot/bold {ALONE}"),
        ('["human", "lab/a"]', f"players.1.model: human {ALONE}"),
        ('["lab/a", "lab/a"]', "players.1.model: lab/a occurs twice in the list"),
        ('["lab/a", "gpt-4"]', f'players.1.model.1: {MODEL_SHAPE}, found "gpt-4"'),
        ('["lab/a", "lap/b"]', "players.1.model.1: there is no provider 'lap'; did you mean lab?"),
        ('["lab/a", "script:no.json"]', "players.1.model.1: no such file: no.json"),
        ("[]", "players.1.model: must be text or a list of at least 1, each text, found a list of 0"),
        ('["lab/a", 5]', "players.1.model.1: must be text, found 5"),
        ("5", "players.1.model: must be text or a list of at least 1, each text, found 5"),
    ],
)
def test_what_may_not_stand_there(tmp_path: Path, value: str, line: str) -> None:
    text = SEATS.replace('id = "B"', f'id = "B"\nmodel = {value}') + LAB
    path = written(tmp_path, text)
    assert refused(path).startswith(line)


def test_every_price_must_be_known_under_a_limit_in_dollars(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="the price of lab/big is unknown"):
        check_prices(chained(tmp_path, max_cost_usd=1.0), {})
    prices = ['prices."lab/big".input=1.0', 'prices."lab/big".output=1.0']
    check_prices(chained(tmp_path, max_cost_usd=1.0, overrides=prices), {})
    unpriced = [*prices, 'players.1.model=["lab/big", "lab/other"]']
    with pytest.raises(ScenarioError, match="the price of lab/other is unknown"):
        check_prices(chained(tmp_path, max_cost_usd=1.0, overrides=unpriced), {})
    with pytest.raises(ScenarioError, match=r"the price of lab/big and of lab/other is unknown; add .* and a "):
        check_prices(chained(tmp_path, max_cost_usd=1.0, overrides=unpriced[2:]), {})


@pytest.mark.parametrize(
    ("model", "fits"),
    [("lab/a", True), (["lab/a", "lab/b"], True), ([], False), (["lab/a", "lab/a"], False), (5, False), ([5], False)],
)
def test_editors_are_told(model: object, fits: bool) -> None:
    scenario = {"game": "parlour", "players": [{"id": "A", "model": model}]}
    assert (not complaints(scenario, json_schema([Parlour()]))) is fits


def test_a_fork_finds_the_file_of_every_model_that_it_sets(tmp_path: Path) -> None:
    scenario = chained(tmp_path)
    change = 'players.B.model=["lab/small", "local/w.gguf", "script:s.json"]'
    plan = changed_scenario(scenario, games.find(scenario.game), [change]).players[1]
    folder = scenario.path.parent
    assert plan.models == ("lab/small", "local/w.gguf", "script:s.json")
    assert plan.files == (None, folder / "w.gguf", folder / "s.json")
