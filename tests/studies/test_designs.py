"""Factorial designs: which cells, what a fraction gives up, and which designs are refused."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentsim.errors import ScenarioError, UsageError
from agentsim.runs.batch.manifest import DesignTable, Until
from agentsim.scenario.validation import validated
from agentsim.studies.designs import Factorial, cells, factorial, read_design
from tests.amounts import each_row


def design(factors: str, fraction: str | None = None, *pairs: str) -> Factorial:
    """Factors of two levels with names of one letter; interactions as two letters."""
    asked = [list(pair) for pair in pairs]
    document = {"factors": {name: [0, 1] for name in factors}, "interactions": asked}
    return factorial(validated(DesignTable, document | ({"fraction": fraction} if fraction else {})))


def test_a_full_design_has_every_combination_of_levels_once() -> None:
    table = DesignTable(factors={"a": (1, 2, 3), "b": ("x", "y")})
    found = factorial(table)
    assert [found.levels(cell) for cell in range(6)] == [{"a": a, "b": b} for a, b in product((1, 2, 3), "xy")]
    assert (found.resolution, found.aliases()) == (None, {})


def test_contrasts_are_the_coefficients_of_the_saturated_model() -> None:
    """The least squares of effects by levels, in which a level is compared with the first one."""
    found = factorial(DesignTable(factors={"a": (0, 1, 2), "b": (0, 1), "c": (0, 1)}, interactions=(("a", "b"),)))
    values = np.random.default_rng(3).normal(size=len(found.cells))
    by_cell = dict(zip(found.cells, values, strict=True))
    means = {level: np.mean([by_cell[cell] for cell in found.cells if cell[0] == level]) for level in range(3)}
    both = {
        (a, b): np.mean([by_cell[cell] for cell in found.cells if cell[:2] == (a, b)])
        for a, b in product(range(3), range(2))
    }
    said = {each.name: float(np.dot(each.weights, values)) for each in found.contrasts()}
    assert said["a: 2 vs. 0"] == pytest.approx(means[2] - means[0])
    assert said["a x b: 2 vs. 0 x 1 vs. 0"] == pytest.approx(both[2, 1] - both[2, 0] - both[0, 1] + both[0, 0])
    assert list(said) == [
        *("a: 1 vs. 0", "a: 2 vs. 0", "b: 1 vs. 0", "c: 1 vs. 0"),
        *("a x b: 1 vs. 0 x 1 vs. 0", "a x b: 2 vs. 0 x 1 vs. 0"),
    ]


def test_a_fractions_contrasts_are_orthogonal_and_balanced() -> None:
    found = design("abcdef", "1/4", "ab", "cd")
    weights = np.array([each.weights for each in found.contrasts()])
    assert len(found.cells) == 16
    assert np.allclose(weights.sum(axis=1), 0)
    assert np.allclose(weights @ weights.T, np.diag(np.diag(weights @ weights.T)))


@each_row(
    "factors, fraction, lengths",
    [  # G. E. P. Box, W. G. Hunter, J. S. Hunter, Statistics for experimenters, table 12.15
        ("abc", "1/2", [3]),
        ("abcd", "1/2", [4]),
        ("abcde", "1/2", [5]),
        ("abcde", "1/4", [3, 3, 4]),
        ("abcdef", "1/4", [4, 4, 4]),
        ("abcdefg", "1/16", [3] * 7 + [4] * 7 + [7]),
    ],
)
def test_a_fraction_is_of_minimum_aberration(factors: str, fraction: str, lengths: list[int]) -> None:
    found = design(factors, fraction)
    assert sorted(map(len, found.words)) == lengths
    assert found.resolution == lengths[0]


def test_a_fraction_says_what_it_cannot_tell_apart() -> None:
    found = design("abc", "1/2")
    assert found.aliases() == {"a": ["b x c"], "b": ["a x c"], "c": ["a x b"]}
    assert found.in_words == "1/2 of 8 cells: 4, resolution 3; aliased: a with b x c; b with a x c; c with a x b"
    assert design("abcd", "1/2", "ab").aliases() == {"a x b": ["c x d"]}


def test_a_fraction_keeps_the_asked_for_interactions_apart_or_is_refused() -> None:
    found = design("abcde", "1/4", "ab", "ac")
    asked = {frozenset(each) for each in found.asked}
    assert not any(frozenset(effect) ^ word in asked for effect in found.asked for word in found.words)
    with pytest.raises(ScenarioError, match="no fraction of 1/2 tells all main effects and the asked-for"):
        design("abc", "1/2", "ab")


TWO: dict[str, Any] = {"defaults.temperature": [0.2, 1.2], "game_config.phases": [["votes"], ["pitches", "votes"]]}


@each_row(
    "document, message",
    [
        ({}, "factors: is missing"),
        ({"factors": {}}, "factors"),
        ({"factors": {"a": [1]}}, "factors.a"),
        ({"factors": {"a": [1, 1]}}, "factors.a: has one level twice"),
        ({"factors": {"seed": [1, 2]}}, "factors.seed: is the same in all games of a batch"),
        ({"factors": {"limits": {"max_calls": [1, 2]}}}, "factors.limits.max_calls: is the same in all games"),
        ({"factors": TWO, "fractoin": "1/2"}, "fractoin: unknown key (did you mean fraction?)"),
        ({"factors": TWO, "fraction": "1/2"}, "fraction: cannot be 1/2: a fraction is of 3 to 9 factors"),
        ({"factors": TWO, "fraction": "half"}, "fraction: must be"),
        ({"factors": {"a": [1, 2], "b": [1, 2], "c": [1, 2, 3]}, "fraction": "1/2"}, "with two levels each"),
        ({"factors": {"a": [1, 2], "b": [1, 2], "c": [1, 2]}, "fraction": "1/3"}, "is 1/2, 1/4, 1/8"),
        ({"factors": TWO, "interactions": [["defaults.temprature", "x"]]}, "(did you mean defaults.temperature?)"),
        ({"factors": {"a": [1, 2]}, "interactions": [["a", "a"]]}, "interactions.0: must be two factors"),
        ({"factors": {name: [1, 2] for name in "abcdefghi"}}, "factors: make 512 cells, and 256 are the most"),
        ({"factors": TWO, "replicates": 0}, "replicates: must be"),
    ],
)
def test_a_design_that_cannot_be_is_refused_with_its_key(document: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        read_design(document)
    assert str(refused.value).startswith("the design: ")
    assert message in str(refused.value)


def test_levels_may_stand_in_tables_as_toml_reads_dotted_keys() -> None:
    nested = read_design({"factors": {"players": {"0": {"model": ["bot/a", "bot/b"]}}, "game_config": {"x": [1, 2]}}})
    assert nested.factorial.factors == ("players.0.model", "game_config.x")


def test_an_effect_is_named_by_its_factors_in_any_order() -> None:
    found = design("abc", None, "ab")
    assert (found.effect("c"), found.effect("b, a"), found.effect(None)) == (("c",), ("a", "b"), None)
    with pytest.raises(UsageError, match="--factor a,c: the design asks for no such effect"):
        found.effect("a,c")
    assert Until(width=1.0).measure is None, "win, or the first score where no player is ranked"


def test_prompt_files_of_a_design_are_found_beside_it(tmp_path: Path) -> None:
    for name, words in (("study/prompts/betray.txt", "Betray."), ("study/prompts/neutral.txt", "Play.")):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(words, encoding="utf-8")
    players = "".join(f'[[players]]\nid = "{player}"\nmodel = "bot/random"\n' for player in "ABC")
    base = tmp_path / "island.toml"
    base.write_text(f'game = "agent_island"\n{players}', encoding="utf-8")
    file = tmp_path / "study" / "persona.toml"
    levels = '["prompts/betray.txt", "prompts/neutral.txt"]'
    file.write_text(f'config = "../island.toml"\n[factors]\n"players.A.prompt_file" = {levels}\n', encoding="utf-8")
    found, _ = cells(read_design(file), base)
    assert [scenario.players[0].prompt for scenario in found] == ["Betray.", "Play."]
