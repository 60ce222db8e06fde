"""What `agentsim compare` says of arms, against what is known of them."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agentsim as library
from agentsim.analysis.arms import (
    Comparison,
    PairedEffect,
    arm_panels,
    branches_needed,
    comparison,
    comparisons,
    repeats,
)
from agentsim.analysis.intervals import FEWEST, paired_intervals
from agentsim.errors import UsageError
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles
from agentsim.runs.fork import Change, ForkPoint, jobs_of_arm
from agentsim.runs.run import RunOptions
from agentsim.scenario.load import load
from benchmarks.arms_world import differences
from benchmarks.inference import measured
from tests.amounts import amounts
from tests.cli.command_line import ROOT, agentsim, trio
from tests.playing import branch_of, play_scenario

LOYAL = ("players.0.model=bot/loyal",)


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of three bots, eight branches of the arm `loyal`, of `same` and of their control."""
    directory = tmp_path_factory.mktemp("forked")
    files = play_scenario(load(trio(directory)), directory, env={}, stem="parent").files
    cut = ForkPoint.of(files, 2)
    for arm, changes in (("loyal", LOYAL), ("same", ())):
        for wanted in jobs_of_arm(cut, arm, 8, Change(settings=changes)):
            wanted.run(RunOptions({})).play_sync()
    return directory


def effect(found: Comparison, arm: str, measure: str, player: str) -> PairedEffect:
    (one,) = [each for each in found.arms if each.arm == arm]
    (the,) = [each for each in one.effects if (each.measure, each.player) == (measure, player)]
    return the


def test_an_effect_is_the_mean_of_branch_k_less_branch_k(forked: Path) -> None:
    found = comparison(forked, "parent")
    assert (found.of, found.at, found.control, [arm.arm for arm in found.arms]) == (
        "parent",
        2,
        "control",
        ["loyal", "same"],
    )

    def votes(arm: str, number: int) -> float:
        outcome = load_history(forked / f"parent_at2_{arm}_b{number}.json").outcome
        assert outcome is not None
        return next(float(each.score["votes_against"]) for each in outcome.standings if each.player == "A")

    apart = [votes("loyal", number) - votes("control", number) for number in range(1, 9)]
    said = effect(found, "loyal", "votes_against", "A")
    assert said.pairs == 8
    assert said.mean == pytest.approx(np.mean(apart))
    assert said.arm_mean - said.control_mean == pytest.approx(said.mean)
    assert said.sd == pytest.approx(np.std(apart, ddof=1))
    ranks = [effect(found, "loyal", "rank", player).mean for player in "ABC"]
    assert sum(ranks) == pytest.approx(0), "what one gains in rank the others lose"
    measures = {each.measure for each in found.arms[0].effects}
    assert measures >= {
        "rank",
        "win",
        "votes_against",
        "jury_votes",
        "voted to eliminate (done)",
        "voted to eliminate (received)",
    }
    for player in "ABC":
        received = effect(found, "loyal", "voted to eliminate (received)", player)
        assert received.mean == effect(found, "loyal", "votes_against", player).mean


def in_words(measure: str) -> str:
    """Return how tables name a measure of a game that declares no words for it."""
    return measure.replace("_", " ")


def test_one_fact_under_two_names_is_one_row(forked: Path) -> None:
    found = comparison(forked, "parent")
    again = {(each.measure, each.player): each.same_as for each in found.arms[0].effects if each.same_as is not None}
    names = {"votes_against", "voted to eliminate (received)"}
    assert any({measure, other} == names for (measure, _), other in again.items())
    (panel, _) = arm_panels([found], every_measure=True)
    assert {(row[0], row[1]) for row in panel.rows}.isdisjoint((in_words(measure), player) for measure, player in again)
    assert len(panel.rows) + len(again) == len(found.arms[0].effects), "JSON has all of them"
    assert f"Not shown: {len(again)} row" in panel.note


def test_measures_whose_numbers_coincide_for_one_player_alone_are_two_facts(tmp_path: Path) -> None:
    """Of three branches, grudge2 casts as many votes as it gets in each; other players do not."""
    files = play_scenario(load(ROOT / "configs" / "agent_island_bots.toml"), tmp_path, env={}, stem="parent").files
    for wanted in jobs_of_arm(ForkPoint.of(files, 40), "hot", 3, Change(settings=("players.4.model=bot/random",))):
        wanted.run(RunOptions({})).play_sync()
    found = comparison(tmp_path, "parent")
    panel = arm_panels([found], every_measure=True)[0]
    shown = {(row[0], row[1]) for row in panel.rows}
    cast = effect(found, "hot", "voted to eliminate (done)", "grudge2")
    received = effect(found, "hot", "votes_against", "grudge2")
    assert (cast.control_mean, cast.arm_mean, cast.sd) == (received.control_mean, received.arm_mean, received.sd)
    assert cast.same_as is None
    assert ("voted to eliminate (done)", "grudge2") in shown
    again = {each.measure: each.same_as for each in found.arms[0].effects if each.same_as is not None}
    assert again == {"voted for (received)": "jury_votes", "voted to eliminate (received)": "votes_against"}


def test_a_measure_that_players_lack_is_the_same_as_one_that_is_0_for_them() -> None:
    votes = np.array([[[1.0, 0, 1, 3], [2, 0, 2, 3]], [[0, 0, 0, 3], [1, 0, 1, 3]]])
    columns = [("votes", "A"), ("votes", "B"), ("voted (received)", "A"), ("cast", "B")]
    assert repeats(columns, votes) == [None, None, "votes", None]
    votes[..., 1] = 1
    assert repeats(columns, votes) == [None] * 4


def test_the_trunk_is_no_data_point(forked: Path, tmp_path: Path) -> None:
    whole = comparison(forked, "parent").to_json()
    for path in forked.iterdir():
        if path.stem != "parent":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    assert comparison(tmp_path, "parent").to_json() == whole
    report = json.loads(agentsim("report", ".", "--json", cwd=forked).out)
    assert report["games"] == 1, "branches are in no standings beside their parent"
    assert report["arms"] == json.loads(json.dumps([whole]))
    said = agentsim("report", ".", cwd=forked).out
    assert "parent from decision 2 on: loyal (players.0.model=bot/loyal) vs. control" in said
    assert "Branches\n" not in said


def test_arms_that_are_identical_in_every_pair_are_said_to_be(forked: Path) -> None:
    found = comparison(forked, "parent")
    assert [(arm.arm, arm.identical) for arm in found.arms] == [("loyal", False), ("same", True)]
    (same,) = [arm for arm in found.arms if arm.identical]
    assert {(each.mean, each.low, each.high, each.low_adj, each.high_adj) for each in same.effects} == {(0,) * 5}
    (_, note) = [panel.note for panel in arm_panels([found])]
    assert note.startswith("same and control are identical in every one of 8 pairs")


def test_one_lucky_trunk_gives_no_effect_to_what_changes_nothing(tmp_path: Path) -> None:
    """Twelve branches unchanged and twelve with another bot, without names: each less its partner, never the trunk."""
    config = tmp_path / "trio.toml"
    files = play_scenario(load(trio(tmp_path)), tmp_path, env={}, stem="parent").files
    cut = ForkPoint.of(files, 2)
    for changes in ((), LOYAL):
        for number in range(1, 13):
            branch_of(cut, changes=changes, number=number).play_sync()
    assert config.is_file()
    (found,) = comparisons(tmp_path)
    (arm,) = found.arms
    assert (arm.arm, arm.pairs, arm.unpaired) == ("players.0.model=bot/loyal", 12, 0)


def test_branches_without_a_finished_partner_are_counted_and_named(forked: Path, tmp_path: Path) -> None:
    for path in forked.iterdir():
        if path.name != "parent_at2_loyal_b3.json":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    found = comparison(tmp_path, "parent")
    assert [(arm.pairs, arm.unpaired) for arm in found.arms] == [(7, 1), (8, 0)]
    assert found.left_out == {"parent_at2_loyal_b3": "has no history"}
    said = agentsim("compare", "parent", "--logs-dir", ".", cwd=tmp_path)
    assert said.line == "1 left out: parent_at2_loyal_b3 has no history"
    assert "Left out: 1 branch without a finished partner." in said.out


def test_a_branch_of_one_number_and_chance_counts_once(forked: Path, tmp_path: Path) -> None:
    for path in forked.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    before = comparison(tmp_path, "parent")
    (tmp_path / "copy.json").write_bytes((tmp_path / "parent_at2_loyal_b1.json").read_bytes())
    branch_of(ForkPoint.of(RunFiles(tmp_path, "parent"), 2), number=2).play_sync()
    found = comparison(tmp_path, "parent")
    assert found.arms == before.arms
    why = "has the number and the chance of another branch of its arm"
    assert found.left_out == {"parent_at2": why, "parent_at2_loyal_b1": why}, "of a copy, the first by name counts"


def test_compare_prints_one_object_and_says_how_many_branches_an_effect_needs(forked: Path) -> None:
    said = agentsim("compare", "parent", "--effect", "0.5", "--json", "--logs-dir", ".", cwd=forked)
    line: dict[str, Any] = json.loads(said.out)
    assert (said.code, line["control"], [arm["arm"] for arm in line["arms"]]) == (0, "control", ["loyal", "same"])
    rank = line["arms"][0]["effects"][0]
    assert (rank["measure"], rank["player"], rank["pairs"]) == ("rank", "A", 8)
    assert rank["low_adj"] <= rank["low"] <= rank["mean"] <= rank["high"] <= rank["high_adj"]
    assert rank["needed"] == branches_needed(0.5, rank["sd"])
    shown = agentsim("compare", "parent", "--effect", "0.5", "--logs-dir", ".", cwd=forked).out
    assert "branches for 0.5" in shown
    other = agentsim("compare", "parent", "--control", "same", "--json", "--logs-dir", ".", cwd=forked)
    assert json.loads(other.out)["control"] == "same"


def shown(forked: Path, *words: str) -> list[tuple[str, str]]:
    """Return the measure and player of each row that `compare` prints for the arm loyal."""
    said = agentsim("compare", "parent", *words, "--logs-dir", ".", cwd=forked)
    assert said.code == 0, said.err
    table = said.out.partition("loyal")[2].partition("\n\n")[0].splitlines()
    cells = [re.split(r"  +", row) for row in table if re.search(r"  \d+  +[+-]?\d", row)]
    return [(cell[0], cell[1]) for cell in cells]


def test_rank_win_and_scores_are_shown_and_interactions_where_they_are_asked_for(forked: Path) -> None:
    (arm,) = [arm for arm in comparison(forked, "parent").arms if arm.arm == "loyal"]
    own = [each for each in arm.effects if each.same_as is None]
    every = [(in_words(each.measure), each.player) for each in own]
    results = [(in_words(each.measure), each.player) for each in own if not each.interaction]
    assert {"rank", "win"} <= {measure for measure, _ in results}
    assert shown(forked) == results
    assert shown(forked, "--all") == every != results
    interaction = next(each.measure for each in arm.effects if each.same_as is None and each.interaction)
    assert {measure for measure, _ in shown(forked, "--measure", interaction)} == {interaction}
    assert {player for _, player in shown(forked, "--player", "A")} == {"A"}
    assert shown(forked, "--measure", "rank", "--player", "A") == [("rank", "A")]


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("--measure", "rnk", "--measure rnk: has no effect here (did you mean rank?) (valid: rank, win, "),
        ("--player", "Z", "--player Z: has no effect here (valid: A, B, C"),
    ],
)
def test_a_measure_or_player_that_is_not_there_is_named_with_those_that_are(
    option: str, value: str, problem: str, forked: Path
) -> None:
    said = agentsim("compare", "parent", option, value, "--logs-dir", ".", cwd=forked)
    assert (said.code, said.out) == (2, "")
    assert said.line.startswith(problem)


def test_a_program_compares_and_forks_as_the_command_line_does(forked: Path, tmp_path: Path) -> None:
    found = library.compare("parent", logs_dir=forked, effect=0.5)
    assert repr(found) == "<Comparison of parent at 2: loyal, same beside control>"
    printed = agentsim("compare", "parent", "--effect", "0.5", "--logs-dir", str(forked), cwd=forked)
    told = printed.out.splitlines()
    assert [line for line in str(found).splitlines() if line] == [line for line in told if line]
    assert found.to_json() == comparison(forked, "parent", effect=0.5).to_json()
    frame = found.to_frame()
    assert frame[["arm", "measure", "mean"]].values.tolist() == [
        [arm.arm, each.measure, each.mean] for arm in found.arms for each in arm.effects
    ]
    assert found._repr_html_().count("<table>") == len(found.arms)
    for path in forked.glob("parent.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    words = ("fork", "parent", "--at", "2", "--arm", "loyal", "--set", LOYAL[0], "--branches", "1", "--no-html")
    assert agentsim(*words, "--display", "none", "--logs-dir", ".", cwd=tmp_path).code == 0
    to = {"at": 2, "arm": "loyal", "branches": 2, "set": {"players.0.model": "bot/loyal"}, "logs_dir": tmp_path}
    runs = asyncio.run(library.fork_arm("parent", **to))  # type: ignore[arg-type] # options of several types
    assert [run.name for run in runs] == [f"parent_at2_{arm}_b{k}" for k in (1, 2) for arm in ("loyal", "control")]
    assert library.compare("parent", logs_dir=tmp_path).arms[0].pairs == 2


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("nosuch",), ".: there is no run called 'nosuch'"),
        (("parent", "--at", "3"), "parent: has no finished branches of an arm beside the arm control at decision 3"),
        (("parent", "--control", "no"), "parent: has no finished branches of an arm beside the arm no; make them with"),
        (("parent", "--effect", "0"), "--effect: must be a number above 0"),
        (("parent", "--effect", "nan"), "--effect: must be a number above 0"),
    ],
)
def test_what_cannot_be_compared_is_a_line(words: tuple[str, ...], problem: str, forked: Path) -> None:
    said = agentsim("compare", *words, "--logs-dir", ".", cwd=forked)
    assert (said.code, said.out, said.line[: len(problem)]) == (2, "", problem)


def test_arms_that_leave_a_run_at_several_decisions_are_told_apart(tmp_path: Path) -> None:
    files: RunFiles = play_scenario(load(trio(tmp_path)), tmp_path, env={}, stem="parent").files
    for at in (1, 2):
        for wanted in jobs_of_arm(ForkPoint.of(files, at), "loyal", 1, Change(settings=LOYAL)):
            wanted.run(RunOptions({})).play_sync()
    with pytest.raises(UsageError, match=r"choose one with --at \(valid: 1, 2\)"):
        comparison(tmp_path, "parent")
    assert comparison(tmp_path, "parent", at=1).at == 1
    assert [each.at for each in comparisons(tmp_path)] == [1, 2]


def test_fewer_than_five_pairs_or_equal_differences_have_no_interval() -> None:
    few = paired_intervals(np.arange(FEWEST - 1.0)[:, None])
    assert few[0] == pytest.approx(1.5)
    assert np.isnan(few[1:]).all()
    constant = paired_intervals(np.column_stack([np.ones(9), np.arange(9.0)]))
    assert np.isnan(constant[1:, 0]).all()
    assert not np.isnan(constant[1:, 1]).any()


def test_a_pair_without_a_value_counts_for_the_other_measures_alone() -> None:
    values = differences(np.random.default_rng(2), 20, 0.3)
    values[3, 0] = np.nan
    found, rest = paired_intervals(values), paired_intervals(np.delete(values, 3, axis=0)[:, :1])
    assert found[:3, 0] == pytest.approx(rest[:3, 0])


@pytest.mark.parametrize("pairs", [30, 80])
def test_intervals_are_students_and_agree_with_the_bootstrap(pairs: int) -> None:
    from scipy.stats import bootstrap, ttest_1samp

    values = differences(np.random.default_rng(pairs), pairs, 0.5)
    mean, low, high, low_adj, high_adj = paired_intervals(values)
    student = ttest_1samp(values, 0).confidence_interval(0.95)
    assert low == pytest.approx(student.low)
    assert high == pytest.approx(student.high)
    generator = np.random.default_rng(1)
    for index in range(12):  # rank, win and score; of few actions the percentiles are coarse
        drawn = bootstrap((values[:, index],), np.mean, n_resamples=4_000, method="percentile", rng=generator)
        ends = drawn.confidence_interval
        assert [ends.low, ends.high] == pytest.approx([low[index], high[index]], abs=0.15 * (high - low)[index])
    assert (low_adj <= low).all()
    assert (high_adj >= high).all()
    assert mean == pytest.approx(values.mean(axis=0))


def test_a_single_measure_has_one_interval() -> None:
    """Alone in its family, it holds together with itself: the drawn quantile is Student's, about."""
    values = np.random.default_rng(3).normal(size=(60, 1))
    _, low, high, low_adj, high_adj = paired_intervals(values)[:, 0]
    assert high_adj - low_adj == pytest.approx(high - low, rel=0.05)


@amounts("simulations", 100, 300)
def test_in_worlds_whose_truth_is_known_intervals_hold_it_as_often_as_they_say(simulations: int) -> None:
    """Fewer forks than `benchmarks.inference` plays: three standard errors of 300 are 4 points."""
    rates = {what: rate for what, _, rate, _ in measured("arms", simulations)}
    assert rates["arm, no effect, 40 pairs: false positives"] == pytest.approx(0.05, abs=0.02)
    assert 0.93 <= rates["arm, planted effect, 40 pairs: covered"] <= 0.97
    assert max(rate for what, rate in rates.items() if "any that hold together" in what) <= 0.07 + 0.04


def test_so_many_branches_find_the_effect_with_the_power_that_is_promised() -> None:
    number = branches_needed(0.5, 1.0)
    assert number == 34, "as G*Power 3.1 has it for a paired t-test with dz 0.5"
    generator = np.random.default_rng(4)
    found = 0
    for _ in range(1_000):
        _, low, high, _, _ = paired_intervals(generator.normal(0.5, 1.0, size=(number, 1)), draws=0)[:, 0]
        found += low > 0 or high < 0
    assert found / 1_000 == pytest.approx(0.8, abs=0.04)
    assert [branches_needed(size, 1.0) for size in (3.0, 5.0, 1e300)] == [5, 5, 5], "fewer have no interval"
    assert branches_needed(3.0, 0.62) == 5
    assert branches_needed(1e-300, 1.0) is None
    assert branches_needed(0.0001, 1.0) == pytest.approx(7.849e8, rel=1e-3)
