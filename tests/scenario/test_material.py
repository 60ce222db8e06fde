"""Files that a game's own table names: a field's content, and a folder of players. The game here is no auction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentsim import games
from agentsim.engine.game import InFile, SeatsInFolder
from agentsim.scenario import Scenario, json_schema, load
from agentsim.scenario.source_files import stem
from tests.amounts import each_row
from tests.cli.json_schema import complaints
from tests.scenario.parlour import Parlour, Salon, SalonConfig, refused, written

HEAD = 'game = "salon"\n[defaults]\nmodel = "bot/careful"\n'
SEATED = '[[players]]\nid = "A"\n[[players]]\nid = "B"\n'


def salon(root: Path, config: str, players: str = SEATED, **files: str) -> Path:
    """The scenario of `[game_config]` lines and files; a `/` in a file's name is written as `__`."""
    for name, content in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return written(root, f"{HEAD}[game_config]\n{config}\n{players}")


def config_of(path: Path) -> dict[str, Any]:
    return load(path).config.model_dump()


# a field's content


def test_marked_fields_are_found_by_their_mark() -> None:
    assert SalonConfig.marked(InFile) == {"song": InFile(".md", ("silence", "noise"))}
    assert SalonConfig.marked(SeatsInFolder) == {"guests_dir": SeatsInFolder()}
    assert Parlour.config.marked(InFile) == {}


def test_a_name_is_replaced_by_name_and_content(tmp_path: Path) -> None:
    path = salon(tmp_path, 'song = "../songs/my song.md"', **{"songs__my song_dot_md": "la\r\nla"})
    assert config_of(path)["song"] == {"name": "my song", "text": "la\nla"}


def test_a_word_of_the_game_names_no_file(tmp_path: Path) -> None:
    assert config_of(salon(tmp_path, 'song = "noise"'))["song"] == "noise"
    assert config_of(salon(tmp_path, ""))["song"] == "silence"


def test_what_stands_for_a_file_that_was_read_is_not_for_the_scenario_to_say(tmp_path: Path) -> None:
    said = refused(salon(tmp_path, 'song = { name = "mine", text = "la" }'))
    assert said == 'game_config.song: unknown key name (valid: a .md file or "silence" or "noise")'


def test_the_suffix_counts_in_any_case(tmp_path: Path) -> None:
    assert config_of(salon(tmp_path, 'song = "../S.MD"', S_dot_MD="la"))["song"] == {"name": "S", "text": "la"}


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ('song = "../s.txt"', 'game_config.song: must be a .md file or "silence" or "noise", found \'../s.txt\''),
        ('song = "Silence"', 'game_config.song: must be a .md file or "silence" or "noise", found \'Silence\''),
        ('song = "../none.md"', "game_config.song: no such file: ../none.md"),
        ('song = "../../s.md"', "game_config.song: ../../s.md leads out of ROOT (valid: a file below it, or --allow-"),
        ('song = "../key.md"', "game_config.song: the file holds what looks like a key or password; keys come from "),
        ('song = "../empty.md"', "game_config.song: empty: nobody can sing nothing"),
        ("song = 5", 'game_config.song: must be a .md file or a table or one of "silence", "noise", found 5'),
        ("guests_dir = 5", "game_config.guests_dir: must be text, found 5"),
        ('guests_dir = "../none"', "game_config.guests_dir: no such folder: ../none"),
        ('guests_dri = ".."', "game_config.guests_dri: unknown key (did you mean guests_dir?)"),
    ],
    ids=lambda given: given[:30],
)
def test_a_file_that_is_not_is_one_line_with_its_key(config: str, line: str, tmp_path: Path) -> None:
    files = {"s_dot_txt": "la", "key_dot_md": "key: sk-proj-0123456789abcdef", "empty_dot_md": " "}
    assert refused(salon(tmp_path, config, **files)).replace(str(tmp_path), "ROOT").startswith(line)


def test_what_the_file_held_is_in_the_identity_and_where_it_was_is_not(tmp_path: Path) -> None:
    files = {"s_dot_md": "la", "g__a_dot_txt": "", "g__b_dot_txt": ""}
    scenario = load(salon(tmp_path, 'song = "../s.md"\nguests_dir = "../g"', "", **files))
    identity = json.loads(json.dumps(scenario.game_settings()))
    assert identity["game_config"] == {"song": {"name": "s", "text": "la"}, "guests_dir": None, "rounds": 1}
    assert "../" not in json.dumps(identity)
    for path in (tmp_path / "s.md", tmp_path / "g" / "a.txt"):
        path.unlink()
    assert Scenario.restore(identity, scenario.run_settings(), seed=scenario.seed) == scenario


# a folder of players


def test_a_folder_seats_a_player_for_every_prompt_after_the_tables(tmp_path: Path) -> None:
    guests: Mapping[str, str] = {"g__zoe_dot_txt": "I am ${player}.", "g__al_dot_txt": "We are ${players}."}
    scenario = load(salon(tmp_path, 'guests_dir = "../g"', '[[players]]\nid = "A"\n', **guests))
    assert [(plan.id, plan.prompt, plan.called) for plan in scenario.players] == [
        ("A", None, None),
        ("al", "We are A, al, zoe.", None),
        ("zoe", "I am zoe.", None),
    ]
    assert scenario.config.model_dump()["guests_dir"] is None


def test_players_of_a_folder_share_the_defaults(tmp_path: Path) -> None:
    guests = {"g__a_dot_txt": "", "g__b_dot_txt": ""}
    scenario = load(salon(tmp_path, 'guests_dir = "../g"', "[limits]\nconcurrency = 3\n", **guests))
    assert {plan.model for plan in scenario.players} == {"bot/careful"}
    assert {plan.prompt for plan in scenario.players} == {""}, "an empty strategy is a strategy"


def test_nobody_at_all_says_what_would_seat_somebody(tmp_path: Path) -> None:
    ours = "players: there are none; each needs a [[players]] table, or a file in game_config.guests_dir"
    assert refused(salon(tmp_path, "", "")) == ours


def test_a_game_without_the_mark_knows_no_such_key(tmp_path: Path) -> None:
    path = written(
        tmp_path, f'game = "parlour"\n[defaults]\nmodel = "bot/bold"\n[game_config]\nguests_dir = "."\n{SEATED}'
    )
    assert refused(path).startswith("game_config.guests_dir: unknown key")


@each_row(
    "file, shown",
    [
        ("a/b/Team One.txt", "Team One"),
        ("Team.One.txt", "Team.One"),
        ("zespo\u0301ł.txt", "zespół"),
        ("a\nb\u2028c.txt", "a b c"),
        ("\u202e\u200b.txt", ""),
        ("plain", "plain"),
    ],
)
def test_a_stem_is_what_may_be_shown_of_a_files_name(file: str, shown: str) -> None:
    assert stem(file) == shown


# the JSON Schema for editors

SCHEMA = json_schema([Parlour(), Salon()])
TABLES = [{"id": "A"}, {"id": "B"}]


@each_row(
    "document, fits",
    [
        ({"game": "salon", "players": TABLES}, True),
        ({"game": "salon", "game_config": {"guests_dir": "../g"}}, True),
        ({"game": "salon", "game_config": {"guests_dir": "../g"}, "players": TABLES}, True),
        ({"game": "salon"}, False),
        ({"game": "salon", "game_config": {"rounds": 3}}, False),
        ({"game": "salon", "game_config": {"guests_dir": 5}}, False),
        ({"game": "parlour", "players": TABLES}, True),
        ({"game": "parlour"}, False),
        ({"game": "parlour", "game_config": {"guests_dir": "../g"}}, False),
        ({"game": "salon", "players": TABLES, "game_config": {"song": "../s.md"}}, True),
        ({"game": "salon", "players": TABLES, "game_config": {"song": "noise"}}, True),
        ({"game": "salon", "players": TABLES, "game_config": {"song": {"name": "s", "text": "la"}}}, True),
        ({"game": "salon", "players": TABLES, "game_config": {"song": 5}}, False),
        ({"game": "salon", "players": [{"prompt_file": "a.txt"}, {"player_id": "B"}]}, True),
        ({"game": "salon", "players": [{"prompt": "I have no name."}]}, False),
    ],
)
def test_the_schema_wants_players_by_table_or_by_folder(document: dict[str, Any], fits: bool) -> None:
    assert (complaints(document, SCHEMA) == []) == fits


@pytest.mark.parametrize("seated", [{"players": TABLES}, {"game_config": {"prompts_dir": "../p"}}, {}], ids=str)
def test_the_schema_of_the_installed_auction_does_too(seated: dict[str, Any]) -> None:
    config = {"items": "random", **seated.get("game_config", {})}
    document = {"game": "auction", **seated, "game_config": config}
    assert (complaints(document, json_schema([games.find("auction")])) == []) == bool(seated)
