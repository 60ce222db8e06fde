"""What `agentsim report` and `plan` say of designs, against what is known of them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from agentsim.analysis.intervals import ratio_intervals
from agentsim.engine.panel import DataTable, Forest
from agentsim.errors import UsageError
from agentsim.records.load import load_history
from agentsim.records.run_files import MANIFEST
from agentsim.runs.batch.run_batch import Batch
from agentsim.studies.batches import prepare_batch
from agentsim.studies.designs import EVERYONE, read_design
from agentsim.studies.effects import (
    Blocks,
    DesignEffects,
    DesignGames,
    FactorEffect,
    by_seed,
    contrast_of,
    design_effects,
    design_panels,
    effects,
)
from agentsim.studies.plan import Plan, blocks_needed, plan, power_of
from benchmarks import design_world
from tests.cli.command_line import ROOT, agentsim, trio

pytestmark = pytest.mark.usefixtures("without_workers", "few_draws")

BIDDER = ROOT / "configs" / "designs" / "bidder.toml"
MODEL, HEAT = "players.random.model", "players.hoarder.temperature"


def played(directory: Path, design: Any, config: Path | None = None, **options: Any) -> Path:
    """A folder with the batch of a design."""
    given = {"games": None, "cast": (), "rotate": False, "paired": False, "out": directory / "b", **options}
    folder, manifest = prepare_batch(config, design=design, logs_dir=directory, **given)
    assert Batch(manifest, folder, env={}, jobs=2).run().complete
    return folder


@pytest.fixture(scope="module")
def auction(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six blocks of the shipped design: a bidder's policy, and the temperature of a bot."""
    return played(tmp_path_factory.mktemp("auction"), BIDDER, games=24)


@pytest.fixture(scope="module")
def of_auction(auction: Path) -> DesignEffects:
    """What its games say, which no test changes."""
    return design_effects(auction) or pytest.fail("no design")


def one(found: DesignEffects | None, measure: str, *factors: str) -> FactorEffect:
    assert found is not None
    (the,) = {each for each in found.effects if (each.measure, each.factors) == (measure, factors)}
    return the


def test_a_design_shows_the_effect_by_students_interval_within_blocks(auction: Path, of_auction: DesignEffects) -> None:
    from scipy.stats import ttest_1samp

    manifest = json.loads((auction / MANIFEST).read_text("utf-8"))
    by_block: dict[int, dict[str, list[float]]] = {}
    for game in manifest["games"]:
        outcome = load_history(auction / f"{game['name']}.json").outcome
        assert outcome is not None
        (count,) = (each.score["count"] for each in outcome.standings if each.player == "random")
        level = manifest["design"]["cells"][game["cell"]][MODEL]
        by_block.setdefault(game["seed"], {}).setdefault(level, []).append(float(count))
    differences = [np.mean(block["bot/truthful"]) - np.mean(block["bot/random"]) for block in by_block.values()]
    expected = ttest_1samp(differences, 0).confidence_interval(0.95)
    found = one(of_auction, "count", MODEL)
    assert (found.player, found.blocks) == ("random", 6)
    assert found.mean == pytest.approx(np.mean(differences))
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.low_adj is not None
    assert found.low_adj < (found.low or 0) < (found.high or 0) < 0


def test_a_factor_that_does_nothing_has_no_effect_and_no_interval_to_cite(of_auction: DesignEffects) -> None:
    for factors in ((HEAT,), (MODEL, HEAT)):
        for each in of_auction.effects:
            if each.factors == factors:
                assert (abs(each.mean) < 1e-12, each.low, each.high_adj, each.sd) == (True, None, None, 0.0)


def test_effects_are_of_those_whom_the_factor_is_of(of_auction: DesignEffects) -> None:
    assert {(each.factors, each.player) for each in of_auction.effects} == {
        *(((MODEL,), "random"), ((HEAT,), "hoarder")),
        *(((MODEL, HEAT), "random"), ((MODEL, HEAT), "hoarder")),
    }
    assert {each.measure for each in of_auction.effects} == {"rank", "count", "budget"}, "those that were planned"


def test_a_report_opens_with_the_effects_the_means_of_the_cells_and_one_plot(
    auction: Path, of_auction: DesignEffects
) -> None:
    panels = design_panels(of_auction)
    assert [type(panel) for panel in panels] == [DataTable, DataTable, DataTable, Forest]
    assert [panel.title for panel in panels] == [
        *("Planned effects", "Cell means (1 of 2)", "Cell means (2 of 2)", "Forest plot")
    ]
    effects_table, *_, plot = panels
    assert isinstance(effects_table, DataTable)
    assert isinstance(plot, Forest)
    said = [(row[0], row[1], row[2]) for row in effects_table.rows]
    assert said[0] == ("model: bot/truthful vs. bot/random", "rank", "random")
    drawn = [(row.name, *group.title.split(" of ")) for group in plot.groups for row in group.rows]
    assert sorted(drawn) == sorted(said), "each effect is drawn once, beside others on the same measure"
    line = json.loads(agentsim("report", str(auction), "--json", cwd=auction.parent).out)
    assert len(line["designs"][0]["effects"]) == 12
    assert design_effects(auction.parent) is None


def test_a_block_without_all_its_games_is_left_out_and_counted(auction: Path, tmp_path: Path) -> None:
    for path in auction.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "game_0003.json").unlink()
    found = design_effects(tmp_path)
    assert found is not None
    assert (found.blocks, found.incomplete, one(found, "rank", MODEL).blocks) == (5, 1, 5)
    assert "Left out: 1 block without all games." in design_panels(found)[0].note
    text = (tmp_path / MANIFEST).read_text("utf-8")
    for old, new in (('"bot/truthful"]', '"bot/sniper"]'), ('"design":{', '"design":{"x":1,')):
        (tmp_path / MANIFEST).write_text(text.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(UsageError, match=r"manifest\.json: is not a batch's manifest: "):
            design_effects(tmp_path)
        resumed = agentsim("resume", str(tmp_path), cwd=tmp_path)
        assert (resumed.code, "manifest.json: is not a batch's manifest: " in resumed.line) == (2, True), resumed.err


def test_games_of_one_seed_count_once_and_models_are_measured_where_they_take_turns(tmp_path: Path) -> None:
    factors = {"factors": {"game_config.phases": [["pitches", "votes"], ["votes"]]}}
    models = ("bot/random", "bot/loyal")
    folder = played(tmp_path, factors, trio(tmp_path), games=24, cast=models, paired=True)
    found = design_effects(folder)
    assert found is not None
    assert {each.blocks for each in found.effects} == {6}, "of twelve blocks, two have each seed"
    assert {each.player for each in found.effects} == {EVERYONE, *models}
    blocks = DesignGames(folder).blocks()
    assert blocks is not None
    votes = [blocks.columns.index(("votes_against", who)) for who in ("A", "B", "C")]
    everyone = [blocks.columns.index(("votes_against", model)) for model in models]
    seats = [[game.models.count(place) for place in (0, 1)] for game in prepare(folder)]
    sums = (blocks.values[:, 0][:, everyone] * np.array(seats)).sum(axis=1)
    assert sums == pytest.approx(blocks.values[:, 0][:, votes].sum(axis=1))


def prepare(folder: Path) -> list[Any]:
    """The games of a batch, one a block."""
    from agentsim.runs.batch.manifest import require_manifest

    return list(require_manifest(folder).games[::2])


def test_blocks_of_one_seed_are_averaged() -> None:
    values = np.array([[1.0], [3.0], [5.0], [np.nan]])
    assert by_seed(values, [7, 7, 8, 8]).tolist() == [[2.0], [5.0]]
    assert math.isnan(by_seed(values, [1, 1, 2, 9])[2, 0])


def test_the_power_of_blocks_is_what_studies_after_pilots_have() -> None:
    """Drawn from normal blocks: each study is as large as its own pilot asks for."""
    from scipy.stats import ttest_1samp

    generator = np.random.default_rng(11)
    found = 0
    for _ in range(1_000):
        needed = blocks_needed(1.0, float(generator.normal(0, 2.0, size=20).std(ddof=1)), 19)
        found += ttest_1samp(generator.normal(1.0, 2.0, size=needed), 0).pvalue < 0.05
    assert 760 <= found <= 840
    number = blocks_needed(1.0, 2.0, 19)
    assert power_of(number - 1, 1.0, 2.0, 19) < 0.8 <= power_of(number, 1.0, 2.0, 19)
    assert blocks_needed(1.0, 2.0, 1_000_000) == 34, "with a known variance, Student's alone"
    assert number > 34


def test_a_plan_says_blocks_games_and_the_power_of_what_is_planned(auction: Path, of_auction: DesignEffects) -> None:
    design = read_design(BIDDER).factorial
    found: Plan = plan(design, auction, size=1.0, measure="rank", factor=MODEL)
    (needed,) = found.needed
    assert (found.pilot, found.planned, needed.calls, needed.cost_usd) == (6, 12, 0, 0.0)
    assert needed.pilot.sd == one(of_auction, "rank", MODEL).sd
    assert needed.games == 4 * (needed.blocks or 0)
    assert needed.power is not None
    assert (needed.power >= 0.8) == ((needed.blocks or 0) <= 20)
    (same,) = plan(design, auction, size=1.0, measure="rank", factor=HEAT).needed
    assert (same.pilot.sd, same.blocks, same.power) == (0.0, None, None)
    words = ("plan", "--design", str(BIDDER), "--effect", "1", "--pilot", str(auction), "--measure", "rank")
    said = agentsim(*words, cwd=auction.parent)
    assert (said.code, f"{needed.blocks}" in said.out, said.err) == (0, True, "")
    assert json.loads(agentsim(*words, "--json", cwd=auction.parent).out)["needed"][0]["blocks"] == needed.blocks


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 0.0}, "--effect: must be a number above 0"),
        ({"measure": "luck"}, "--measure luck: there is no such measure (measures: rank, win, count"),
        ({"player": "Zoe"}, "Zoe: plays in no game (valid: truthful1, "),
        ({"factor": "x"}, "--factor x: the design asks for no such effect"),
        ({"design": {"factors": {"players.0.model": ["bot/sniper", "bot/random"]}}}, "is of another design"),
        ({"pilot": ROOT}, "holds no finished games of a design"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_planned_is_said(auction: Path, options: dict[str, Any], message: str) -> None:
    design = read_design(options.pop("design", BIDDER)).factorial
    with pytest.raises(UsageError) as refused:
        plan(design, options.pop("pilot", auction), **{"size": 1.0, **options})
    assert message in str(refused.value)


def test_a_cells_mean_is_that_of_its_games_with_the_interval_of_a_condition(auction: Path) -> None:
    found = design_effects(auction) or pytest.fail("no design")
    blocks = DesignGames(auction).blocks() or pytest.fail("no games")
    place = blocks.columns.index(("count", "random"))
    for each in (each for each in found.cells if (each.measure, each.player) == ("count", "random")):
        own = blocks.values[:, each.cell, place]
        assert each.games == 6
        assert each.mean.value == pytest.approx(own.mean())
        assert each.levels == dict(zip(("model", "temperature"), blocks.design.cell_labels(each.cell), strict=True))
        (ends,) = ratio_intervals(own[:, None], np.ones((6, 1)))
        assert (each.mean.low, each.mean.high) == pytest.approx(tuple(ends), abs=1e-9, nan_ok=True)


def test_a_paper_takes_tables_and_a_figure_from_the_report_alone(auction: Path, tmp_path: Path) -> None:
    words = ("report", str(auction), "--figure", "forest.svg", "--format")
    said = agentsim(*words, "latex", "--out", "tex", cwd=tmp_path)
    assert (said.code, said.err) == (0, "figure: forest.svg\n")
    files = sorted(path.name for path in (tmp_path / "tex").iterdir())
    assert files == ["calls-and-cost.tex", "cell-means-1-of-2.tex", "cell-means-2-of-2.tex", "planned-effects.tex"]
    table = (tmp_path / "tex" / "planned-effects.tex").read_text("utf-8")
    assert "\nmodel: bot/truthful vs. bot/random & required components & random & $-$2." in table
    rows = [row for row in table.splitlines() if row.endswith(r" \\")]
    assert {row.count("&") for row in rows} == {4}
    drawn = ElementTree.parse(tmp_path / "forest.svg").getroot()
    zeros = {(line.get("x1"), line.get("x2")) for line in drawn.iter() if line.get("class") == "zero"}
    assert len(zeros) == 1, "one place of zero in all groups"
    assert len([mark for mark in drawn.iter() if mark.get("class") == "dot solo"]) == len(rows) - 1
    assert agentsim(*words, "markdown", cwd=tmp_path).out.startswith(
        "**Planned effects**\n\n| effect | measure | player |"
    )
    wrong = agentsim("report", str(auction), "--figure", "forest.png", cwd=tmp_path)
    assert (wrong.code, wrong.line) == (2, "--figure forest.png: must end with .svg")


@pytest.mark.slow
def test_measures_that_the_design_does_not_name_are_not_planned(auction: Path) -> None:
    said = agentsim("report", str(auction), "--measure", "quality", cwd=auction.parent).out
    assert "\nEffects\n" in said
    assert "Planned effects" not in said
    assert "In no game" not in said
    assert said.index("Exploratory") < said.index("\nEffects\n")
    found = json.loads(agentsim("report", str(auction), "--measure", "rank", "--json", cwd=auction.parent).out)
    assert {each["measure"] for each in found["designs"][0]["effects"]} == {"rank"}
    assert found["designs"][0]["planned"]


@pytest.mark.slow
def test_python_has_the_report_and_the_plan_as_frames_and_for_a_notebook(auction: Path) -> None:
    import agentsim as library

    report, needed = library.report(auction), library.plan(BIDDER, auction, effect=0.5, measure="rank")
    frame = report.to_frame()
    found = design_effects(auction) or pytest.fail("no design")
    assert frame[["effect", "measure", "mean"]].values.tolist() == [
        [each.effect, each.measure, each.mean] for each in found.effects
    ]
    assert list(report.tables["cells"].columns)[3:6] == ["model", "temperature", "measure"]
    assert needed.to_frame()["blocks"].dropna().tolist() == [each.blocks for each in needed.needed if each.blocks]
    for each in (report, needed):
        assert each._repr_html_().count("<table>") >= 1
    assert "<svg " in report._repr_html_()
    assert str(report) in agentsim("report", str(auction), cwd=auction.parent).out.replace("\n\n\n", "\n\n")


@pytest.mark.slow
def test_a_world_of_designs_is_said_as_it_is() -> None:
    """A short run of `benchmarks/inference.py --only designs`, which has 2,000 simulations."""
    generator = np.random.default_rng(1)
    said = [row for _ in range(40) for row in design_world.reported(generator)]
    assert 0.93 <= np.mean([held for *_, held, _ in said]) <= 0.97
    told = [found for _ in range(20) for *_, found in design_world.planned(generator)]
    assert 0.72 <= np.mean(told) <= 0.88
    ended = [covered for _ in range(60) for _, _, covered, *_ in design_world.stopped(generator)]
    assert 0.91 <= np.mean(ended) <= 0.97, "94% in the benchmark's table"


def test_the_means_of_the_world_are_its_truth() -> None:
    """The contrasts of two cells of four blocks, by hand."""
    played = design_world.blocks(np.random.default_rng(2), 4)
    contrast = design_world.CONTRASTS["a,b"]
    cells = {cell: played[:, index] for index, cell in enumerate(design_world.DESIGN.cells)}
    by_hand = sum((cells[1, 1, c] - cells[1, 0, c] - cells[0, 1, c] + cells[0, 0, c]) / 2 for c in (0, 1))
    assert contrast_of(played, contrast) == pytest.approx(by_hand)


def test_a_design_names_its_players_and_measures_or_all_are_taken(tmp_path: Path) -> None:
    design = {"factors": {"players.0.model": ["bot/random", "bot/loyal"]}, "players": ["C"], "replicates": 2}
    blocks = DesignGames(played(tmp_path, design, trio(tmp_path))).blocks()
    assert isinstance(blocks, Blocks)
    found = effects(blocks)
    assert {each.player for each in found} == {"C"}
    assert {"rank", "win", "rounds_survived", "voted to eliminate (received)"} <= {each.measure for each in found}
    assert {each.player for each in effects(blocks, player=EVERYONE, measures=("votes_against",))} == {EVERYONE}
