"""The benchmarks run, with parameters too small for measurements."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__ as all_benchmarks
from benchmarks.__main__ import Row
from benchmarks.inference import measured as simulated
from benchmarks.rooms import crossed
from benchmarks.senders import SENDERS
from benchmarks.society import exponent
from benchmarks.society_prompts import LISTS
from benchmarks.society_scarce import interval
from tests.cli.command_line import ROOT


def printed(benchmark: str, *words: str) -> list[dict[str, Any]]:
    """Run a benchmark in a process, since some register games that no other test may find; return its output."""
    command = [sys.executable, "-m", f"benchmarks.{benchmark}", *words, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_decision_crosses_at_most_25_modules_and_a_wave_of_three_at_most_35() -> None:
    found = crossed()
    assert {"engine/request.py", "runs/decide.py", "models/clients.py", "records/journal.py"} <= set(found.decision)
    assert len(found.decision) <= 25, found.decision
    assert {*found.decision, "engine/play.py", "runs/loop.py"} <= set(found.wave)
    assert len(found.wave) <= 35, found.wave


def test_all_goes_on_after_a_benchmark_that_fails_and_says_which_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> Iterator[Row]:
        yield Row("fails", "its first figure", 2.0, "s", "", 1)
        raise subprocess.CalledProcessError(1, ["pytest"])

    def works() -> Iterator[Row]:
        yield Row("works", "a ratio", 1.5, "x", "a peer", 1.3, least=True)

    monkeypatch.setattr(all_benchmarks, "SUBJECTS", (fails, works))
    figures = tmp_path / "figures.json"
    with pytest.raises(SystemExit, match="no figures, or not all: fails"):
        all_benchmarks.main(["all", "--out", str(figures)])
    table = capsys.readouterr().out.splitlines()[2:]
    assert [row.split(" | ")[-1] for row in table] == ["yes |", "no |"], "ratios first"
    assert [row["subject"] for row in json.loads(figures.read_text("utf-8"))["rows"]] == ["fails", "works"]
    all_benchmarks.main(["page", str(figures)])
    assert table == capsys.readouterr().out.rstrip().splitlines()[-2:]


@pytest.mark.slow
def test_every_path_of_a_call_is_measured() -> None:
    measured = printed(
        "calls", "--callers", "2", "--calls", "1", "--least", "2", "--latency", "0.001", "--repeats", "1", "--senders"
    )
    found = {(each["path"], each["shape"]) for each in measured}
    assert found >= {(path, shape) for path in SENDERS for shape in ("waves", "chains")}
    assert {path for path, _ in found} > set(SENDERS), "our own paths are measured as well"
    assert all(each["cpu_ms"] > 0 and each["wall_s"] > 0 for each in measured)


@pytest.mark.slow
def test_what_a_prefix_cache_takes_is_billed_as_the_history_says() -> None:
    island, auction = printed("cost", "--games", "agent_island", "auction")
    assert island["repeated"] >= 0.8
    assert auction["repeated"] >= 0.75
    cached, none = island["lists"]["gpt-5-mini"], island["lists"]["llama-3.3-70b"]
    assert cached["usd"] < cached["without_cache"]
    assert none["usd"] == none["without_cache"]


@pytest.mark.slow
def test_a_report_of_a_folder_is_timed_beside_the_command_itself() -> None:
    measured = {each["command"]: each for each in printed("reports", "--games", "3")}
    assert list(measured) == ["--version", "report", "report --exploratory", "report --html", "report --html, again"]
    assert all(each["cpu_s"] > 0 and each["peak_mib"] > 0 for each in measured.values())


@pytest.mark.slow
def test_games_of_monopoly_are_timed_whole_and_in_memory() -> None:
    measured = printed("monopoly", "--games", "1", "--repeats", "1")
    assert [each["path"] for each in measured] == ["journal and history", "in memory"]
    assert measured[0]["decisions"] == measured[1]["decisions"] > 100, "they are the same games"
    assert all(each["cpu_s"] > 0 for each in measured)


@pytest.mark.slow
def test_the_kernel_is_timed_in_memory_and_with_files() -> None:
    measured = printed("kernel", "--decisions", "10", "--repeats", "2")
    assert [(each["path"], each["decisions"]) for each in measured if each["decisions"]] == 2 * [
        ("in memory", 10),
        ("journal and history", 10),
    ]
    assert all(each["cpu_s"] > 0 for each in measured)


@pytest.mark.slow
def test_societies_are_timed_whole_and_in_memory_and_their_prompts_measured() -> None:
    *measured, prompts = printed("society", "--agents", "6", "--days", "1", "--repeats", "1", "--prompts", "1", "2")
    assert [each["path"] for each in measured] == ["in memory", "journal and history"]
    assert all((each["decisions"], each["agents"]) == (18, 6) for each in measured), "three turns each"
    assert all(each["cpu_s"] > 0 and each["peak_mib"] >= each["base_mib"] > 0 for each in measured)
    assert prompts["agents"] == 6
    assert prompts["longest_prompts"]["2"] >= prompts["longest_prompts"]["1"] > 1_000


@pytest.mark.slow
def test_runs_of_models_are_weighed() -> None:
    measured = printed("society", "--models", "6", "--days", "1")
    assert [each["answers"] for each in measured] == ["one", "varied"]
    assert all(min(each["journal"], each["history"], each["peak_mib"]) > 0 for each in measured)


@pytest.mark.slow
def test_prompts_of_personas_are_measured_and_billed() -> None:
    words = ("--agents", "20", "--days", "3", "--billed-days", "1", "--latency", "0.01")
    prompts, together, ahead = printed("society_prompts", *words)
    assert prompts["prompts"] == 180
    assert prompts["rest"] <= 6_000
    assert prompts["posts"] == prompts["proposals"] == 1
    assert prompts["own"]["Your earlier actions"] > 0.9
    assert ahead["prompt"] == together["prompt"]
    assert ahead["cached"] > together["cached"]
    for prices in LISTS:
        assert ahead["usd"][prices] < together["usd"][prices]
        # the machine decides whether one of the simultaneous calls begins after another has ended
        assert (together["usd"][prices] < together["uncached"][prices]) == (together["cached"] > 0)


@pytest.mark.slow
def test_a_forecast_is_compared_with_a_game() -> None:
    (found,) = printed("forecast", "--only", "agent_island_bots")
    assert (found["expected"], found["contained"]) == (found["real"], True)


@pytest.mark.slow
def test_ticks_of_models_are_timed() -> None:
    measured = printed("society", "--waves", "--agents", "3", "--days", "1", "--latency", "0.001")
    assert [(each["concurrency"], each["latency_s"]) for each in measured] == [(3, 0.001), (1, 0.001), (3, 0.0)]
    assert all(len(each["ticks_s"]) == 3 and each["cpu_ms"] > 0 and each["peak_mib"] > 0 for each in measured)


@pytest.mark.slow
def test_poor_worlds_are_played_under_every_law() -> None:
    ended = printed("society", "--scarce", "1", "--days", "1")
    laws = {each["law"] for each in ended}
    assert len(laws) == 6
    assert {each["condition"] for each in ended if each["law"] == "no law"} == {"nothing can pass", "citizens vote"}
    assert {each["laws"] for each in ended if each["law"] == "no law"} == {0}


def test_an_exponent_is_that_of_the_power() -> None:
    assert exponent([1, 10, 100], [3, 300, 30_000]) == pytest.approx(2)
    low, high = interval([1.0, 2.0, 3.0, 4.0])
    assert low < 2.5 < high


@pytest.mark.slow
def test_the_traders_of_the_market_are_measured_beside_what_papers_report() -> None:
    markets = ("gode_sunder_1", "gode_sunder_3", "call_market_1")
    *measured, book = printed("market", "--sessions", "1", "--orders", "500", "--markets", *markets)
    found = {(each["market"], each["trader"]): each for each in measured}
    assert len(found) == 9
    for market in markets[:2]:
        constrained = found[market, "zi_c"]
        assert constrained["efficiency"] > 95
        assert constrained["reported"] == "97-100%"
    assert found["call_market_1", "truthful"]["efficiency"] == 100
    assert book["orders_per_second"] > 0


@pytest.mark.parametrize("world", ["conditions", pytest.param("positions", marks=pytest.mark.slow)])
def test_worlds_whose_truth_is_known_are_simulated(world: str) -> None:
    assert all(0 <= rate <= 1 and many >= 2 for _, many, rate, _ in simulated(world, 2))


@pytest.mark.slow
def test_batches_of_bots_are_timed_with_one_worker_and_with_two() -> None:
    (measured,) = printed("batch", "--config", "configs/agent_island_bots.toml", "--games", "2", "--repeats", "1")
    assert measured["games"] == 2
    assert min(measured["one"], measured["two"], measured["speed_up"], measured["machine"]) > 0


@pytest.mark.slow
def test_changed_journals_histories_and_bundles_are_refused() -> None:
    (found,) = printed("tampering", "--flips", "60", "--alterations", "12")
    assert {kind: sum(counts.values()) for kind, counts in found.items()} == {
        "flipped bytes": 60,
        "altered histories and bundles": 12,
        "lies with new digests": 24,
    }


@pytest.mark.slow
def test_commands_are_struck_by_signals_and_lose_nothing() -> None:
    cells = printed(
        "kills", "--signals", "3", "--games", "auction", "--commands", "run", "export", "--lanes", "1", "--stop", "0.05"
    )
    assert [each["command"] for each in cells] == ["run", "export"]
    assert sum(each["kills"] + each["stops"] for each in cells) >= 3
    assert all((each["lost"], each["twice"], each["violations"]) == (0, 0, []) for each in cells)
    assert all(each["same"] == each["of"] for each in cells)


@pytest.mark.slow
def test_replies_and_envelopes_that_make_no_sense_crash_nothing() -> None:
    rows = printed("fuzz", "--replies", "300", "--envelopes", "300", "--jobs", "1")
    assert [(row["what"], row["inputs"], row["wrong"]) for row in rows] == [("replies", 300, 0), ("envelopes", 300, 0)]
