"""What one may write of a table: the row is chosen by what is known, and its interval holds for the choice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agentsim.analysis.arms import ArmEffects, Comparison, arm_panels, effects
from agentsim.analysis.conditions import Condition, Difference, Measured
from agentsim.analysis.intervals import Interval
from agentsim.analysis.standings import PositionResults
from agentsim.engine.game import Score, ScoreWords
from agentsim.engine.panel import DataTable
from agentsim.studies.influence import BranchResult, Responses, Swapped, influence_panels, influences
from agentsim.studies.report_tables import condition_panels, position_sentence, score_panel

PAIRS = 20
WORDS = ScoreWords({})
MEAN = Measured("rank", "A", "off", 9, Interval(2.0, 1.0, 3.0))


def compared(**differences: list[float]) -> DataTable:
    """The table of an arm whose pairs differ so, by measure."""
    values = np.array(list(differences.values())).T
    found = tuple(effects([(name, "A") for name in differences], np.stack([values, np.zeros_like(values)])))
    arm = ArmEffects("hot", "", len(values), 0, identical=False, effects=found)
    (table,) = arm_panels([Comparison("trunk", 4, "auction", "control", (arm,), {})])
    return table


def noise(seed: int, mean: float = 0.0, pairs: int = PAIRS) -> list[float]:
    return [float(each) for each in np.random.default_rng(seed).normal(mean, 1.0, pairs)]


def test_the_clearest_effect_is_said_with_the_interval_that_holds_for_all_together() -> None:
    table = compared(rank=noise(1), win=noise(2), bid=noise(3, mean=3.0))
    both = dict(zip(table.columns, table.rows[2], strict=True))["simultaneous"]
    assert f"hot changed bid of A by +2.87 (simultaneous 95% interval {str(both)[1:-1]}; 20 pairs" in table.sentence
    assert "20 pairs of branches with the same chance); 1 of 3 effects differs from zero." in table.sentence


def test_an_effect_that_its_own_interval_alone_supports_is_not_offered() -> None:
    rows = {f"m{seed}": noise(seed) for seed in range(4, 24)} | {"chosen": noise(99, mean=0.4)}
    table = compared(**rows)
    found = next(each for each in table.rows if each[0] == "chosen")
    assert "(+" in str(found[5]), "alone it leaves out 0"
    assert "(-" in str(found[6]), "together with the others it does not"
    assert table.sentence == (
        "From decision 4 of trunk on, no effect of hot was found: none of 21 effects differs from zero (simultaneous "
        "95% intervals; 20 pairs of branches with the same chance)."
    )


def test_what_is_the_same_in_all_pairs_is_said_to_be() -> None:
    table = compared(rank=[0.0] * 6, count=[1.0] * 6)
    assert [row[5:] for row in table.rows] == [
        ("+0.00, the same in all 6 pairs", None),
        ("+1.00, the same in all 6 pairs", None),
    ]
    assert table.sentence == (
        "From decision 4 of trunk on, hot changed required components of A by +1.00, the same in all 6 pairs of "
        "branches with the same chance."
    )
    assert "no effect of hot was found: every measure is the same in all 6 pairs" in compared(rank=[0.0] * 6).sentence


@pytest.mark.parametrize(("pairs", "said"), [(3, "too few for an interval"), (5, "give no simultaneous intervals")])
def test_too_few_pairs_are_said_to_be_too_few(pairs: int, said: str) -> None:
    table = compared(rank=noise(1, pairs=pairs), win=noise(2, pairs=pairs))
    assert said in table.sentence
    assert f"{pairs} pairs" in table.sentence
    assert ("too few pairs" in str(table.rows[0][5])) == (pairs < 5)


@pytest.mark.parametrize("clear", [False, True])
def test_a_difference_of_conditions_is_said_with_the_interval_for_all_together(clear: bool) -> None:
    wide = Interval(1.0, 0.1, 1.9) if clear else Interval(1.0, -0.1, 2.1)
    gap = Difference("rank", "A", "on", "off", (9, 9), Interval(1.0, 0.5, 1.5), wide)
    conditions = [Condition(name, {}, ()) for name in ("off", "on")]
    _, table = condition_panels(conditions, [MEAN], [gap], WORDS, relative=False)
    assert "+0.50 to +1.50" not in table.sentence
    assert ("simultaneous 95% interval +0.10 to +1.90" in table.sentence) == clear
    assert table.sentence.startswith("1 of 1 difference differs" if clear else "None of 1 difference differs")


@pytest.mark.parametrize(
    ("wins", "said"),
    [
        ((4, 4, 3, 3), "seats 1 and 2 came first most often and equally often, in 29% each"),
        ((5, 4, 3, 2), "seat 1 came first most often, in 36%"),
        ((4, 4, 4, 4), "all seats came first equally often"),
    ],
)
def test_all_seats_that_came_first_most_often_are_named(wins: tuple[int, ...], said: str) -> None:
    whole = sum(wins)
    places = [
        PositionResults(at, whole, own, Interval(own / whole, 0.1, 0.5), Interval(2.0))
        for at, own in enumerate(wins, start=1)
    ]
    sentence = position_sentence("seat", places, 0.038, None)
    assert said in sentence
    assert sentence.startswith("The ranks of seats differ (sign-flip")
    assert "do not differ detectably" in position_sentence("seat", places, 0.38, None)
    assert "But" not in sentence
    assert "But seats were uneven (sniper: 3 to 4 times in each)" in position_sentence(
        "seat", places, 0.038, ("sniper", 3, 4)
    )


def test_a_rank_of_tables_of_several_sizes_is_called_relative_and_a_number_of_games_is_one() -> None:
    conditions = [Condition(name, {}, ()) for name in ("off", "on")]
    table, _ = condition_panels(conditions, [MEAN], [], WORDS, relative=True)
    assert table.rows == (("relative rank", "A", "2.00 (1.00 to 3.00), 9 games", None),)


def test_scores_are_in_the_words_of_the_game_and_players_as_they_are() -> None:
    means = [replace(MEAN, measure=score, label="a_player") for score in ("count", "jury_votes")]
    table = score_panel(means, ScoreWords({"count": Score("lots won")}))
    assert table.columns == ("", "lots won", "jury votes")
    assert table.sentence.startswith("The mean lots won was highest for a_player: 2.00")


def test_one_fact_under_three_names_is_one_row() -> None:
    draw = np.random.default_rng(7)
    votes = draw.integers(0, 2, (2, PAIRS))

    def branch(side: int, number: int) -> BranchResult:
        against = bool(votes[side, number])
        chosen = {("vote", "B"): "A" if against else "C", ("voted to eliminate", "B"): "A" if against else ""}
        amounts = {("for (+1) or against (-1) A", "B"): -float(against), ("bid", "B"): float(draw.integers(0, 9))}
        return BranchResult(Responses(chosen, amounts), {}, (side, number))

    sides = tuple({number: branch(side, number) for number in range(PAIRS)} for side in (0, 1))
    message = Swapped("trunk", 1, "agent_island", "A", "pitch", 1, "Hi", "silence", "", ("B",))
    (found,) = influences([(message, (sides[0], sides[1]))])
    same = {each.measure: each.same_as for each in found.listeners}
    assert same["voted to eliminate = A"] == same["for (+1) or against (-1) A"] == "vote = A"
    assert same["vote = A"] is same["bid"] is None
    table, outcome = influence_panels([found])
    assert [row[0] for row in table.rows] == ["vote = A", "vote = C", "bid"]
    assert "Not shown: 2 rows, the same in all pairs or as another row but for the sign." in outcome.note
    assert "none of 3 effects" in table.sentence


def test_responses_that_coincide_for_one_listener_alone_are_two_facts() -> None:
    draw = np.random.default_rng(7)

    def branch(side: int, number: int) -> BranchResult:
        one, other = draw.integers(0, 2, 2)
        amounts = {("bid", "B"): float(one), ("price", "B"): float(one), ("bid", "C"): float(one)}
        return BranchResult(Responses({}, {**amounts, ("price", "C"): float(other)}), {}, (side, number))

    sides = tuple({number: branch(side, number) for number in range(PAIRS)} for side in (0, 1))
    message = Swapped("trunk", 1, "auction", "A", "pitch", 1, "Hi", "silence", "", ("B", "C"))
    (found,) = influences([(message, (sides[0], sides[1]))])
    assert {each.same_as for each in found.listeners} == {None}


def test_one_effect_that_is_not_found_is_not_counted() -> None:
    table = compared(rank=[1.0, -1.0, 2.0, -2.0, 1.0, -1.0])
    assert "the one effect does not differ from zero (simultaneous 95% intervals" in table.sentence
