"""Batches of a design: every seed plays every cell, a kill costs nothing, and a width may end it."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import agentsim as library
from agentsim.errors import ScenarioError, UsageError
from agentsim.records.load import load_history
from agentsim.records.run_files import MANIFEST
from agentsim.runs.batch.manifest import require_manifest
from agentsim.runs.batch.run_batch import Batch
from agentsim.studies.batches import prepare_batch
from tests.batch.test_batch import QUIET, said, whole
from tests.cli.command_line import ROOT, agentsim, snapshot, trio
from tests.cli.processes import CommandProcess

pytestmark = pytest.mark.usefixtures("without_workers", "few_draws")

FACTORS: dict[str, Any] = {"players.0.model": ["bot/random", "bot/loyal"], "defaults.temperature": [0.2, 1.2]}
DESIGNS = sorted((ROOT / "configs" / "designs").glob("*.toml"))


def design(directory: Path, **more: Any) -> Path:
    """A design of two factors over the trio, in three blocks."""
    trio(directory)
    document = {"config": "trio.toml", "replicates": 3, **more}
    lines = [f"{key} = {json.dumps(value)}" for key, value in document.items()]
    lines += ["[factors]", *(f"{key} = {json.dumps(levels)}" for key, levels in FACTORS.items())]
    path = directory / "design.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def prepared(directory: Path, factors: dict[str, Any], **more: Any) -> Any:
    document = {"factors": factors, "replicates": 2, **more.pop("design", {})}
    options = {"games": None, "cast": (), "rotate": False, "paired": False, "out": directory / "b", **more}
    return prepare_batch(trio(directory), design=document, logs_dir=directory, **options)[1]


def test_every_seed_plays_every_cell_and_histories_have_its_levels(tmp_path: Path) -> None:
    done = agentsim("batch", "--design", str(design(tmp_path)), "--out", "b", "--json", *QUIET, cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert said(done.out)["design"] == "full factorial: 4 cells"
    manifest = json.loads((tmp_path / "b" / MANIFEST).read_text("utf-8"))
    assert Counter(game["seed"] for game in manifest["games"]).most_common() == [
        (game["seed"], 4) for game in manifest["games"][::4]
    ]
    for game in manifest["games"]:
        levels = manifest["design"]["cells"][game["cell"]]
        history = load_history(tmp_path / "b" / f"{game['name']}.json")
        players = history.scenario["players"]
        assert (players[0]["model"], players[1]["temperature"]) == tuple(levels.values())
        assert history.seed == game["seed"]
    orders = {tuple(game["cell"] for game in manifest["games"][block : block + 4]) for block in (0, 4, 8)}
    assert {tuple(sorted(order)) for order in orders} == {(0, 1, 2, 3)}
    assert len(orders) > 1, "their order is drawn by lot"


def test_models_take_turns_in_the_seats_of_each_cell_alike(tmp_path: Path) -> None:
    manifest = prepared(tmp_path, {"game_config.pitch_chars": [50, 60]}, games=12, cast=("bot/random", "bot/loyal"))
    for block in range(0, 12, 2):
        one, other = manifest.games[block : block + 2]
        assert (one.seed, one.seats, one.models) == (other.seed, other.seats, other.models)
        assert {manifest.scenario(game).config.pitch_chars for game in (one, other)} == {50, 60}
    assert len({game.models for game in manifest.games}) > 1
    assert manifest.balance()[0]["least"] == manifest.balance()[0]["most"], "each model in each seat"


def test_a_design_killed_and_resumed_equals_the_undisturbed_one_and_may_grow(tmp_path: Path) -> None:
    words = ("batch", "--design", str(design(tmp_path)), *QUIET)
    assert agentsim(*words, "--games", "24", "--out", "whole", cwd=tmp_path).code == 0
    process = CommandProcess(*words, "--out", "killed", "--jobs", "1", cwd=tmp_path)
    while not list((tmp_path / "killed").glob("*_0002.json")):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    assert process.wait(30) == -signal.SIGKILL
    assert agentsim("resume", "killed", *QUIET, cwd=tmp_path).code == 0
    assert agentsim(*words, "--out", "killed", "--games", "24", cwd=tmp_path).code == 0
    assert whole(tmp_path / "killed") == whole(tmp_path / "whole")


def test_what_was_planned_stays(tmp_path: Path) -> None:
    """Measures or interactions that are added when games are there would be chosen by their outcome."""
    first = agentsim("batch", "--design", str(design(tmp_path)), "--out", "b", *QUIET, cwd=tmp_path)
    assert first.code == 0
    before = snapshot(tmp_path / "b")
    for change in ({"interactions": [list(FACTORS)]}, {"measures": ["win"]}):
        path = design(tmp_path, **change)
        other = agentsim("batch", "--design", str(path), "--out", "b", *QUIET, cwd=tmp_path)
        assert (other.code, "its design is not this one" in other.err) == (2, True)
    assert snapshot(tmp_path / "b") == before


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ({"players.0.temprature": [0, 1]}, "factors.players.0.temprature: 0: unknown key (did you mean temperature?)"),
        ({"players.0.temperature": [0.5, 9]}, "factors.players.0.temperature: 9: must be"),
        ({"players.7.model": ["bot/loyal", "bot/random"]}, "players.7.model: bot/loyal: there is no such player"),
        ({"players.0.model": ["bot/loyal", "bot/royal"]}, "players.0.model: bot/royal: "),
        ({"players.0.count": [1, 2]}, "players.0.count = 1: seats other players than the base scenario"),
        ({"players.0.prompt_file": ["a.md", "b.md"]}, "players.0.prompt_file: a.md: "),
        ({"prices": [{}, {}, {}]}, "factors.prices: has one level twice"),
        ({"players.0.model": ["bot/loyal", "bot/random"], "players.1.memory": ["full", "x"]}, "players.1.memory: x: "),
        ({"game_config.memory": ["full", "brief"]}, "game_config.memory: brief: must be"),
        ({"players.2.model": ["human", "bot/loyal"]}, "is a person: a batch plays without"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_level_that_the_scenario_refuses_is_named(tmp_path: Path, factors: dict[str, Any], message: str) -> None:
    with pytest.raises((ScenarioError, UsageError)) as refused:
        prepared(tmp_path, factors)
    assert message in str(refused.value)
    assert not (tmp_path / "b").exists()


def test_levels_that_make_one_scenario_are_refused(tmp_path: Path) -> None:
    factors = {"defaults.model": ["bot/loyal", "bot/random"]}  # each player has its own
    with pytest.raises(
        ScenarioError, match=r"factors\.defaults\.model: bot/loyal and bot/random make the same scenario"
    ):
        prepared(tmp_path, factors)


def test_what_is_missing_or_does_not_fit_is_said(tmp_path: Path) -> None:
    config, path = str(trio(tmp_path)), str(design(tmp_path))
    for words, message in (
        (("--config", config), "--games: is missing"),
        (("--games", "4"), "--config: is missing"),
        (("--config", config, "--games", "4", "--until-width", "1"), "--until-width: is of a --design"),
        (("--design", path, "--games", "6"), "each seed plays all 4 cells of the design; ask for 8"),
        (("--design", path, "--until-width", "0"), "--until-width: must be a number above 0"),
        (("--design", path, "--until-width", "1", "--player", "Zoe"), "--player Zoe: plays in no game (valid: "),
        (("--design", path, "--until-width", "1", "--factor", "x"), "--factor x: the design asks for no such effect"),
        (("--config", path, "--games", "4"), "factors: are of a design, which `agentsim batch --design` plays"),
    ):
        refused = agentsim("batch", *words, "--out", "b", *QUIET, cwd=tmp_path)
        assert (refused.code, message in refused.err) == (2, True), refused.err
    assert not (tmp_path / "b").exists()


def test_a_width_ends_a_batch_which_then_stays_as_it_is(tmp_path: Path) -> None:
    words = ["batch", "--design", str(design(tmp_path)), "--games", "400", "--jobs", "1", "--out", "b", "--json"]
    words += ["--until-width", "2.5", "--measure", "rank", "--factor", "players.0.model", *QUIET]
    done = said(agentsim(*words, cwd=tmp_path).out)
    assert done["complete"]
    assert 80 <= done["done"] < 400
    assert done["done"] % 4 == 0
    assert "narrower than 2.5" in done["enough"]
    before = snapshot(tmp_path / "b")
    again = agentsim("resume", "b", "--json", *QUIET, cwd=tmp_path)
    assert (again.code, said(again.out)["enough"], said(again.out)["ended_now"]) == (0, done["enough"], {})
    assert snapshot(tmp_path / "b") == before
    report = said(agentsim("report", "b", "--json", cwd=tmp_path).out)["designs"][0]
    assert report["blocks"] == done["done"] // 4
    (rank,) = [
        each for each in report["effects"] if each["factors"] == ["players.0.model"] and each["measure"] == "rank"
    ]
    assert rank["high"] - rank["low"] < 2.5
    assert "that --until-width ended" in agentsim("report", "b", cwd=tmp_path).out
    wrong = agentsim(*words, "--measure", "ranks", cwd=tmp_path)
    assert (
        wrong.code,
        "--measure ranks: there is no such measure (did you mean rank?) (measures: rank, win" in wrong.err,
    ) == (2, True)


def test_blocks_that_have_begun_are_played_to_their_end_before_anything_is_looked_at(tmp_path: Path) -> None:
    manifest = prepared(tmp_path, FACTORS)
    directory, looks = tmp_path / "b", []

    def enough() -> str | None:
        looks.append(len(list(directory.glob("game_*.json"))))
        return "so it is" if looks[-1] >= 4 else None

    (directory / "game_0001.jsonl").touch()
    result = Batch(manifest, directory, env={}, jobs=1, enough=enough).run()
    assert (looks, result.enough, result.complete, result.exit_code) == ([4], "so it is", True, 0)


def test_python_plays_a_design_and_the_manifest_is_read_again(tmp_path: Path) -> None:
    played = asyncio.run(
        library.batch(trio(tmp_path), design={"factors": FACTORS, "replicates": 2}, out=tmp_path / "b", jobs=2)
    )
    assert len(played.names) == 8
    found = require_manifest(tmp_path / "b").design
    assert found.factorial is not None
    assert (found.cells, found.factorial.carriers) == (4, {"players.0.model": ("A",), "defaults.temperature": ()})
    text = (tmp_path / "b" / MANIFEST).read_text("utf-8")
    (tmp_path / "b" / MANIFEST).write_text(text.replace('"cell":3', '"cell":4', 1), encoding="utf-8")
    with pytest.raises(UsageError, match="is of none of 4 cells"):
        require_manifest(tmp_path / "b")


@pytest.mark.parametrize("path", DESIGNS, ids=[path.stem for path in DESIGNS])
def test_the_designs_that_are_shipped_can_be_played(path: Path, tmp_path: Path) -> None:
    for folder in ("configs", "prompts", "items"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    found = agentsim("validate", "--config", str(Path("configs", "designs", path.name)), cwd=tmp_path)
    assert (found.code, ": a design; " in found.out, ", can be played" in found.out) == (0, True, True), found.err


def test_the_price_of_a_model_that_only_a_level_names_is_of_use(tmp_path: Path) -> None:
    path, config = design(tmp_path), tmp_path / "trio.toml"
    alike = re.sub(r"bot/\w+", "bot/random", config.read_text("utf-8"))
    priced = "".join(f'\n[prices."bot/{name}"]\ninput = 0\noutput = 0\n' for name in ("loyal", "none"))
    config.write_text(alike + priced, encoding="utf-8")
    found = agentsim("validate", str(path), cwd=tmp_path)
    idle = [line.split('"')[1] for line in found.err.splitlines() if "no player uses this model" in line]
    assert (found.code, idle) == (0, ["bot/none"])


def test_a_measure_is_of_a_width_that_is_asked_for(tmp_path: Path) -> None:
    words = ("--design", str(ROOT / "configs" / "designs" / "bidder.toml"), "--games", "4", "--measure", "rank")
    done = agentsim("batch", *words, cwd=tmp_path)
    assert (done.code, "--until-width" in done.line) == (2, True)
    assert not (tmp_path / "logs").exists()


@pytest.mark.slow
def test_an_interaction_that_no_game_has_is_said_and_the_rest_is_reported(tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text(
        f'config = "{ROOT}/configs/auction.toml"\nreplicates = 2\nmeasures = ["rank", "helped (done)"]\n'
        '[factors]\n"game_config.budget" = [1000, 500]\n',
        "utf-8",
    )
    checked = agentsim("validate", "d.toml", "--set", "defaults.model=bot/random", cwd=tmp_path)
    assert (checked.code, checked.line) == (0, "d.toml: measures: no game on bots has helped (done)")
    done = agentsim("batch", "--design", "d.toml", "--out", "b", "--set", "defaults.model=bot/random", cwd=tmp_path)
    assert done.code == 0, done.err
    report = agentsim("report", "b", cwd=tmp_path)
    assert (report.code, "In no game, or the same in all: helped (done)." in report.out) == (0, True), report.err
    csv = agentsim("report", "b", "--format", "csv", cwd=tmp_path)
    assert "# design\n" in csv.out


def test_a_misspelt_measure_is_refused_everywhere_with_those_that_there_are(tmp_path: Path) -> None:
    good = str(design(tmp_path, measures=["rank", "votes_against"], replicates=5))
    assert agentsim("batch", "--design", good, "--out", "b", *QUIET, cwd=tmp_path).code == 0
    valid = "(did you mean votes_against?) (measures: rank, win, rounds_survived, votes_against, jury_votes, voted "
    wrong = "vote_against: there is no such measure"
    option = ("--measure", "vote_against")
    refused = [
        agentsim("report", "b", *option, cwd=tmp_path),
        agentsim("plan", "--design", good, "--pilot", "b", "--effect", "1", *option, cwd=tmp_path),
        agentsim("batch", "--design", good, "--out", "c", "--until-width", "1", *option, *QUIET, cwd=tmp_path),
    ]
    assert [each.line.startswith(f"--measure {wrong} {valid}") for each in refused] == [True] * 3
    bad = str(design(tmp_path, measures=["rank", "vote_against"], replicates=5))
    in_file = [
        agentsim("validate", bad, cwd=tmp_path),
        agentsim("batch", "--design", bad, "--out", "c", *QUIET, cwd=tmp_path),
        agentsim("plan", bad, "--pilot", "b", "--effect", "1", cwd=tmp_path),
    ]
    assert {each.code for each in (*refused, *in_file)} == {2}
    assert all(f"{wrong} {valid}" in each.line for each in in_file)
    assert all("measures.1: " in each.line for each in in_file[:2])
    assert not (tmp_path / "c").exists()


PRICED = """\
game = "agent_island"
seed = 7
defaults = { model = "lab/m" }
players = [{ id = "A" }, { id = "B" }, { id = "C" }]
[providers.lab]
base_url = "http://127.0.0.1:9/v1"
[prices."lab/m"]
input = 1.0
output = 2.0
"""


def forecast_in(out: str) -> tuple[str, int, float]:
    """The games that a forecast is of, and its calls and dollars."""
    head, line = out.partition("\nforecast")[2].splitlines()[:2]
    return head.partition(",")[0], int(line.split()[1].replace(",", "")), float(line.split("cost $")[1].split(",")[0])


def test_a_forecast_is_of_the_whole_design_or_batch(tmp_path: Path) -> None:
    (tmp_path / "trio.toml").write_text(PRICED, encoding="utf-8")
    one, calls, usd = forecast_in(agentsim("validate", "trio.toml", cwd=tmp_path).out)
    (tmp_path / "d.toml").write_text(
        'config = "trio.toml"\nreplicates = 30\n[factors]\ndefaults.temperature = [0.2, 1.2]\n', encoding="utf-8"
    )
    assert one == ""
    for words, games in ((("d.toml",), 60), (("d.toml", "--games", "8"), 8), (("trio.toml", "--games", "50"), 50)):
        of, all_calls, all_usd = forecast_in(agentsim("validate", *words, cwd=tmp_path).out)
        assert (of, all_calls) == (f" of {games} games", games * calls)
        assert all_usd == pytest.approx(games * usd, rel=0.02)


def test_a_report_names_levels_as_the_design_does_and_never_by_a_prompts_text(tmp_path: Path) -> None:
    trio(tmp_path)
    text = (
        'config = "trio.toml"\nreplicates = 5\nmeasures = ["rank"]\n[factors]\n'
        'players.0.prompt = ["You keep every word.", "You break your word."]\nplayers.1.temperature = [0.2, 1.2]\n'
    )
    (tmp_path / "d.toml").write_text(text, encoding="utf-8")
    words = ("batch", "--design", "d.toml", "--out", "b", *QUIET)
    assert agentsim(*words, cwd=tmp_path).code == 0
    said = agentsim("report", "b", "--exploratory", cwd=tmp_path).out
    assert "\nprompt: prompt 2 vs. prompt 1 " in said
    assert "word" not in said
    games = snapshot(tmp_path / "b")
    labels = '[names]\nplayers.0.prompt = "persona"\n[labels]\nplayers.0.prompt = ["loyal", "betray"]\n'
    (tmp_path / "d.toml").write_text(text + labels, encoding="utf-8")
    assert agentsim(*words, cwd=tmp_path).code == 0
    assert {path for path, content in snapshot(tmp_path / "b").items() if games[path] != content} == {MANIFEST}
    said = agentsim("report", "b", "--exploratory", cwd=tmp_path).out
    assert "\npersona: betray vs. loyal " in said
    assert "Standings (persona=loyal, temperature=0.2)" in said
    assert "word" not in said


def test_exports_have_the_block_the_cell_and_each_factor_as_written(tmp_path: Path) -> None:
    assert agentsim("batch", "--design", str(design(tmp_path)), "--out", "b", *QUIET, cwd=tmp_path).code == 0
    manifest = json.loads((tmp_path / "b" / MANIFEST).read_text("utf-8"))
    found = library.load(tmp_path / "b").tables["standings"]
    assert list(found.columns)[:8] == ["run", "game", "seed", "status", "block", "cell", *FACTORS]
    expected = {
        game["name"]: (number // 4, game["cell"], *manifest["design"]["cells"][game["cell"]].values())
        for number, game in enumerate(manifest["games"])
    }
    rows = found[["run", "block", "cell", *FACTORS]].itertuples(index=False, name=None)
    assert {run: tuple(cells) for run, *cells in rows} == expected
