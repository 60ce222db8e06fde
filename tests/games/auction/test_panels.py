"""Panels: what a reader is shown, from the whole log or from the part that one team heard."""

from __future__ import annotations

from typing import Any

import pytest

from agentsim.engine.panel import Chart, DataTable, Panel, Point, Scatter
from agentsim.engine.simulate import Simulation
from agentsim.games.auction import GAME
from agentsim.games.auction.bidding import BidMade
from agentsim.games.auction.items import Item
from agentsim.games.auction.state import PRICING, Auction, Team
from tests.amounts import each_row
from tests.games.auction.auction import FORMATS, SEALED, play

ITEMS = "Compass 60, Kettle -5, Compass 50, Gyroscope 40"
OPEN = ["Price paths", "High bid by iteration"]
ALWAYS = ["Budgets", "Required components"]
ENDS = ["Who outbid whom", "Price against quality"]


def _played(**config: Any) -> Simulation:
    """B overbids A for the compass; the kettle is lost; A takes the second compass, raising itself; B the gyroscope."""
    return play(
        ITEMS,
        {"A": [30, 0, 0, 0, 10, 15, 0, 0, 0], "B": [20, 40, 0, 5_000, 0, 0, 0, 7, 0], "C": []},
        ["ABC"],
        names={"A": "Amber"},
        **config,
    )


def _sealed(format_: str) -> Simulation:
    return play(
        ITEMS,
        {"A": [30, 0, 10, 0], "B": [40, 5_000, 0, 7], "C": [None, 0, 0, 0]},
        names={"A": "Amber"},
        format=format_,
    )


def _panels(played: Simulation, seen_by: str | None = None) -> dict[str, Any]:
    log = [told for told in played.log if seen_by is None or told.heard_by(seen_by)]
    panels = {panel.title: panel for panel in GAME.panels(log, [])}
    assert len(panels) == len(GAME.panels(log, []))
    return panels


def _series(panel: Panel) -> dict[str, tuple[float | None, ...]]:
    assert isinstance(panel, Chart)
    assert all(len(series.values) == len(panel.x) for series in panel.series)
    return {series.name: series.values for series in panel.series}


def test_the_display_says_what_each_team_has_in_no_currency() -> None:
    teams = {"A": Team("A", "Amber", 1_953, (Item("Compass", 60, True),)), "B": Team("B", "B", 85)}
    auction = Auction(teams, (), 2_000, PRICING["ascending"], round=1)
    assert [words for _, words, _ in auction.progress().players] == [
        "1 of the set, 1,953 left",
        "0 of the set, 85 left",
    ]


def test_an_open_auction_has_prices_budgets_completion_outbidding_and_the_curse() -> None:
    assert list(_panels(_played())) == ["What each team bought", *OPEN, *ALWAYS, *ENDS]


@pytest.mark.parametrize("format_", SEALED)
def test_a_sealed_auction_has_its_bids_in_place_of_paths(format_: str) -> None:
    titles = ["What each team bought", "Sealed bids", *ALWAYS, "Price against quality"]
    assert list(_panels(_sealed(format_))) == titles


def test_what_each_team_bought_is_listed_best_first() -> None:
    panel = _panels(_played())["What each team bought"]
    assert panel.rows == (("B", 2, "Compass, Gyroscope"), ("Amber", 1, "Compass"), ("C", 0, "nothing"))


def test_the_price_path_of_every_item_by_iteration_with_a_gap_between_items() -> None:
    panel = _panels(_played())["Price paths"]
    assert panel.x == ("1.1", "1.2", "1.3", "", "2.1", "", "3.1", "3.2", "3.3", "", "4.1", "4.2")
    assert _series(panel) == {"high bid": (30.0, 40.0, 40.0, None, 0.0, None, 10.0, 15.0, 15.0, None, 7.0, 7.0)}


def test_the_high_bid_by_iteration_names_who_took_the_item() -> None:
    panel = _panels(_played())["High bid by iteration"]
    assert panel.columns == ("item (quality)", "1", "2", "3", "taken by")
    assert panel.rows == (
        ("Compass (60)", 30, 40, 40, "B"),
        ("Kettle (5, not required)", 0, None, None, "(lost)"),
        ("Compass (50)", 10, 15, 15, "Amber"),
        ("Gyroscope (40)", 7, 7, None, "B"),
    )


def test_budgets_over_rounds() -> None:
    panel = _panels(_played())["Budgets"]
    assert panel.x == ("0", "1", "2", "3", "4")
    assert _series(panel) == {
        "Amber": (1_000.0, 1_000.0, 1_000.0, 985.0, 985.0),
        "B": (1_000.0, 960.0, 960.0, 960.0, 953.0),
        "C": (1_000.0,) * 5,
    }


def test_losers_budgets_fall_too_where_all_pay() -> None:
    series = _series(_panels(_sealed("all_pay"))["Budgets"])
    assert series["Amber"] == (1_000.0, 970.0, 970.0, 960.0, 960.0)
    assert series["B"] == (1_000.0, 960.0, 960.0, 960.0, 953.0)


def test_the_set_is_completed_by_different_required_items_alone() -> None:
    played = play(ITEMS, {"A": [1, 0, 1, 0, 1, 0, 1, 0], "B": []})
    series = _series(_panels(played)["Required components"])
    assert series == {"A": (0.0, 1.0, 1.0, 1.0, 2.0), "B": (0.0,) * 5}


def test_who_outbid_whom_and_itself() -> None:
    panel = _panels(_played())["Who outbid whom"]
    assert panel.columns == ("team", "Amber", "B", "C")
    assert panel.rows == (("Amber", 1, 0, 0), ("B", 1, 0, 0), ("C", 0, 0, 0))


def test_price_against_quality() -> None:
    panel = _panels(_played())["Price against quality"]
    assert isinstance(panel, Scatter)
    assert panel.points == (
        Point(60.0, 40.0, "Compass: B", "required"),
        Point(50.0, 15.0, "Compass: Amber", "required"),
        Point(40.0, 7.0, "Gyroscope: B", "required"),
    )


def test_sealed_bids_are_shown_as_they_were_made_with_the_price() -> None:
    panel = _panels(_sealed("sealed_second_price"))["Sealed bids"]
    assert panel.columns == ("item", "Amber", "B", "C", "taken by", "price")
    assert panel.rows == (
        ("Compass", 30, 40, "unreadable", "B", 30),
        ("Kettle", "passes", "5000 (over budget)", "passes", "(lost)", None),
        ("Compass", 10, "passes", "passes", "Amber", 0),
        ("Gyroscope", "passes", 7, "passes", "B", 0),
    )


# parts of a log


@each_row("format_", FORMATS)
@each_row("seen_by", [None, "A", "C"])
def test_a_log_cut_anywhere_shows_what_there_is(format_: str, seen_by: str | None) -> None:
    log = (_played() if format_ == "ascending" else _sealed(format_)).log
    for cut in range(len(log) + 1):
        part = [told for told in log[:cut] if seen_by is None or told.heard_by(seen_by)]
        panels = GAME.panels(part, [])
        titles = [panel.title for panel in panels]
        assert len(set(titles)) == len(titles)
        assert ("What each team bought" in titles) == (cut == len(log))
        for panel in panels:
            if isinstance(panel, DataTable):
                assert all(len(row) == len(panel.columns) for row in panel.rows)
            elif isinstance(panel, Chart):
                assert _series(panel)


def test_before_the_first_item_there_is_nothing_and_before_the_first_bid_no_prices() -> None:
    log = _played().log
    assert GAME.panels([], []) == []
    assert GAME.panels(log[:1], []) == []
    first_bid = next(index for index, told in enumerate(log) if isinstance(told.event, BidMade))
    assert [panel.title for panel in GAME.panels(log[:first_bid], [])] == ALWAYS
    assert [panel.title for panel in GAME.panels(log[: first_bid + 1], [])] == [*OPEN, *ALWAYS, "Who outbid whom"]


def test_an_item_that_is_still_on_sale_is_nobodys() -> None:
    log = _played().log
    first_bid = next(index for index, told in enumerate(log) if isinstance(told.event, BidMade))
    panels: dict[str, Any] = {panel.title: panel for panel in GAME.panels(log[: first_bid + 1], [])}
    assert panels["High bid by iteration"].rows == (("Compass (60)", 30, None),)


def test_a_team_sees_public_prices_and_not_what_others_bid_in_vain() -> None:
    panels = _panels(_played(), seen_by="A")
    assert "5000" not in repr(panels)
    assert "5_000" not in repr(panels)
    assert panels["High bid by iteration"].rows[0] == ("Compass (60)", 30, 40, 40, "B")
    assert panels["Who outbid whom"].rows == _panels(_played())["Who outbid whom"].rows


@pytest.mark.parametrize("format_", SEALED)
def test_a_team_sees_its_own_sealed_bids_alone(format_: str) -> None:
    panel = _panels(_sealed(format_), seen_by="A")["Sealed bids"]
    assert [row[1:4] for row in panel.rows] == [
        (30, None, None),
        ("passes", None, None),
        (10, None, None),
        ("passes", None, None),
    ]
