"""Panels: tables, charts and boards as HTML and SVG."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from agentsim.engine.panel import Board, Chart, DataTable, Panel, Piece, Point, Scatter, Scene, Series, Tile
from agentsim.report.board import CELL
from agentsim.report.board import tile as draw
from agentsim.report.charts import BASE, ticks
from agentsim.report.markup import TemplateContext, money, number, span_of_time, when
from agentsim.report.page import PageOptions, render, view
from tests.amounts import each_row
from tests.report.dom import Node, parse
from tests.report.sample import sample

X = ("one", "two", "three")


def drawn(panel: Panel) -> Node:
    """The panel's figure on a page."""
    page = render(sample(), [panel], PageOptions(), name="n", css="")
    figure = page[page.index("<figure") : page.index("</figure>") + len("</figure>")]
    for start in (i for i in range(len(figure)) if figure.startswith("<svg", i)):
        ET.fromstring(figure[start : figure.index("</svg>", start) + 6])  # well-formed as XML, too
    return parse(figure).one("figure")


def chart(kind: str, *series: Sequence[float | None], x: tuple[str, ...] = X, names: str = "stuv") -> Chart:
    made = tuple(Series(names[i], tuple(values)) for i, values in enumerate(series))
    return Chart("Chart", kind, x, made)  # type: ignore[arg-type]  # the parametrised kinds are the literal's


def laid(panel: Panel) -> TemplateContext:
    return view(panel, {"A": 0, "B": 1})


def test_a_table_has_its_columns_rows_and_note() -> None:
    figure = drawn(
        DataTable("Cash", ("Player", "Cash", "Deed"), (("A", 1500, "Boardwalk"), ("B", None, "")), note="At the end")
    )
    assert figure.one("h3").text == "Cash"
    assert figure.one("p", cls="quiet").text == "At the end"
    rows = [[cell.text for cell in row.all() if cell.tag in {"td", "th"}] for row in figure.all("tr")]
    assert rows == [["Player", "Cash", "Deed"], ["A", "1,500", "Boardwalk"], ["B", "–", ""]]
    assert [cell.attrs.get("scope") for cell in figure.one("tbody").all("th")] == ["row", "row"]
    assert not [cell for cell in figure.all("td") if any(cls.startswith("heat") for cls in cell.classes)]


def test_heat_follows_the_size_of_the_numbers() -> None:
    figure = drawn(DataTable("Heat", ("", "a", "b"), (("x", 0, 5), ("y", 10, None), ("z", 1, "word")), heat=True))
    assert [cell.classes for cell in figure.one("tbody").all("td")] == [
        ["number", "heat0"], ["number", "heat5"], ["number", "heat9"], ["number"], ["number", "heat1"], ["number"],
    ]  # fmt: skip
    for nothing_to_compare in ((), ((0, 0),), ((-3, -3),), (("a", None),)):
        assert drawn(DataTable("Heat", ("a", "b"), nothing_to_compare, heat=True)).all("tbody")


def test_nothing_among_words_stands_as_words_do() -> None:
    figure = drawn(DataTable("Talk", ("who", "thought"), (("x", None), ("y", "word"))))
    assert [cell.classes for cell in figure.one("tbody").all("td")] == [[], []]
    assert not figure.one("thead").all("th")[1].classes


def test_a_table_of_many_columns_is_dense() -> None:
    for names, dense in (("abcdefgh", True), ("abcdefg", False)):
        table = DataTable("Wide", tuple(names), (tuple(range(len(names))),))
        assert ("dense" in drawn(table).one("div", cls="scroll").classes) == dense


def test_cells_are_shaded_as_the_table_says_of_each() -> None:
    shade = ((None, None, 0.5), (None, 0.0, 1.0))
    figure = drawn(DataTable("Shade", ("", "a", "b"), (("x", 48, 52), ("y", 0, 100)), shade=shade))
    assert [list(cell.classes) for cell in figure.all("td")] == [
        ["number"], ["number", "heat5"], ["number", "heat0"], ["number", "heat9"],
    ]  # fmt: skip


def test_a_line_breaks_at_a_gap_and_each_point_tells_its_value() -> None:
    figure = drawn(chart("line", (1, None, 3), (2, 2, 2)))
    lines = figure.one("svg", role="img").all("polyline")
    assert [len(line.attrs["points"].split()) for line in lines] == [1, 1, 3]
    assert [dot.one("title").text for dot in figure.all("circle")][:2] == ["one, s: 1", "three, s: 3"]
    assert [item.text.strip() for item in figure.one("ul", cls="legend").all("li")] == ["s", "t"]


def test_every_chart_has_its_numbers_in_a_folded_table_beneath() -> None:
    data = drawn(chart("bar", (1, 2.5, None))).one("details")
    assert "open" not in data.attrs
    rows = [[cell.text for cell in row.all() if cell.tag in {"td", "th"}] for row in data.all("tr")]
    assert rows == [["", "s"], ["one", "1.0"], ["two", "2.5"], ["three", "–"]]


@pytest.mark.parametrize(
    ("series", "ticks"),
    [
        ([(100, 100, 100)], ["0", "20", "40", "60", "80", "100"]),
        ([(0, 1, 0), (1, 2, 1)], ["0", "1", "2"]),
        ([(0, 1, 0.5)], ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
    ],
    ids=["a line that never changes is above zero", "none between whole numbers", "parts"],
)
def test_the_axis_has_round_numbers(series: list[tuple[float, ...]], ticks: list[str]) -> None:
    assert [tick.text for tick in laid(chart("line", *series)).y_ticks] == ticks


def test_bars_stand_on_zero_whatever_their_sign() -> None:
    made = laid(chart("bar", (4, -2, 0)))
    up, down, flat = made.bars
    assert up.y + up.height == pytest.approx(made.y.zero(), abs=0.2)
    assert down.y == pytest.approx(made.y.zero(), abs=0.2)
    assert up.height == pytest.approx(2 * down.height, abs=0.2)
    assert flat.height == 0


def test_stacked_bars_stand_on_each_other() -> None:
    made = laid(chart("stacked", (1, 2, -1), (3, None, -2)))
    first = [bar for bar in made.bars if bar.title.startswith("one")]
    assert first[1].y + first[1].height == pytest.approx(first[0].y, abs=0.2)
    assert first[0].y + first[0].height == pytest.approx(made.y.zero(), abs=0.2)
    below = [bar for bar in made.bars if bar.title.startswith("three")]
    assert below[1].y == pytest.approx(below[0].y + below[0].height, abs=0.2)


def test_everything_drawn_is_inside_the_drawing() -> None:
    for kind in ("line", "bar", "stacked"):
        made = laid(chart(kind, (1e9, -5, 3), (0.1, 2, 4e8)))
        for mark in (*made.bars, *made.dots):
            assert made.x.start - 1 <= mark.x
            assert mark.x + mark.width <= made.width
            assert 0 <= mark.y <= mark.y + mark.height <= made.y.start + 0.2


@pytest.mark.parametrize("kind", ["line", "bar", "stacked"])
@pytest.mark.parametrize(
    "series",
    [(), ((),), ((None, None, None),), ((0, 0, 0),), ((float("nan"), float("inf"), 1),), ((5,),), ((1, 2, 3, 4, 5),)],
    ids=["no series", "empty", "gaps", "zeros", "not finite", "short", "long"],
)
def test_odd_series_are_drawn_without_error(kind: str, series: tuple[tuple[float | None, ...], ...]) -> None:
    figure = drawn(chart(kind, *series))
    assert "nan" not in " ".join(value for node in figure.walk() for value in node.attrs.values())
    drawn(chart(kind, *series, x=()))


def test_a_series_named_like_a_player_has_that_players_tone() -> None:
    made = laid(chart("line", (1, 2, 3), (1, 2, 3), names="BA"))
    assert [tone for _, tone in made.legend] == ["t1", "t0"]
    assert [tone for _, tone in laid(chart("line", (1, 2, 3))).lines] == ["solo"]


def test_long_names_are_tilted_shortened_and_kept_whole_in_the_title() -> None:
    names = tuple(f"a rather long name {i}" for i in range(12))
    figure = drawn(chart("bar", tuple(range(12)), x=names))
    ticks = [node for node in figure.all("text") if "transform" in node.attrs]
    assert len(ticks) == 12
    assert ticks[0].one("title").text == names[0]
    assert ticks[0].text.startswith("a rather long…")


def test_very_many_points_thin_the_labels_and_drop_the_dots() -> None:
    made = laid(chart("line", tuple(float(i) for i in range(3000)), x=tuple(map(str, range(3000)))))
    assert len(made.x_ticks) < 30
    assert made.dots == ()
    assert len(made.lines[0][0].split()) == 3000


@each_row(
    "low, high",
    [
        (0, 7),
        (-3, 12),
        (0, 1e-6),
        (99.5, 100.2),
        (5, 5),
        (0, 0),
        (0, 5e-324),
        (-1e9, 1e9),
        (1e-15, 3e-15),
        (7, 7.000001),
    ],
)
def test_ticks_are_few_round_and_hold_the_range(low: float, high: float) -> None:
    marks = ticks(low, high)
    assert 2 <= len(set(marks)) == len(marks) <= 9
    assert len(set(ticks(low, high, 8))) <= 11
    assert marks[0] <= low
    assert marks[-1] >= high


def laid_out(board: Board, players: dict[str, int] | None = None) -> Any:
    return view(board, players or {})


def at(track: list[Any], scene: int) -> Any:
    """What a track says of a scene."""
    return [track[i + 1] for i in range(0, len(track), 2) if track[i] <= scene][-1]


def tracks(figure: Node) -> Any:
    return json.loads(figure.one("template").text)


def test_a_board_shows_its_last_scene_and_says_all_of_every_tile() -> None:
    start = Scene("Start", (Tile(0, 0, "Go", ("A", "2 houses"), owner="B"), Tile(1, 0, "Jail", struck=True)))
    one = drawn(Board("Board", 2, 1, (start,)))
    assert not one.all("template")
    assert one.one("p", cls="caption").text == "Start"
    assert [group.one("title").text for group in one.all("g", cls="space")] == ["Go, A, 2 houses, owner B", "Jail"]
    assert one.all("rect", cls="t1"), "B owns it"
    assert len(one.all("rect", cls="struck")) == 1
    two = drawn(Board("Board", 2, 1, (start, Scene("End", (Tile(0, 0, "Gone"),)))))
    assert two.one("p", cls="caption").text == "End"
    assert [space.text for space in two.all("g", cls="space")] == ["GoneGone", ""]
    assert tracks(two)["captions"] == ["Start", "End"]


def test_scenes_are_kept_as_what_changed() -> None:
    still, other = Tile(0, 0, "Still"), Tile(1, 0, "Once", owner="A")
    scenes = tuple(
        Scene(f"{i}", (still, other if i == 500 else Tile(1, 0, "Once")), rows=(("A", i // 100),)) for i in range(1000)
    )
    figure = drawn(Board("B", 2, 1, scenes, headings=("player", "hundreds")))
    kept = tracks(figure)
    assert [len(track) for track in kept["tiles"]] == [2, 6]
    assert [at(kept["tiles"][1], i) for i in (0, 499, 501, 999)] == [at(kept["tiles"][1], 0)] * 4
    assert "owner A" in kept["forms"][at(kept["tiles"][1], 500)]
    assert [at(kept["cells"][1], i) for i in (0, 99, 100, 999)] == ["0", "0", "1", "9"]
    assert at(kept["cells"][0], 999) == "A"


def test_pieces_of_one_place_stand_side_by_side_and_leave() -> None:
    tiles = (Tile(0, 0, "Go"), Tile(1, 0, "Jail"))
    crowd = tuple(Piece(name, 0, 0) for name in "ABCDEFGH")
    board = Board("B", 2, 1, (Scene("1", tiles, crowd), Scene("2", tiles, (Piece("B", 1, 0, held=True),))))
    kept = tracks(drawn(board))["pieces"]
    across = [at(track, 0)[0] for track in kept]
    assert across == sorted(set(across))
    assert across[0] - 7.5 > 0
    assert across[-1] + 7.5 < CELL
    assert [at(track, 1) is None for track in kept] == [True, False, *[True] * 6]
    assert at(kept[1], 1)[2] == 1
    last = laid_out(board, {"A": 3})
    assert [piece.at and piece.at[2] for piece in last.pieces[:2]] == [None, 1]
    assert last.pieces[0].tone == "t3"


def test_pieces_of_the_same_initial_are_told_apart() -> None:
    pieces = tuple(Piece(name, 0, 0) for name in ("Ann", "Abe", "Bo"))
    made = laid_out(Board("B", 1, 1, (Scene("", (Tile(0, 0, "Go"),), pieces),)))
    assert [piece.letter for piece in made.pieces] == ["An", "Ab", "B"]
    numbered = tuple(Piece(name, 0, 0) for name in ("weaver1", "weaver2", "stray", "weaver12"))
    made = laid_out(Board("B", 1, 1, (Scene("", (Tile(0, 0, "Go"),), numbered),)))
    assert [piece.letter for piece in made.pieces] == ["w1", "r2", "s", "12"]


@pytest.mark.parametrize("edge", ["top", "right", "bottom", "left"])
def test_everything_on_a_tile_is_inside_it(edge: Any) -> None:
    tile = Tile(0, 0, "A rather long name of a street", ("marked",), owner="Somebody of a long name", hue="red",
                edge=edge, blocks=("small",) * 4, note="$100", struck=True)  # fmt: skip
    made = draw(tile, {}, 0)
    assert made.bar is not None
    for box in (made.bar, *made.blocks, *made.boxes):
        assert 0 <= box.x <= box.x + box.width <= CELL
        assert 0 <= box.y <= box.y + box.height <= CELL
    assert len(made.blocks) == 4
    for block in made.blocks:
        assert made.bar.x <= block.x <= block.x + block.width <= made.bar.x + made.bar.width
        assert made.bar.y <= block.y <= block.y + block.height <= made.bar.y + made.bar.height


@pytest.mark.parametrize("edge", ["top", "right", "bottom", "left"])
def test_a_name_of_nine_letters_is_whole_in_the_owners_strip(edge: Any) -> None:
    made = draw(Tile(0, 0, "St. Charles Place", owner="Professor", hue="pink", edge=edge), {}, 0)
    assert made.boxes[0].text == "Professor"


def test_only_a_label_that_is_too_wide_is_squeezed() -> None:
    labels = ("Illinois Ave.", "WWWWWWWWWWWWW")
    forms = [draw(Tile(0, 0, label), {}, 0.0).lines for label in labels]
    assert [[room is not None for _, room in lines] for lines in forms] == [[False], [True]]


def test_the_heat_of_tiles_is_their_share_of_the_hottest() -> None:
    tiles = tuple(Tile(i, 0, "T", heat=heat) for i, heat in enumerate((0.0, 1.0, 2.0)))
    figure = drawn(Board("B", 3, 1, (Scene("", (*tiles, Tile(3, 0, "cold"))),)))
    assert [rect.classes for rect in figure.all("rect", cls="tile")] == [
        ["tile", "heat0"], ["tile", "heat4"], ["tile", "heat9"], ["tile"],
    ]  # fmt: skip


def test_marks_that_do_not_fit_are_counted() -> None:
    tile = Tile(0, 0, "Full", tuple(f"mark{i}" for i in range(9)))
    chips = draw(tile, {}, 0).boxes
    assert chips[-1].text == f"+{9 - (len(chips) - 1)}"
    assert chips[-1].x + chips[-1].width <= CELL


def test_of_very_many_scenes_an_even_choice_is_shown_and_said() -> None:
    scenes = tuple(Scene(f"Turn {i}", (Tile(0, 0, "Go"),)) for i in range(5000))
    made = laid_out(Board("B", 1, 1, scenes))
    assert (made.scenes, made.skipped) == (2000, 3000)
    assert (made.tracks["captions"][0], made.last.caption) == ("Turn 0", "Turn 4999")
    assert "2000 of 5000 steps" in drawn(Board("B", 1, 1, scenes)).text
    assert not drawn(Board("B", 3, 3, ())).all("g"), "one without a scene is empty"


def evil_scene(evil: str) -> Scene:
    tile = Tile(0, 0, evil, (evil,), evil, note=evil, short=evil, says=evil)
    return Scene(evil, (tile,), (Piece(evil, 0, 0),), ((evil, evil),), (evil,))


def test_foreign_words_in_panels_stay_words() -> None:
    evil = '"><script>PWN</script>\u202e'
    panels: list[Panel] = [
        DataTable(evil, (evil,), ((evil,),), note=evil),
        Chart(evil, "line", (evil,), (Series(evil, (1,)), Series("b", (2,))), evil, evil, evil),
        Chart(evil, "bar", (evil,), (Series(evil, (1,)), Series("b", (2,)))),
        Scatter(evil, (Point(1, 1, evil, evil), Point(2, 2, evil, "b")), evil, evil, evil),
        Board(evil, 1, 1, (evil_scene(evil), Scene(evil, ()), evil_scene(evil)), evil, (evil, evil)),
        Board(evil, 3, 3, (evil_scene(evil), Scene("", ())), evil, (evil, evil), ring=True),
    ]
    for panel in panels:
        figure = drawn(panel)
        assert not figure.all("script")
        assert "\u202e" not in figure.text + "".join(v for node in figure.walk() for v in node.attrs.values())
        assert "<script>PWN</script>" in figure.text


@each_row(
    "value, text",
    [(None, "–"), (0, "0"), (1234567, "1,234,567"), (-3, "−3"), (0.12345, "0.123"), (1234.56, "1,234.6"), (2.0, "2")],
)
def test_numbers_are_written_for_a_reader(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("usd", "text"),
    [(None, "unknown"), (0.0, "$0.00"), (0.0004, "$0.0004"), (0.00001, "under $0.0001"), (1234.5, "$1,234.50")],
)
def test_an_unknown_cost_is_never_zero(usd: float | None, text: str) -> None:
    assert money(usd) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.04, "0.0 s"), (9.96, "10.0 s"), (42.4, "42 s"), (104.2, "1 min 44 s"), (7260, "2 h 1 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert span_of_time(seconds) == text


def test_times_are_to_the_second_and_anything_else_as_it_stands() -> None:
    assert when("2026-04-12T09:30:05.123456+00:00") == "2026-04-12 09:30:05 UTC"
    assert when("2026-04-12T09:30:05Z") == "2026-04-12 09:30:05 UTC"
    assert when("yesterday") == "yesterday"


def test_lines_of_equal_values_stand_beside_each_other() -> None:
    figure = drawn(chart("line", (1, 2, 3), (1, 2, 3), (3, 2, 1)))
    one, other, crossing = [line.attrs["points"] for line in figure.all("polyline")]
    assert one != other, "neither hides the other"
    xs = [point.partition(",")[0] for point in one.split()]
    assert xs == [point.partition(",")[0] for point in other.split()]
    alone = drawn(chart("line", (3, 2, 1), (1, 2, 3))).all("polyline")[0]
    assert crossing == alone.attrs["points"], "lines that only cross are drawn where they are"


def test_lines_on_the_axis_are_drawn_above_it() -> None:
    lines = drawn(chart("line", (0, 0, 4), (0, 0, 3), (0, 0, 2))).all("polyline")
    starts = [float(line.attrs["points"].split()[0].partition(",")[2]) for line in lines]
    assert starts == sorted(set(starts), reverse=True), "each above the one before"
    assert max(starts) == BASE


def test_between_stretches_of_an_axis_is_no_data_and_each_first_place_has_the_label() -> None:
    x = ("1.1", "1.2", "1.3", "", "2.1", "2.2")
    made = laid(chart("line", (1.0, 2.0, 3.0, None, 1.0, 2.0), x=x))
    assert [tick.text for tick in made.x_ticks] == ["1.1", "2.1"]
    assert [row[0].text for row in made.data.rows] == [name for name in x if name]


def test_the_numbers_of_a_series_without_a_name_are_headed_by_the_axis() -> None:
    made = laid(Chart("Survival", "bar", ("A", "B"), (Series("", (1.0, 2.0)),), "player", "rounds survived"))
    assert made.data.panel.columns == ("player", "rounds survived")


def test_a_telephone_leaves_out_every_second_name_only_if_it_has_no_room() -> None:
    few, many = (laid(chart("bar", tuple(range(n)), x=tuple(f"player{i}" for i in range(n)))) for n in (5, 9))
    assert not any(tick.second for tick in (*few.x_ticks, *few.y_ticks))
    assert [tick.second for tick in many.x_ticks] == [index % 2 == 1 for index in range(9)]


def test_points_that_would_touch_are_a_line_alone_but_for_those_that_stand_alone() -> None:
    values = (*map(float, range(60)), None, 3.0)
    made = laid(chart("line", values, x=tuple(map(str, range(62)))))
    assert [dot.title for dot in made.dots] == ["61, s: 3"]


def test_hyphens_before_numbers_are_minus_signs_in_a_cell_of_numbers_alone() -> None:
    said = ("-0.14 (-0.72 to +0.41)", "-$3", "2026-11-29", "gpt-4", "I lose -4 dollars")
    cells = laid(DataTable("T", ("a",) * len(said), (said,))).rows[0]
    assert [cell.text for cell in cells] == ["\u22120.14 (\u22120.72 to +0.41)", "\u2212$3", *said[2:]]


def test_a_cell_with_many_names_is_folded() -> None:
    names = ", ".join(f"agent{number}" for number in range(70))
    cell = drawn(DataTable("Votes", ("law", "for"), (("1", names), ("2", "agent1, agent2")))).all("td")
    assert [bool(each.all("details")) for each in cell] == [True, False]
    assert cell[0].one("summary").text == "70: agent0, agent1, agent2, …"
    assert names in cell[0].text
