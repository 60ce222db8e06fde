"""What a scenario says, as the plans that are played."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsim.errors import ScenarioError
from agentsim.scenario import Limits, ModelSettings, PlayerPlan, load
from tests.scenario.parlour import SEATS, Mood, ParlourConfig, refused, written

FULL = """\
#:schema https://example.org/schema.json
game = "parlour"
name = "evening"
seed = 7

[defaults]
model = "openrouter/openai/gpt-5-mini"
temperature = 0.7
max_tokens = 512
timeout_s = 20
retries = 2
reasks = 0
reask_on = ["illegal"]
reask_with = "same"
max_attempts = 2
retry_wait_s = [2]
rate_limit_wait_s = 5
rate_limit_patience_s = 60
client_kwargs = { top_p = 0.9, reasoning = { effort = "low" } }
prompt = "You are ${player} of ${players}, against ${others}, in ${game}."

[game_config]
rounds = 3
moods = ["wild", "calm"]
guests = [{ name = "Z", chairs = [1, 2] }]

[limits]
max_cost_usd = 2
max_calls = 500
concurrency = 4
max_fallback_rate = 0.5

[providers.lab]
base_url = "http://127.0.0.1:8000/v1"
api_key_env = "LAB_KEY"
spacing_ms = 200
structured = "json_object"

[prices."lab/llama"]
input = 0.25
output = 2

[staff.summarizer]
model = "lab/llama"
temperature = 0

[[players]]
id = "A"

[[players]]
id = "B"
model = "lab/llama"
temperature = 1
retry_wait_s = 3
client_kwargs = { top_p = 0.5 }
prompt = "Mine."

[[players]]
id = "bot"
count = 2
model = "bot/bold"

[[players]]
id = "Eve"
model = "human"
timeout_s = 5
"""


def test_everything_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, FULL)
    scenario = load(path)
    assert (scenario.game, scenario.name, scenario.seed, scenario.path) == ("parlour", "evening", 7, path)
    assert isinstance(scenario.config, ParlourConfig)
    assert (scenario.config.rounds, scenario.config.moods) == (3, (Mood.WILD, Mood.CALM))
    assert scenario.limits == Limits(max_cost_usd=2, max_calls=500, concurrency=4, max_fallback_rate=0.5)
    a, b, bot1, bot2, eve = scenario.players
    assert [plan.id for plan in scenario.players] == ["A", "B", "bot1", "bot2", "Eve"]
    assert settings_of(a) == ModelSettings(
        temperature=0.7,
        max_tokens=512,
        timeout_s=20,
        retries=2,
        reasks=0,
        reask_on=("illegal",),
        reask_with="same",
        max_attempts=2,
        retry_wait_s=(2.0,),
        rate_limit_wait_s=5,
        rate_limit_patience_s=60,
    )
    assert a.client_kwargs == {"top_p": 0.9, "reasoning": {"effort": "low"}}
    assert a.prompt == "You are A of A, B, bot1, bot2, Eve, against B, bot1, bot2, Eve, in The Parlour."
    assert settings_of(b) == settings_of(a).model_copy(update={"temperature": 1.0, "retry_wait_s": 3.0})
    assert (b.model, b.prompt) == ("lab/llama", "Mine.")
    assert b.client_kwargs == {"top_p": 0.5, "reasoning": {"effort": "low"}}
    assert (bot1.model, bot1.name.kind, bot1.name.rest) == ("bot/bold", "bot", "bold")
    assert (bot2.prompt or "").startswith("You are bot2 of")
    assert scenario.staff["summarizer"].id == "@summarizer"
    assert scenario.staff["summarizer"].temperature == 0
    assert scenario.staff["summarizer"].prompt is None
    assert settings_of(eve) == settings_of(a).model_copy(
        update={"timeout_s": None, "reasks": None, "max_attempts": None}
    )


def settings_of(plan: PlayerPlan) -> ModelSettings:
    return ModelSettings(**{name: getattr(plan, name) for name in ModelSettings.model_fields})


def test_what_is_not_said_is_as_documented(tmp_path: Path) -> None:
    scenario = load(written(tmp_path, SEATS))
    assert (scenario.name, scenario.seed, scenario.limits, scenario.staff) == (None, None, Limits(), {})
    assert settings_of(scenario.players[0]).model_dump() == {
        "temperature": None,
        "max_tokens": None,
        "timeout_s": 120.0,
        "retries": 1,
        "reasks": 1,
        "reask_on": ("unreadable", "ambiguous", "illegal"),
        "reask_with": "reason",
        "repair": True,
        "max_attempts": 3,
        "retry_wait_s": 0.5,
        "rate_limit_wait_s": 10.0,
        "rate_limit_jitter_s": 0.0,
        "rate_limit_patience_s": 300.0,
        "count_rate_limits": False,
    }


ISLAND = """\
[[players]]
player_id = "A"
model = "nvidia/nemotron-3-nano-30b-a3b:free"
character_prompt = "You are player A."

[players.client_kwargs]
max_tokens = 4096
temperature = 0.3
reasoning = { effort = "low" }

[[players]]
player_id = "B"
model = "google/gemini-2.5-flash"
character_prompt = "You are player B."
"""


def test_the_player_files_of_agent_island_load_as_they_are(tmp_path: Path) -> None:
    a, b = load(written(tmp_path, ISLAND), game="parlour", provider="openrouter").players
    assert (a.id, a.model) == ("A", "openrouter/nvidia/nemotron-3-nano-30b-a3b:free")
    assert (b.id, b.model, b.prompt) == ("B", "openrouter/google/gemini-2.5-flash", "You are player B.")
    assert (a.max_tokens, a.temperature) == (4096, 0.3)
    assert a.client_kwargs == {"reasoning": {"effort": "low"}}


def test_numbers_go_on_over_tables_of_one_id(tmp_path: Path) -> None:
    table = '[[players]]\nid = "{}"\n{}\n'
    text = 'game = "parlour"\ndefaults.model = "bot/bold"\n' + "".join(
        table.format(*row)
        for row in [("agent", "count = 2"), ("x", "count = 1"), ("agent", 'count = 3\nmodel = "web"'), ("agent", "")]
    )
    players = load(written(tmp_path, text)).players
    assert [plan.id for plan in players] == ["agent1", "agent2", "x1", "agent3", "agent4", "agent5", "agent"]
    assert [plan.model for plan in players] == ["bot/bold"] * 3 + ["web"] * 3 + ["bot/bold"]


@pytest.mark.timeout(20)
def test_ten_thousand_agents(tmp_path: Path) -> None:
    text = (
        'game = "parlour"\n[[players]]\nid = "agent"\ncount = 10000\nmodel = "bot/bold"\nprompt = "I am ${player}."\n'
    )
    players = load(written(tmp_path, text)).players
    assert (len(players), players[-1].id, players[-1].prompt) == (10_000, "agent10000", "I am agent10000.")


def test_values_are_never_expanded_again(tmp_path: Path) -> None:
    text = SEATS + "prompt = '$${player} $$$$ ${player} {player} $player %s {{x}}'\n"
    assert load(written(tmp_path, text)).players[1].prompt == "${player} $$ B {player} $player %s {{x}}"


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("google/gemini", "openrouter/google/gemini"),
        ("gpt-4", "openrouter/gpt-4"),
        ("openrouter/auto", "openrouter/openrouter/auto"),
        ("bot/bold", "bot/bold"),
        ("human", "human"),
        ("local/smollm2-135m", "local/smollm2-135m"),
        ("script:a.jsonl", "script:a.jsonl"),
    ],
)
def test_provider_goes_before_every_name_but_our_own(model: str, expected: str, tmp_path: Path) -> None:
    path = written(tmp_path, SEATS + f'model = "{model}"\n[staff.moderator]\nmodel = "{model}"\n')
    (path.parent / "a.jsonl").touch()
    scenario = load(path, provider="openrouter")
    assert scenario.players[1].model == scenario.staff["moderator"].model == expected
    assert scenario.players[0].model == "bot/careful"


@pytest.mark.parametrize("provider", ["", "a/b", "bot x"])
def test_a_provider_that_is_no_name(provider: str, tmp_path: Path) -> None:
    path = written(tmp_path, SEATS)
    with pytest.raises(ScenarioError, match=": --provider: must be a provider's name"):
        load(path, provider=provider)


def test_files_in_model_names(tmp_path: Path) -> None:
    path = written(
        tmp_path, SEATS + 'model = "script:../replies/a b.jsonl"\n[[players]]\nid = "C"\nmodel = "local/m.GGUF"\n'
    )
    script, weights = tmp_path / "replies" / "a b.jsonl", path.parent / "m.GGUF"
    script.parent.mkdir()
    script.touch()
    weights.touch()
    _, b, c = load(path).players
    assert (b.model, b.file) == ("script:a b.jsonl", script)
    assert (c.model, c.file) == ("local/m.GGUF", weights)


def test_the_command_line_has_the_last_word(tmp_path: Path) -> None:
    path = written(tmp_path, FULL.replace('"parlour"', '"chess"'))
    scenario = load(path, game="parlour", seed=9, max_cost_usd=0.5, overrides=["seed=8", "limits.max_calls=3"])
    assert (scenario.game, scenario.seed) == ("parlour", 9)
    assert (scenario.limits.max_cost_usd, scenario.limits.max_calls, scenario.limits.concurrency) == (0.5, 3, 4)


def test_a_bad_flag_is_an_error_of_its_key(tmp_path: Path) -> None:
    path = written(tmp_path, SEATS)
    assert refused(path, max_cost_usd=-1) == "limits.max_cost_usd: must be a number of at least 0, found -1"


@pytest.mark.parametrize("model", ["bot/bold", "human", "ollama/llama3.2", "local/smollm2-135m", "openai/gpt-4o-mini"])
def test_a_cost_limit_takes_models_that_are_free_or_known(model: str, tmp_path: Path) -> None:
    path = written(tmp_path, SEATS + f'model = "{model}"\n')
    assert load(path, max_cost_usd=1).players[1].model == model
