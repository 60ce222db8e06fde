"""Scatters and intervals: every point has its place, its words and its row, whatever the numbers are."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentsim.engine.panel import Estimate, Estimates, Point, Scatter
from agentsim.report.charts import WIDTH
from agentsim.report.markup import TemplateContext
from agentsim.report.page import view
from tests.report.dom import Node
from tests.report.test_charts import drawn, laid

INF, NAN = float("inf"), float("nan")


def scatter(*points: Point, x: str = "quality", y: str = "price") -> Scatter:
    return Scatter("Winner's curse", points, x, y)


def rows(figure: Node) -> list[list[str]]:
    return [[cell.text for cell in row.all() if cell.tag in {"td", "th"}] for row in figure.one("details").all("tr")]


def places(made: TemplateContext) -> list[tuple[float, float]]:
    return [(dot.x, dot.y) for dot in made.dots]


def test_a_point_stands_where_both_axes_say() -> None:
    made = laid(scatter(Point(40, 100, "a"), Point(60, 300, "b"), Point(50, 200, "c")))
    across = {tick.text: tick.at for tick in made.x_ticks}
    up = {tick.text: tick.at for tick in made.y_ticks}
    assert places(made) == [(across["40"], up["100"]), (across["60"], up["300"]), (across["50"], up["200"])]
    assert across["40"] < across["50"] < across["60"]
    assert up["100"] > up["200"] > up["300"], "a drawing counts downwards"


def test_each_point_tells_its_label_series_and_values() -> None:
    figure = drawn(
        scatter(Point(85, 1500, "The Visionary Compass", "Alpha"), Point(15, 2.5, "", "Beta"), Point(1, 2, ""))
    )
    assert [dot.one("title").text for dot in figure.one("svg", role="img").all("circle")] == [
        "The Visionary Compass, Alpha: quality 85, price 1,500",
        "Beta: quality 15, price 2.5",
        "quality 1, price 2",
    ]
    assert figure.one("svg", role="img").attrs["aria-label"].startswith("Winner's curse: ")


def test_the_axes_are_named_and_both_have_grids() -> None:
    figure = drawn(scatter(Point(0, 0, "a"), Point(10, 5, "b")))
    assert [text.text for text in figure.all("text", cls="axis")] == ["price", "quality"]
    grid = figure.all("line", cls="grid")
    assert {line.attrs["x1"] == line.attrs["x2"] for line in grid} == {True, False}
    bare = drawn(scatter(Point(0, 0, "a"), x="", y=""))
    assert bare.all("text", cls="axis") == []
    assert rows(bare)[0] == ["point", "x", "y"]


def test_the_same_data_is_in_a_folded_table_beneath() -> None:
    figure = drawn(scatter(Point(85, 150, "Compass", "Alpha"), Point(15, INF, "Gear", "")))
    assert "open" not in figure.one("details").attrs
    assert rows(figure) == [
        ["point", "series", "quality", "price"],
        ["Compass", "Alpha", "85", "150"],
        ["Gear", "", "15", "–"],
    ]
    assert rows(drawn(scatter(Point(1, 2, "Gear")))) == [["point", "quality", "price"], ["Gear", "1", "2"]]


@pytest.mark.parametrize(
    ("series", "legend", "tones"),
    [
        (["B", "A", "B", ""], "A t0, B t1, – s0", "t1 t0 t1 s0"),
        (["B", "crowd"], "B t1, crowd s0", "t1 s0"),
        (["x", "y"], "x s0, y s1", "s0 s1"),
        (["", ""], "", "solo solo"),
        (["all"], "", "solo"),
        (["B"], "", "t1"),
    ],
)
def test_players_come_first_in_the_legend_and_only_they_have_their_tones(
    series: list[str], legend: str, tones: str
) -> None:
    panel = scatter(*(Point(index, index, "p", name) for index, name in enumerate(series)))
    made = laid(panel)
    assert ", ".join(f"{name} {tone}" for name, tone in made.legend) == legend
    assert " ".join(dot.tone for dot in made.dots) == tones
    items = drawn(panel).all("ul", cls="legend")
    assert sum(len(item.all("circle")) for item in items) == len(made.legend)


def test_no_points_is_said_and_not_drawn() -> None:
    for panel in (scatter(), scatter(Point(NAN, 1, "lost"), Point(1, -INF, "gone"))):
        figure = drawn(panel)
        assert figure.one("p", cls="quiet").text == "No points"
        assert figure.all("svg", role="img") == []
        assert len(rows(figure)) == 1 + max(1, len(panel.points))


def test_a_value_that_all_points_share_stands_in_the_middle() -> None:
    for made in (laid(scatter(Point(5, 7, "a"))), laid(scatter(Point(5, 7, "a"), Point(5, 7, "b")))):
        assert {(x, y) for x, y in places(made)} == {
            (round((made.x.start + made.x.end) / 2, 1), (made.y.end + made.y.start) / 2)
        }


number = st.floats(-1e12, 1e12) | st.integers(-1000, 1000)


@given(st.lists(st.tuples(number, number), min_size=1, max_size=30))
@example([(0.0, 0.0), (0.0, -5e-324)])
@example([(80080080080.0, 0.0), (-1.0, 0.0)])  # the axis begins between two tenths
@example([(5, 7)])
@example([(3, 1), (3, 2), (3, 9)])
@example([(1, -4), (2, -4)])
@example([(1e-15, 1e-15), (3e-15, 2e-15)])
@example([(1e15, -1e15), (0, 0)])
@example([(1e9, 1), (1e9 + 1, 2)])
def test_any_points_are_drawn_in_order_inside_the_axes(values: list[tuple[float, float]]) -> None:
    made = laid(scatter(*(Point(x, y, "p") for x, y in values)))
    assert len(made.x_ticks) >= 2
    for (x, y), (at_x, at_y) in zip(values, places(made), strict=True):
        assert made.x.start <= at_x <= made.x.end
        assert made.y.end <= at_y <= made.y.start
        for (other_x, other_y), (other_at_x, other_at_y) in zip(values, places(made), strict=True):
            assert x >= other_x or at_x <= other_at_x
            assert y >= other_y or at_y >= other_at_y


def test_thousands_of_points_are_all_there_and_smaller() -> None:
    many = laid(scatter(*(Point(i, i % 97, str(i)) for i in range(5000))))
    assert len(many.dots) == len(many.data.rows) == 5000
    assert many.radius < laid(scatter(Point(1, 1, "a"))).radius


def test_numbers_on_the_axis_do_not_touch_and_stay_in_the_drawing() -> None:
    made = laid(scatter(Point(0, 0, "a"), Point(7.9e14, 1, "b")))
    wide = [6.1 * len(tick.text) for tick in made.x_ticks]
    for index, (one, other) in enumerate(zip(made.x_ticks, made.x_ticks[1:], strict=False)):
        assert one.at + wide[index] / 2 < other.at - wide[index + 1] / 2
    assert made.x_ticks[0].at - wide[0] / 2 >= 0
    assert made.x_ticks[-1].at + wide[-1] / 2 <= made.width


def laid_ranges(*rows: Estimate, players: dict[str, int] | None = None) -> TemplateContext:
    return view(Estimates("Strength", rows, "log strength"), players or {})


def test_the_dot_stands_on_the_line_between_its_ends() -> None:
    chart = laid_ranges(Estimate("a", 1.0, 0.0, 4.0), Estimate("b", 2.0, 1.0, 3.0))
    ((line, _), _) = chart.lines
    (left, y), (right, same) = ((float(each) for each in point.split(",")) for point in line.split())
    dot = chart.dots[0]
    assert y == same == dot.y
    assert (dot.x - left) / (right - left) == pytest.approx(0.25, abs=1e-3)
    assert chart.dots[1].y > dot.y, "one below the other"
    assert chart.x.start <= left < right <= WIDTH


def test_an_estimate_without_ends_is_a_dot_alone_and_one_that_is_no_number_is_in_the_table_only() -> None:
    nothing = laid_ranges()
    assert (nothing.lines, nothing.dots, nothing.data.rows) == ((), (), ())
    chart = laid_ranges(Estimate("a", 1.0), Estimate("b", math.nan, 0.0, 1.0))
    assert (len(chart.lines), len(chart.dots)) == (0, 1)
    assert [row[0].text for row in chart.data.rows] == ["a", "b"]


def test_long_names_keep_their_ends_which_tell_models_apart() -> None:
    name = "openrouter/some-maker/some-model-with-a-long-name-70b"
    (label,) = laid_ranges(Estimate(name, 1.0)).y_ticks
    assert (label.text[0], label.text[-5:], label.full) == ("…", "e-70b", name)


def test_one_that_is_compared_has_its_own_tone() -> None:
    first, second = laid_ranges(Estimate("a", 1.0), Estimate("b", 2.0), players={"a": 0, "b": 1}).dots
    assert first.tone != second.tone
