"""A team is called what its prompt file is called; its id is made of that; both survive resume and replay."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from agentsim.engine.play import GamePlay
from agentsim.errors import ScenarioError
from agentsim.games.auction import GAME
from agentsim.games.auction.lots import AuctionBegan
from agentsim.records.run_files import RunFiles
from agentsim.runs.game_in_progress import new_play
from agentsim.runs.replay import prove, without_volatile
from agentsim.scenario import Scenario, load
from agentsim.scenario.seating import called_by_files
from tests.amounts import each_row
from tests.cli.command_line import agentsim
from tests.games.auction.auction import game_state
from tests.playing import play_scenario, resume_run

posix_names = pytest.mark.skipif(sys.platform == "win32", reason="such names are files on POSIX alone")


def folder(root: Path, *files: str, prompt: str = "Bid low.") -> Path:
    """A `prompts/` with these files, and a scenario that seats them."""
    (root / "prompts").mkdir(parents=True)
    (root / "items").mkdir()
    (root / "configs").mkdir()
    lots = [{"Name": name, "Quality": 60, "IsRequired": True} for name in ("Compass", "Gyroscope")]
    (root / "items" / "standard.json").write_text(json.dumps(lots), encoding="utf-8")
    for file in files:
        (root / "prompts" / file).write_text(prompt, encoding="utf-8")
    return scenario(root, 'prompts_dir = "../prompts"')


def scenario(root: Path, config: str, players: str = "") -> Path:
    path = root / "configs" / "x.toml"
    path.write_text(
        'game = "auction"\nseed = 3\n[defaults]\nmodel = "bot/random"\n'
        f'[game_config]\nitems = "../items/standard.json"\n{config}\n{players}',
        encoding="utf-8",
    )
    return path


def called(path: Path) -> dict[str, str]:
    """What each player is called in the game, by id, in seat order."""
    play = new_play(load(path), GAME)
    play.start()
    (began,) = [told.event for told in play.log if isinstance(told.event, AuctionBegan)]
    play.close()
    return dict(began.teams)


def refused(path: Path) -> str:
    """The one line that says why it cannot be loaded, after the scenario's own name."""
    with pytest.raises(ScenarioError) as raised:
        load(path)
    line = str(raised.value)
    assert "\n" not in line
    assert line.startswith(f"{path}: ")
    return line.removeprefix(f"{path}: ")


# names and ids


def test_every_file_of_the_folder_is_a_team_with_its_name_and_prompt(tmp_path: Path) -> None:
    path = folder(tmp_path, "team_beta.txt", "team_alpha.txt", "notes.md")
    loaded = load(path)
    assert [(plan.id, plan.prompt, plan.model) for plan in loaded.players] == [
        ("team_alpha", "Bid low.", "bot/random"),
        ("team_beta", "Bid low.", "bot/random"),
    ]
    assert called(path) == {"team_alpha": "team_alpha", "team_beta": "team_beta"}


def test_scenario_id_is_the_stem_of_the_items_file(tmp_path: Path) -> None:
    config: Any = load(folder(tmp_path, "a.txt", "b.txt")).config
    assert config.items.scenario == "standard"
    assert [item.name for item in config.items.items] == ["Compass", "Gyroscope"]


@pytest.mark.parametrize(
    ("stem", "id_"),
    [
        ("zespół 1", "zespół 1"),
        ("Ærø-Łódź", "Ærø-Łódź"),
        ("  two   spaces ", "two spaces"),
        ("a.b", "a_b"),
        ("_-x-_", "x"),
        ("!!!", "player"),
        ("日本", "日本"),
        ("\U0001f600", "player"),
        ("system", "system_2"),
        ("ALL", "ALL_2"),
        ("x" * 60, "x" * 32),
        ("ﬁne ①", "ﬁne"),
    ],
    ids=ascii,
)
def test_an_id_is_made_of_a_stem_and_the_name_stays(stem: str, id_: str, tmp_path: Path) -> None:
    teams = called(folder(tmp_path, f"{stem}.txt", "~other.txt"))
    assert (id_, " ".join(stem.split())) in teams.items()


@posix_names
@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("new\nline.txt", "new line"),
        ("\u202eevil.txt", "evil"),
        ("\x1b[31mred.txt", "red"),
        ("\u200b.txt", "player"),
        (os.fsdecode(b"\xff\xfe.txt"), "\ufffd\ufffd"),
    ],
    ids=["newline", "right-to-left", "escape", "invisible", "no UTF-8"],
)
def test_what_could_forge_a_line_is_not_in_a_name(file: str, name: str, tmp_path: Path) -> None:
    assert name in called(folder(tmp_path, file, "other.txt")).values()


def test_files_whose_ids_would_clash_are_numbered_in_the_order_of_their_names(tmp_path: Path) -> None:
    path = folder(tmp_path, "zespół 1.txt", "zespół!1.txt", "zespół_1.txt", "zespół.1.txt")
    assert called(path) == {
        "zespół 1": "zespół 1",
        "zespół_1": "zespół!1",
        "zespół_1_2": "zespół.1",
        "zespół_1_3": "zespół_1",
    }


def test_hidden_files_and_other_suffixes_are_no_teams_and_case_makes_no_difference(tmp_path: Path) -> None:
    path = folder(tmp_path, "a.txt", "LOUD.TXT", ".hidden.txt", "._a.txt", ".txt", "b.text", "c.txt.bak", "d")
    assert called(path) == {"LOUD": "LOUD", "a": "a"}


def test_tables_and_folder_play_together_and_given_ids_are_kept(tmp_path: Path) -> None:
    folder(tmp_path, "a.txt", "b.txt")
    path = scenario(tmp_path, 'prompts_dir = "../prompts"', '[[players]]\nid = "A"\n[[players]]\nid = "b"\n')
    assert called(path) == {"A": "A", "b": "b", "a_2": "a", "b_2": "b_2"}, "a given id is nobody else's name"


def test_a_player_may_have_a_prompt_file_and_no_id(tmp_path: Path) -> None:
    folder(tmp_path, "zespół 1.txt", "b.txt")
    path = scenario(
        tmp_path, "", '[[players]]\nprompt_file = "../prompts/zespół 1.txt"\n[[players]]\nid = "B"\nprompt = "Mine."\n'
    )
    assert called(path) == {"zespół 1": "zespół 1", "B": "B"}


@pytest.mark.parametrize(
    ("players", "expected"),
    [
        ('[[players]]\nprompt_file = "../prompts/a.txt"\n' * 2, {"a": "a", "a_2": "a_2"}),
        ('[[players]]\nid = "q"\ncount = 2\nprompt_file = "../prompts/a.txt"\n', {"q1": "q1", "q2": "q2"}),
        (
            '[[players]]\nid = "one"\nprompt_file = "../prompts/a.txt"\n[[players]]\nid = "two"\n',
            {"one": "a", "two": "two"},
        ),
    ],
    ids=["two tables", "a population", "one of its own"],
)
def test_teams_that_share_a_file_are_called_by_their_ids(
    players: str, expected: dict[str, str], tmp_path: Path
) -> None:
    folder(tmp_path, "a.txt", "b.txt")
    assert called(scenario(tmp_path, "", players)) == expected


@each_row(
    "names, expected",
    [
        ({}, {"A": "A", "B": "B", "C": "C"}),
        ({"A": "B"}, {"A": "A", "B": "B", "C": "C"}),
        ({"A": "B", "B": "C", "C": "A"}, {"A": "B", "B": "C", "C": "A"}),
        ({"A": "B", "B": "C"}, {"A": "A", "B": "B", "C": "C"}),
        ({"A": "x", "B": "x"}, {"A": "A", "B": "B", "C": "C"}),
        ({"A": "x", "B": "X"}, {"A": "x", "B": "X", "C": "C"}),
        ({"A": "хор", "B": "xop"}, {"A": "A", "B": "B", "C": "C"}),
    ],
)
def test_no_two_teams_are_called_the_same(names: dict[str, str], expected: dict[str, str]) -> None:
    assert called_by_files({player: names.get(player, "") for player in "ABC"}) == expected


# where names are shown


def test_the_name_is_in_game_state_tables_and_events_and_the_id_is_not(tmp_path: Path) -> None:
    folder(tmp_path, "zespół 1.txt", "zespół 2.txt")
    seats = "".join(f'[[players]]\nid = "zespol_{n}"\nprompt_file = "../prompts/zespół {n}.txt"\n' for n in (1, 2))
    loaded = load(scenario(tmp_path, "", seats))
    play = new_play(loaded, GAME)
    wave = play.start()
    while wave is not None:
        for ask in wave.asks:
            state = game_state(ask.request)
            teams = {state["YourTeam"]["Name"], *(team["Name"] for team in state["OpponentTeams"])}
            assert teams == {"zespół 1", "zespół 2"}
            assert "zespol" not in ask.request.prompt().text()
        wave = play.answer([GAME.bots["random"](ask.request, play.bot_rng(ask)) for ask in wave.asks])
    tables = GAME.tables(play.log, [])
    assert {row[6] for row in tables["detailed_logs"].rows} == {"zespół 1", "zespół 2"}
    assert {row[1] for row in tables["results"].rows} == {"zespół 1", "zespół 2"}
    assert "zespol" not in "".join(told.event.heading + told.event.content for told in play.log)
    assert "zespol" not in repr(GAME.panels(play.log, []))


# folders that cannot be used


def _broken(root: Path, how: str) -> Path:
    path = folder(root / "project", "a.txt", "b.txt")
    project, outside = root / "project", root / "outside"
    outside.mkdir()
    (outside / "c.txt").write_text("outside")
    match how:
        case "empty folder":
            (project / "empty").mkdir()
            (project / "empty" / "readme.md").touch()
            return scenario(project, 'prompts_dir = "../empty"')
        case "linked folder":
            (project / "link").symlink_to(outside)
            return scenario(project, 'prompts_dir = "../link"')
        case "linked file":
            (project / "prompts" / "c.txt").symlink_to(outside / "c.txt")
        case "link to nothing":
            (project / "prompts" / "c.txt").symlink_to("nothing")
        case "folder called .txt":
            (project / "prompts" / "c.txt").mkdir()
        case "latin-1":
            (project / "prompts" / "c.txt").write_bytes(b"\xff")
        case "secret":
            (project / "prompts" / "c.txt").write_text("key: sk-proj-0123456789abcdef")
        case "placeholder":
            (project / "prompts" / "c.txt").write_text("${nobody}")
        case "one file":
            (project / "prompts" / "b.txt").unlink()
        case _:
            return scenario(project, how)
    return path


@posix_names
@pytest.mark.parametrize(
    ("how", "line"),
    [
        ("empty folder", "game_config.prompts_dir: there is no .txt file in '../empty'"),
        ('prompts_dir = "../nowhere"', "game_config.prompts_dir: no such folder: ../nowhere"),
        ('prompts_dir = "../prompts/a.txt"', "game_config.prompts_dir: not a folder: ../prompts/a.txt"),
        ('prompts_dir = "../../outside"', "game_config.prompts_dir: ../../outside leads out of ROOT (valid: a folder "),
        ("linked folder", "game_config.prompts_dir: ../link leads out of ROOT (valid: a folder below it, or --allow-"),
        ("linked file", 'game_config.prompts_dir."c.txt": ../prompts/c.txt leads out of ROOT (valid: a file below it'),
        ("link to nothing", 'game_config.prompts_dir."c.txt": no such file: ../prompts/c.txt'),
        ("folder called .txt", 'game_config.prompts_dir."c.txt": not a regular file: ../prompts/c.txt'),
        ("latin-1", 'game_config.prompts_dir."c.txt": c.txt is not UTF-8 at byte 0 (line 1)'),
        ("secret", 'game_config.prompts_dir."c.txt": the file holds what looks like a key or password; keys come'),
        ("placeholder", 'game_config.prompts_dir."c.txt": has an unknown placeholder ${nobody} (known: ${player}, '),
        ("one file", "players: The Agent Auction Game is for 2 or more players, found 1 (valid: 2 or more)"),
        ("prompts_dir = 5", "game_config.prompts_dir: must be text, found 5"),
        ('prompts_dri = "../prompts"', "game_config.prompts_dri: unknown key (did you mean prompts_dir?)"),
        ("", "players: there are none; each needs a [[players]] table, or a file in game_config.prompts_dir"),
    ],
    ids=lambda given: given.replace("\n", " ")[:40],
)
def test_a_folder_that_cannot_be_used_is_one_line_with_the_key(how: str, line: str, tmp_path: Path) -> None:
    found = refused(_broken(tmp_path, how))
    assert found.replace(str(tmp_path / "project"), "ROOT").startswith(line)


def test_a_folder_outside_may_be_allowed(tmp_path: Path) -> None:
    path = _broken(tmp_path, 'prompts_dir = "../../outside"')
    (tmp_path / "outside" / "d.txt").write_text("outside too")
    assert [plan.id for plan in load(path, allow_dirs=[tmp_path / "outside"]).players] == ["c", "d"]


def test_teams_of_a_folder_need_a_model_in_the_defaults(tmp_path: Path) -> None:
    path = folder(tmp_path, "a.txt", "b.txt")
    path.write_text(path.read_text(encoding="utf-8").replace('model = "bot/random"', ""), encoding="utf-8")
    assert refused(path) == "defaults.model: is missing"


@pytest.mark.parametrize("given", [".", ""], ids=["dot", "empty"])
def test_the_folder_may_be_the_scenarios_own(given: str, tmp_path: Path) -> None:
    folder(tmp_path, "elsewhere.txt")
    for name in ("a.txt", "b.txt"):
        (tmp_path / "configs" / name).write_text("Bid.")
    assert list(called(scenario(tmp_path, f'prompts_dir = "{given}"'))) == ["a", "b"]


# resume and replay


def test_a_run_is_resumed_and_replayed_under_the_same_names_without_the_files(tmp_path: Path) -> None:
    path = folder(tmp_path / "here", "zespół 1.txt", "zespół 2.txt", "zespol 1.txt")
    live = play_scenario(load(path), tmp_path / "logs", env={}, stem="live")
    assert live.status == "completed", live.error
    wanted = json.dumps(without_volatile(live.history))
    for file in (tmp_path / "here" / "prompts").iterdir():
        file.unlink()
    assert prove(live.files).complete
    lines = live.files.journal.read_bytes().splitlines(keepends=True)
    for cut in (1, len(lines) // 2, len(lines) - 1):
        files = RunFiles(tmp_path / "logs", f"cut{cut}")
        files.journal.write_bytes(b"".join(lines[:cut]))
        resumed = resume_run(files, env={})
        assert resumed is not None
        assert json.dumps(without_volatile(resumed.history)) == wanted
    assert '"TeamName": "zespół 1"' in json.dumps(_prompts(live.files), ensure_ascii=False).replace("\\", "")


def _prompts(files: RunFiles) -> list[str]:
    """The prompts that a resumed game would ask."""
    head = json.loads(files.journal.read_text(encoding="utf-8").splitlines()[0])
    restored = Scenario.restore(head["scenario"], head["run"], seed=head["seed"])
    play: GamePlay = new_play(restored, GAME)
    wave, said = play.start(), []
    while wave is not None:
        said += [ask.request.prompt().text() for ask in wave.asks]
        wave = play.answer([GAME.bots["random"](ask.request, play.bot_rng(ask)) for ask in wave.asks])
    return said


def test_the_settings_of_the_game_keep_names_and_items_and_no_path(tmp_path: Path) -> None:
    first = load(folder(tmp_path / "here", "zespół 1!.txt", "b.txt"))
    second = load(folder(tmp_path / "there", "zespół 1!.txt", "b.txt"))
    text = json.dumps(first.game_settings(), ensure_ascii=False)
    assert text == json.dumps(second.game_settings(), ensure_ascii=False)
    assert "here" not in text.replace("there", "")
    assert "prompts/" not in text
    assert [player.get("called") for player in first.game_settings()["players"]] == [None, "zespół 1!"]
    assert first.game_settings()["game_config"]["items"]["scenario"] == "standard"
    assert first.game_settings()["game_config"]["prompts_dir"] is None
    run_settings = json.loads(json.dumps(first.run_settings()))
    restored = Scenario.restore(json.loads(text), run_settings, seed=first.seed)
    assert restored == first
    play = new_play(restored, GAME)
    play.close()
    assert play.table.names == {"zespół 1": "zespół 1!"}


def test_placeholders_in_a_strategy_are_what_the_teams_are_called(tmp_path: Path) -> None:
    path = folder(tmp_path, "zespół 1!.txt", "b.txt", prompt="You are ${player}, against ${others}, of ${players}.")
    prompts = {player.id: player.prompt for player in load(path).players}
    assert prompts["zespół 1"] == "You are zespół 1!, against b, of b, zespół 1!."


def test_a_history_lists_the_name_of_a_team_that_is_not_its_id(tmp_path: Path) -> None:
    result = play_scenario(load(folder(tmp_path, "zespół 1!.txt", "b.txt")), tmp_path / "logs", env={}, stem="run")
    assert [player.get("name") for player in result.history["players"]] == [None, "zespół 1!"]


def test_page_and_result_show_what_a_team_is_called_beside_its_id(tmp_path: Path) -> None:
    folder(tmp_path, "zespół 1!.txt", "b.txt")
    said = agentsim("run", "--config", "configs/x.toml", "--name", "run", "--display", "none", cwd=tmp_path)
    assert re.search(r"^  [12]\. zespół 1 \(zespół 1!\)  bot/random", said.out, re.MULTILINE)
    assert re.search(r"^  [12]\. b  bot/random", said.out, re.MULTILINE)
    for words in ((), ("--as-seen-by", "b")):
        assert agentsim("logs", "--filename", "run", *words, cwd=tmp_path).code == 0
        page = (tmp_path / "logs" / "run.html").read_text(encoding="utf-8")
        shown = re.findall(r'<span class="alias">(?:<bdi>)?([^<]*)', page)
        assert shown == ["zespół 1!"] * 2, "in the standings and on the card, and beside no other team"


def test_a_list_in_the_scenario_has_a_name_that_can_be_shown(tmp_path: Path) -> None:
    lot = '{ Name = "Compass", Quality = 60, IsRequired = true }'
    (tmp_path / "configs").mkdir()
    file = tmp_path / "configs" / "x.toml"
    players = "".join(f'[[players]]\nid = "{team}"\nmodel = "bot/random"\n' for team in "AB")
    table = f'[game_config.items]\nscenario = "a\\u001b[31mb"\nitems = [{lot}]\n'
    file.write_text(f'game = "auction"\n{table}{players}', encoding="utf-8")
    assert refused(file).startswith("game_config.items.scenario: must be visible characters on one line")
