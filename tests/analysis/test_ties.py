"""Ties: labels that the games do not tell apart have the same printed numbers, and none of them is named as best."""

from __future__ import annotations

import re
from itertools import permutations
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

from agentsim.analysis.finished_games import GameRecord
from agentsim.analysis.posterior import PRINTED, choice_sets, posterior
from agentsim.analysis.standings import Standings, standings
from agentsim.analysis.symmetry import interchangeable
from agentsim.engine.panel import DataTable
from agentsim.studies.report_tables import panels
from benchmarks.inference_worlds import entrants
from tests.cli.command_line import agentsim

pytestmark = pytest.mark.usefixtures("without_workers")

IDLE = """
game = "market"
players = [{ id = "A", model = "bot/idle" }, { id = "B", model = "bot/idle" }, { id = "C", model = "bot/idle" }]
game_config = { rounds = 1 }
"""


def game(number: int, ranks: dict[str, float]) -> GameRecord:
    return GameRecord(f"g{number}", "any", number, entrants("".join(ranks), ranks=list(ranks.values())), (), 0.0)


def games(*ranks: dict[str, float]) -> list[GameRecord]:
    return [game(number, each) for number, each in enumerate(ranks)]


def numbers(found: Standings) -> dict[str, tuple[object, ...]]:
    """What is printed of each label, but for its name."""
    told: dict[str, list[object]] = {line.label[0]: [] for line in found.lines}
    for panel in panels(found, []):
        if isinstance(panel, DataTable) and panel.title in {"Standings", "Ratings", "Ranks by strength"}:
            for label, *cells in panel.rows:
                told[str(label)[0]] += cells
    return {label: tuple(cells) for label, cells in told.items()}


def sentences(found: Standings) -> str:
    shown = (panel for panel in panels(found, []) if isinstance(panel, DataTable))
    return "\n".join(panel.sentence for panel in shown if panel.title != "Head to head")


def test_three_idle_bots_of_a_market_are_equal_in_the_report_and_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "idle.toml").write_text(IDLE, encoding="utf-8")
    played = agentsim("batch", "idle.toml", "--games", "6", "--out", "b", "--seed", "1", cwd=tmp_path)
    assert played.code == 0, played.err
    out = agentsim("report", "b", "--by", "player", "--exploratory", cwd=tmp_path).out
    told = [line.split(maxsplit=1) for line in out.splitlines() if re.match(r"[ABC] +6 +33\.3% ", line)]
    assert [label for label, _ in told] == ["A", "B", "C"]
    assert len({numbers for _, numbers in told}) == 1
    said = [line for line in out.splitlines() if line.startswith("Suggested sentence:")]
    assert any("no entry is likeliest to come first: 3 have the same highest probability, 33%" in line for line in said)
    assert any("No entry has the highest strength" in line for line in said)
    assert not any(re.search(r"\b[ABC]\b (comes|came|has)", line) for line in said)


CYCLE = games(*({label: 1.0 + (at + turn) % 3 for at, label in enumerate("abc")} for turn in range(6)))
TURNS = games(*({"a": 1.0 + turn % 2, "b": 2.0 - turn % 2} for turn in range(7, 15)))
ORDERS = games(*(dict(zip("abc", map(float, ranks), strict=True)) for ranks in permutations((1, 2, 3))))
SHARED = games(*({"a": 1.5, "b": 1.5} for _ in range(6)))
THIRDS = games(
    {"a": 2.0, "b": 2.0, "c": 2.0},
    *({label: 1.0 if label == first else 2.5 for label in "abc"} for first in "abc"),
)
PAIRS = games(*({one: 1.0 + turn, other: 2.0 - turn} for one, other in ("ab", "bc", "ca") for turn in (0, 1)))


@pytest.mark.parametrize(
    "played",
    [CYCLE, TURNS, ORDERS, SHARED, THIRDS, PAIRS],
    ids=["in a cycle", "two in turns", "each order once", "shared places", "thirds", "pairs of three"],
)
def test_labels_that_games_do_not_tell_apart_have_the_same_numbers_and_none_is_named(played: list[GameRecord]) -> None:
    found = standings(played)
    told = numbers(found)
    assert len(set(told.values())) == 1
    share = f"{1 / len(told):.1%}"
    assert all(line.first.value == pytest.approx(1 / len(told)) for line in found.lines)
    assert share in str(told)
    assert not re.search(r"\b[abc]/x (comes|came|has)", sentences(found))
    assert len(re.findall(r"[Nn]o entry (is|has)", sentences(found))) == 3


def test_of_two_that_are_equal_at_the_top_none_is_named_and_one_that_is_ahead_is() -> None:
    two = standings(games(*({"a": 1.0 + turn % 2, "b": 2.0 - turn % 2, "c": 3.0} for turn in range(8))))
    told = numbers(two)
    assert told["a"] != told["c"]
    assert [line.label[0] for line in two.lines] == ["a", "b", "c"]
    a, b, c = two.lines
    for of in (
        attrgetter(name)
        for name in ("first", "strength", "rank_probabilities", "win_rate", "mean_rank", "wins_expected")
    ):
        assert of(a) == of(b)
    assert c.first.value < a.first.value
    assert "2 have the same highest probability" in sentences(two)
    one = sentences(standings(games(*({"a": 1.0, "b": 2.0 + turn % 2, "c": 3.0 - turn % 2} for turn in range(8)))))
    assert "a/x comes first with a probability of" in one
    assert "a/x has the highest strength" in one
    assert "a/x came first in" in one


@pytest.mark.parametrize("seed", range(3))
def test_what_is_printed_of_ratings_is_beyond_the_monte_carlo_error(seed: int) -> None:
    """Other random numbers give the same digits, or the next ones."""
    generator = np.random.default_rng(seed)
    ranked = [choice_sets(list(generator.permutation(4) + 1.0), list(range(4)), 4) for _ in range(8)]
    one, other = (posterior(ranked, 4, seed=number, to_printed_precision=True) for number in (seed, seed + 100))
    assert one.to_printed_precision
    for least, ours, theirs in zip(PRINTED, (one.strengths, one.first), (other.strengths, other.first), strict=False):
        assert max(abs(a.value - b.value) for a, b in zip(ours, theirs, strict=True)) < 6 * least
    assert np.abs(one.rank_probabilities - other.rank_probabilities).max() < 6 * PRINTED[2]
    assert sum(share.value for share in one.first) == pytest.approx(1)


def test_shares_at_one_table_are_exact() -> None:
    """9, 3 and 0 wins of 12: a Dirichlet distribution of 10, 4 and 1, whatever was drawn."""
    won = [(np.ones((1, 3)), np.eye(3)[winner]) for winner in [0] * 9 + [1] * 3]
    found = posterior(won, 3)
    assert [share.value for share in found.first] == pytest.approx([10 / 15, 4 / 15, 1 / 15], abs=1e-12)
    assert found.means(found.shares)[0] == pytest.approx([10 / 15, 4 / 15, 1 / 15], abs=1e-9)


def ring(*labels: int) -> list[tuple[int, int]]:
    return list(zip(labels, labels[1:] + labels[:1], strict=True))


def pairs(size: int, edges: list[tuple[int, int]]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    rows = np.zeros((len(edges), size))
    for row, edge in enumerate(edges):
        rows[row, list(edge)] = 1
    return rows


def test_only_labels_that_an_exchange_takes_to_one_another_are_alike() -> None:
    """Each label meets two others in all of these; still a ring of six is no two rings of three."""

    def orbits(size: int, edges: list[tuple[int, int]], taken: list[float] | None = None) -> object:
        of_each = np.array(taken if taken is not None else [1.0] * size)
        return interchangeable(pairs(size, edges), np.ones(len(edges)), of_each)

    assert orbits(6, ring(0, 1, 2) + ring(3, 4, 5)) == ((0, 1, 2, 3, 4, 5),)
    assert orbits(5, ring(0, 1, 2, 3, 4)) == ((0, 1, 2, 3, 4),)
    assert orbits(12, ring(0, 1, 2) + ring(3, 4, 5) + ring(*range(6, 12))) == (tuple(range(6)), tuple(range(6, 12)))
    assert orbits(5, ring(0, 1, 2, 3, 4), [2.0, 1, 1, 1, 1]) == ((0,), (1, 4), (2, 3))
    assert orbits(3, [(0, 1), (1, 2)]) == ((0, 2), (1,))
    assert interchangeable(pairs(3, [(0, 1), (1, 2)]), np.array([1.0, 2.0]), np.ones(3)) == ((0,), (1,), (2,))
    assert interchangeable(np.zeros((0, 3)), np.zeros(0), np.array([0.1 + 0.2, 0.3, 0.4])) == ((0, 1), (2,))
