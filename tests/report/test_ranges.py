"""Estimates with their intervals: where lines and dots stand, and what the table beneath says."""

from __future__ import annotations

import math

import pytest

from agentsim.engine.panel import Estimate, Estimates
from agentsim.report.charts import WIDTH, ChartView
from agentsim.report.page import view


def drawn(*rows: Estimate, players: dict[str, int] | None = None) -> ChartView:
    found = view(Estimates("Strength", rows, "log strength"), players or {})
    assert isinstance(found, ChartView)
    return found


def test_the_dot_stands_on_the_line_between_its_ends() -> None:
    chart = drawn(Estimate("a", 1.0, 0.0, 4.0), Estimate("b", 2.0, 1.0, 3.0))
    ((line, _), _) = chart.lines
    (left, y), (right, same) = ((float(each) for each in point.split(",")) for point in line.split())
    dot = chart.dots[0]
    assert y == same == dot.y
    assert (dot.x - left) / (right - left) == pytest.approx(0.25, abs=1e-3)
    assert chart.dots[1].y > dot.y, "one below the other"
    assert chart.left <= left < right <= WIDTH


def test_an_estimate_without_ends_is_a_dot_alone_and_one_that_is_no_number_is_in_the_table_only() -> None:
    chart = drawn(Estimate("a", 1.0), Estimate("b", math.nan, 0.0, 1.0))
    assert (len(chart.lines), len(chart.dots)) == (0, 1)
    assert [row[0].text for row in chart.data.rows] == ["a", "b"]


def test_long_names_keep_their_ends_which_tell_models_apart() -> None:
    name = "openrouter/some-maker/some-model-with-a-long-name-70b"
    (label,) = drawn(Estimate(name, 1.0)).y_ticks
    assert (label.text[0], label.text[-5:], label.full) == ("…", "e-70b", name)


def test_no_estimates_are_an_empty_chart() -> None:
    chart = drawn()
    assert (chart.lines, chart.dots, chart.data.rows) == ((), (), ())


def test_one_that_is_compared_has_its_own_tone() -> None:
    first, second = drawn(Estimate("a", 1.0), Estimate("b", 2.0), players={"a": 0, "b": 1}).dots
    assert first.tone != second.tone
