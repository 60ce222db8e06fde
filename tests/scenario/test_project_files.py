"""Files of the Agent Island project load as they are: its players' keys, its `[game]` table, two files for one game."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsim.errors import ScenarioError
from agentsim.games.agent_island.config import AgentIslandConfig
from agentsim.scenario import load
from agentsim.scenario.scenario import Scenario
from tests.scenario.parlour import SEATS, written

PLAYERS = """\
[[players]]
player_id = "A"
player_type = "ai"
model = "google/gemini-2.5-flash"
character_prompt = "You are player A."
memory_strategy = "summarization"

[[players]]
player_id = "B"
model = "mistralai/ministral-8b-2512"
character_prompt = "You are player B."
memory_strategy = "none"

[players.client_kwargs]
max_output_tokens = 900
reasoning = { effort = "low" }

[[players]]
player_id = "H"
player_type = "human"
character_prompt = "You are player H."
"""

RULES = """\
[game]
num_players = 3
num_rounds = 2
phases = ["sidebars", "pitches", "votes", "elimination", "consolidate_memory"]
logs_dir = "logs"
rules_prompt = "Three begin."

[game.phase_config.sidebars]
num_exchanges = 1
messages_per_exchange = 2

[[game.round_overrides]]
round = 2
phases = ["pitches", "votes", "opponent_quips"]
round_type = "final"
"""


def loaded(folder: Path, players: str = PLAYERS, rules: str | None = RULES, *overrides: str) -> Scenario:
    second = None if rules is None else written(folder, rules, "rules.toml")
    first = written(folder, players, "players.toml")
    return load(first, game_config=second, game="agent_island", provider="openrouter", overrides=overrides)


def config_of(scenario: Scenario) -> AgentIslandConfig:
    assert isinstance(scenario.config, AgentIslandConfig)
    return scenario.config


def refused(folder: Path, players: str = PLAYERS, rules: str | None = RULES) -> str:
    with pytest.raises(ScenarioError) as caught:
        loaded(folder, players, rules)
    return str(caught.value).replace(f"{folder}/configs/", "")


# players


def test_a_player_file_by_itself(tmp_path: Path) -> None:
    scenario = loaded(tmp_path, rules=None)
    assert [(plan.id, plan.model, plan.prompt) for plan in scenario.players] == [
        ("A", "openrouter/google/gemini-2.5-flash", "You are player A."),
        ("B", "openrouter/mistralai/ministral-8b-2512", "You are player B."),
        ("H", "human", "You are player H."),
    ]
    assert config_of(scenario).memory_of == {"A": "summary", "B": "full"}
    b = scenario.players[1]
    assert (b.max_tokens, b.client_kwargs) == (900, {"reasoning": {"effort": "low"}})


def test_a_person_needs_no_model_and_one_that_is_named_does_not_play(tmp_path: Path) -> None:
    named = PLAYERS.replace('player_type = "human"', 'player_type = "human"\nmodel = "x-ai/grok-4"')
    assert loaded(tmp_path, named).players[2].model == "human"


def test_the_command_line_goes_before_the_files_words(tmp_path: Path) -> None:
    changes = ("players.2.model=bot/random", "players.1.memory=summary", "game_config.pitch_chars=99")
    scenario = loaded(tmp_path, PLAYERS.replace('memory_strategy = "none"\n', ""), RULES, *changes)
    assert scenario.players[2].model == "bot/random"
    assert config_of(scenario).memory_of == {"A": "summary", "B": "summary"}
    assert config_of(scenario).pitch_chars == 99
    others = PLAYERS.replace('player_type = "human"', 'model = "bot/random"')
    assert loaded(tmp_path, others, RULES, "players.0.player_type=human").players[0].model == "human"


@pytest.mark.parametrize(
    ("found", "instead", "line"),
    [
        ('"human"', '"robot"', 'players.toml: players.2.player_type: must be one of "ai", "human", found "robot"'),
        (
            '"none"',
            '"diary"',
            'players.toml: players.1.memory_strategy: must be one of "none", "summarization", found "diary"',
        ),
        (
            'player_type = "human"',
            'player_type = "human"\nmemory_strategy = "summarization"',
            'players.toml: players.2.memory_strategy: a human player keeps everything, found "summarization" '
            '(valid: "none"; or model = "human" and memory = "summary")',
        ),
        (
            'memory_strategy = "none"',
            'memory_strategy = "none"\nmemory = "full"',
            "players.toml: players.1: memory and memory_strategy are two names of one key",
        ),
        (
            'model = "google/gemini-2.5-flash"\n',
            "",
            "players.toml: players.0.model: is missing, and [defaults] has none",
        ),
    ],
    ids=["type", "memory", "a person's memory", "two names", "no model"],
)
@pytest.mark.parametrize("rules", [None, RULES], ids=["one file", "two files"])
def test_a_player_that_cannot_be_is_one_line(
    tmp_path: Path, found: str, instead: str, line: str, rules: str | None
) -> None:
    assert refused(tmp_path, PLAYERS.replace(found, instead, 1), rules) == line


# memory in our own words


def test_memory_by_player_is_a_key_of_ours_and_holds_for_every_player_of_a_table(tmp_path: Path) -> None:
    players = (
        'game = "agent_island"\n[[players]]\nid = "crowd"\ncount = 2\nmodel = "bot/random"\nmemory = "summary"\n'
        '[[players]]\nid = "A"\nmodel = "bot/random"\n'
    )
    scenario = load(written(tmp_path, players))
    assert config_of(scenario).memory_of == {"crowd1": "summary", "crowd2": "summary"}
    assert (
        Scenario.restore(scenario.game_settings(), scenario.run_settings()).game_settings() == scenario.game_settings()
    )
    both = written(tmp_path, players + '[game_config]\nmemory_of = { crowd2 = "full" }\n', "both.toml")
    with pytest.raises(ScenarioError, match=r"players.0.memory: crowd2 stands in game_config.memory_of too"):
        load(both)


def test_a_game_without_memory_by_player_takes_none(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"players.1.memory: parlour has none by player"):
        load(written(tmp_path, f'{SEATS}memory = "full"\n'))


# the game's table


def test_two_files_are_one_game(tmp_path: Path) -> None:
    config = config_of(loaded(tmp_path))
    assert (config.rounds, config.rules, config.quips_by) == (2, "Three begin.", ("A", "B"))
    assert config.settings(2, 2).phases == ("pitches", "votes", "quips")
    assert (config.partners, config.may_decline, config.secret_pairs) == ("any", False, True)


def test_one_file_may_hold_both_and_more_of_ours(tmp_path: Path) -> None:
    whole = f"{RULES}\n{PLAYERS}\n[game_config]\npitch_chars = 300\nmay_decline = true\n"
    scenario = loaded(tmp_path, whole, None)
    assert scenario.config == config_of(loaded(tmp_path)).model_copy(update={"pitch_chars": 300, "may_decline": True})


def test_which_of_two_files_comes_first_does_not_matter(tmp_path: Path) -> None:
    assert loaded(tmp_path, RULES, PLAYERS).game_settings() == loaded(tmp_path, PLAYERS, RULES).game_settings()


def test_a_second_file_may_be_in_our_own_words(tmp_path: Path) -> None:
    scenario = loaded(tmp_path, PLAYERS, '[game_config]\nmemory = "summary"\n[limits]\nmax_calls = 7\n')
    assert (config_of(scenario).memory, scenario.limits.max_calls) == ("summary", 7)


def test_a_game_id_is_the_seed_unless_one_is_given(tmp_path: Path) -> None:
    rules = RULES.replace("num_players", 'game_id = "one"\nnum_players')
    seed = loaded(tmp_path, rules=rules).seed
    assert seed is not None
    assert loaded(tmp_path, PLAYERS, rules, "seed=3").seed == 3
    assert loaded(tmp_path).seed is None


@pytest.mark.parametrize(
    ("found", "instead", "line"),
    [
        (
            '"consolidate_memory"',
            '"brood"',
            'rules.toml: game.phases.4: must be one of "pitches", "votes", "elimination", "sidebars", '
            '"consolidate_memory", "opponent_quips", found "brood"',
        ),
        (
            '"final"',
            '"finale"',
            'rules.toml: game.round_overrides.0.round_type: must be one of "elimination", "final", found "finale"',
        ),
        ('rules_prompt = "Three begin."\n', "", "rules.toml: game.rules_prompt: is missing"),
        (
            "num_exchanges",
            "exchanges",
            "rules.toml: game.phase_config.sidebars.exchanges: unknown key (did you mean num_exchanges?)",
        ),
        (
            "num_players = 3",
            "num_players = 4",
            "rules.toml: game.num_players: is 4, but there are 3 players "
            "(valid: as many [[players]] tables, here or in the file of --game-config)",
        ),
        ("round = 2", "round = 5", "rules.toml: game.round_overrides.0.round: there is no round 5 (valid: 1 to 2)"),
        (
            "[game]",
            'name = "x"\n[[players]]\nid = "Z"\n[game]',
            "rules.toml: players: is in both files (valid: either of them)",
        ),
        ("[game]", "[game", "rules.toml: not TOML: "),
        ("[game]", "[game]\ngame_id = 1979-05-27", "rules.toml: game.game_id: "),
    ],
    ids=["phase", "type", "no rules", "exchanges", "players", "round", "both", "no TOML", "a date"],
)
def test_a_game_that_cannot_be_is_one_line_that_names_its_file(
    tmp_path: Path, found: str, instead: str, line: str
) -> None:
    assert refused(tmp_path, PLAYERS, RULES.replace(found, instead, 1)).startswith(line)


def test_which_game_it_is_must_be_said_and_must_know_the_table(tmp_path: Path) -> None:
    path = written(tmp_path, f"{RULES}\n{PLAYERS}")
    with pytest.raises(ScenarioError, match=r"game: is a table, as in another project's files; give --game"):
        load(path)
    with pytest.raises(ScenarioError, match=r"game: auction knows no such table"):
        load(path, game="auction")
