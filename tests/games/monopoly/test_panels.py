"""Panels: the board by turns, money, rents, trades, landings and words, as one player or everybody heard them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agentsim.engine.event import LoggedEvent
from agentsim.engine.panel import Board, Chart, DataTable, Panel, Scene
from agentsim.engine.simulate import simulate
from agentsim.games.monopoly import GAME
from agentsim.games.monopoly.building import Built, Mortgaged
from agentsim.games.monopoly.debts import Bankrupted
from agentsim.games.monopoly.jail import Jailed, StayedInJail
from agentsim.games.monopoly.landing_odds import IN_JAIL
from agentsim.games.monopoly.match import Rolled
from agentsim.games.monopoly.panels import rests, spot
from agentsim.games.monopoly.replay import deals
from agentsim.games.monopoly.talk import Spoke, Thought
from agentsim.games.monopoly.trade import TradeDiscarded
from agentsim.report.page import PageOptions, render
from tests.games.monopoly.logs import answers, buys, heard_by, log_of, offers, pays, played, rolls, side
from tests.report.sample import sample

ALL = [
    "The board by turns",
    "Net worth",
    "Cash",
    "Rent from whom to whom",
    "Rent taken by group",
    "Trades by player",
    "Trades and what they were worth",
    "Landings against the long run",
    "Landings by space",
]


def shown(log: Sequence[LoggedEvent]) -> dict[str, Any]:
    panels: list[Panel] = GAME.panels(log, list("ABC"))
    found = {panel.title: panel for panel in panels}
    assert len(found) == len(panels), "titles are different"
    return found


def scenes(log: Sequence[LoggedEvent]) -> tuple[Scene, ...]:
    board = shown(log)["The board by turns"]
    assert isinstance(board, Board)
    return board.scenes


def tile(scene: Scene, position: int) -> Any:
    return scene.tiles[position]


# the board


def test_the_forty_spaces_are_a_ring_of_eleven_by_eleven_with_go_at_the_bottom_right() -> None:
    spots = [spot(position) for position in range(40)]
    assert len(set(spots)) == 40
    assert all(column in {0, 10} or row in {0, 10} for column, row in spots)
    assert [spots[corner] for corner in (0, 10, 20, 30)] == [(10, 10), (0, 10), (0, 0), (10, 0)]
    steps = zip(spots, [*spots[1:], spots[0]], strict=True)
    assert all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in steps), "each is next to the one before"


def test_bars_of_groups_face_the_middle() -> None:
    (start, *_) = scenes(log_of([*rolls("A", 1, 2, 3)]))
    edges = {position: tile(start, position).edge for position in (1, 11, 21, 31)}
    assert edges == {1: "top", 11: "right", 21: "bottom", 31: "left"}
    assert [tile(start, position).hue for position in (0, 1, 5, 12, 24, 39)] == [
        *(None, "brown", None, None, "red", "blue")
    ]


def test_owners_buildings_mortgages_tokens_and_jail_stand_on_the_board_of_their_turn() -> None:
    log = log_of(
        [*rolls("A", 1, 2, 3), *buys("A", 3, 60, 1440)],
        [*rolls("B", 6, 4, 10), Jailed("B", "Bill", "card"), Mortgaged(3, "A", "Ann", 30, 1470)],
        [Built(39, "C", "Chidi", 200, 0, 3, 29, 12, 900), Built(37, "C", "Chidi", 200, 4, 5, 32, 11, 700)],
        [Bankrupted("A", "Ann", None, "the bank", 5, 0)],
    )
    start, first, second, third, fourth = scenes(log)
    assert [scene.caption for scene in (start, first, second)] == [
        "Before the first turn",
        "Turn 1: Ann",
        "Turn 2: Bill",
    ]
    assert (tile(start, 3).owner, tile(first, 3).owner, tile(first, 3).struck) == (None, "Ann", False)
    assert (tile(second, 3).struck, tile(second, 3).note) == (True, "mortgaged")
    assert tile(third, 39).blocks == ("small",) * 3
    assert "3 houses" in tile(third, 39).says
    assert (tile(third, 37).blocks, "hotel" in tile(third, 37).says) == (("large",), True)
    assert tile(second, 39).blocks == ()
    where = {piece.name: (piece.column, piece.row, piece.held) for piece in second.pieces}
    assert where == {"Ann": (*spot(3), False), "Bill": (*spot(10), True), "Chidi": (*spot(0), False)}
    assert [piece.name for piece in fourth.pieces] == ["Bill", "Chidi"]
    assert second.rows[0] == ("Ann", 1470, 1500, 1, 0, "Baltic Avenue")
    assert second.rows[1][-1] == "in jail"
    assert fourth.rows[0] == ("Ann", 0, 0, 0, 0, "bankrupt")
    assert first.notes == (
        "Ann rolls 1 and 2: Baltic Avenue",
        "Ann buys Baltic Avenue",
        "The bank has 32 houses and 12 hotels left.",
    )
    assert third.notes[-1] == "The bank has 29 houses and 11 hotels left."


def test_a_turn_of_very_many_events_tells_the_first_and_how_many_more() -> None:
    many = [Mortgaged(3, "A", "Ann", 30, 1470)] * 40
    notes = scenes(log_of(many))[1].notes
    assert len(notes) == 14
    assert notes[12] == "and 28 more"


# money


def test_net_worth_and_cash_by_turn() -> None:
    panels = shown(log_of([*buys("A", 39, 400, 1100)], [Mortgaged(39, "A", "Ann", 200, 1300)], []))
    worth, cash = panels["Net worth"], panels["Cash"]
    assert worth.x == ("0", "1", "2")
    assert [series.values for series in worth.series if series.name == "Ann"] == [(1500.0, 1500.0, 1500.0)]
    assert [series.values for series in cash.series if series.name == "Ann"] == [(1500.0, 1100.0, 1300.0)]


def test_rent_from_whom_to_whom_and_by_group() -> None:
    panels = shown(
        log_of(
            [pays("A", "B", 50, "rent", 39, A=1450, B=1550), pays("A", "B", 25, "rent", 5, A=1425, B=1575)],
            [pays("C", "A", 6, "rent", 6, A=1431, C=1494), pays("C", None, 100, "tax", 38, C=1394)],
        )
    )
    assert panels["Rent from whom to whom"].rows == (("Ann", None, 75, 0), ("Bill", 0, None, 0), ("Chidi", 6, 0, None))
    assert panels["Rent from whom to whom"].heat
    chart = panels["Rent taken by group"]
    taken = {(s.name, x): value for s in chart.series for x, value in zip(chart.x, s.values, strict=True) if value}
    assert taken == {("Bill", "dark blue"): 50, ("Bill", "railroad"): 25, ("Ann", "light blue"): 6}


# trades


def traded() -> list[LoggedEvent]:
    """A holds Boardwalk and mortgaged Baltic; B Park Place: the trade would make A's group whole."""
    return log_of(
        [*buys("A", 39, 400, 1100), *buys("A", 3, 60, 1040), Mortgaged(3, "A", "Ann", 30, 1070)],
        [*buys("B", 37, 350, 1150)],
        [
            offers(1, "A", "B", side(3, cash=300), side(37), pitch="Take it.", mortgaged=(3,)),
            answers(1, "A", "B", yes=False),
            offers(2, "A", "B", side(3, cash=400, cards=1), side(37), mortgaged=(3,)),
            answers(2, "A", "B", yes=True),
            (TradeDiscarded("A", "Ann", "no cash"), 5, ("A",)),
            offers(3, "C", "A", side(cash=1), side()),
        ],
    )


def test_a_deal_is_valued_by_list_price_and_by_the_rents_that_it_changes() -> None:
    """350 for 30 and 300 in cash; A's rents go from 50 to 2 x 50 + 2 x 35, B's from 35 to 0 (mortgaged Baltic)."""
    first, second, third = deals(traded())
    assert (first.list_balance, first.rent_proposer, first.rent_target) == (20, 120, -35)
    assert second.list_balance == 350 - 30 - 400 - 50
    assert (third.list_balance, third.rent_proposer, third.rent_target) == (-1, 0, 0)
    assert [deal.answer for deal in (first, second, third)] == ["rejected", "accepted", "open"]


def test_trades_with_their_terms_answers_and_balance() -> None:
    panels = shown(traded())
    rows = panels["Trades and what they were worth"].rows
    assert rows[0] == (3, "Ann", "Baltic Avenue + $300", "Bill", "Park Place", "rejected", "+20", "+120", "\u221235")
    assert panels["Trades by player"].rows == (
        ("Ann", 2, 1, 1, 1, 0, -130),
        ("Bill", 0, 0, 0, 2, 1, 130),
        ("Chidi", 1, 0, 0, 0, 0, 0),
    )


def test_of_very_many_trades_the_rejected_ones_give_way() -> None:
    events = [
        e for n in range(1, 501) for e in (offers(n, "A", "B", side(cash=1), side()), answers(n, "A", "B", yes=n < 3))
    ]
    table = shown(log_of(events))["Trades and what they were worth"]
    assert len(table.rows) == 300
    assert [row[5] for row in table.rows[:3]] == ["accepted", "accepted", "rejected"]
    assert "300 of 500" in table.note


# landings


def test_a_token_rests_where_the_last_move_of_its_roll_leaves_it() -> None:
    jailed = Rolled("C", "Chidi", (1, 2), "jail")
    log = log_of(
        [*rolls("A", 3, 4, 7), rolls("A", 0, 0, 4, 7)[1], Rolled("A", "Ann", (1, 1), "rent")],
        [*rolls("B", 5, 5, 10), Rolled("B", "Bill", (6, 6), "move"), Jailed("B", "Bill", "third doubles")],
        [jailed, StayedInJail("C", "Chidi", 1)],
    )
    assert rests(log) == {4: 1, 10: 1, IN_JAIL: 2}


def test_landings_are_held_against_the_long_run() -> None:
    log = played()
    panels = shown(log)
    board, table = panels["Landings against the long run"], panels["Landings by space"]
    total = sum(isinstance(told.event, Rolled) and told.event.purpose != "rent" for told in log)
    assert sum(row[1] for row in table.rows) == total
    assert len(table.rows) == 41
    for column in (2, 3, 4):
        assert sum(row[column] for row in table.rows) == pytest.approx(100, abs=0.3)
    (scene,) = board.scenes
    assert sum(tile.heat for tile in scene.tiles) == pytest.approx(1)
    assert scene.tiles[24].note == "(3.2%)"
    assert scene.tiles[30].note == "(0.0%)"


# words


def spoken() -> list[LoggedEvent]:
    return log_of(
        [
            (offers(1, "A", "B", side(cash=5), side(), pitch="A bargain."), 7),
            (Spoke("A", "Ann", 1, "Trust me.", "answer_trade"), 7),
            (Thought("A", "Ann", 1, "A swindle."), 7, ("A",)),
            (Thought("B", "Bill", 1, "She lies."), 8, ("B",)),
            (Spoke("C", "Chidi", 1, "Ha.", "react"), 9),
        ]
    )


def test_a_player_sees_its_own_thoughts_and_everybodys_words() -> None:
    text = repr(shown(heard_by(spoken(), "B")))
    assert "She lies." in text
    assert "Trust me." in text
    assert "A bargain." in text
    assert "swindle" not in text


# parts of a log


def test_before_the_first_turn_there_is_nothing_and_a_whole_game_has_all() -> None:
    assert shown([]) == {}
    assert shown(log_of()) == {}
    assert shown(played(2))["The board by turns"]
    assert list(shown(played(300, "shark"))) == ALL


@pytest.mark.parametrize("seen_by", [None, "C"], ids=["all", "C"])
def test_a_log_cut_anywhere_is_shown(seen_by: str | None) -> None:
    log = played(40)
    for cut in range(0, len(log) + 1, 7):
        part = log[:cut] if seen_by is None else heard_by(log[:cut], seen_by)
        for panel in shown(part).values():
            if isinstance(panel, DataTable):
                assert all(len(row) == len(panel.columns) for row in panel.rows)
            elif isinstance(panel, Chart):
                assert all(len(series.values) == len(panel.x) for series in panel.series)
            else:
                assert isinstance(panel, Board)
                assert all(len(row) == len(panel.headings) for scene in panel.scenes for row in scene.rows)


def test_what_others_think_is_in_no_panel_of_a_player() -> None:
    log = played(300, "shark")
    secrets = {t.event.text for t in log if isinstance(t.event, Thought) and t.event.player != "A"}
    own = {t.event.text for t in log if isinstance(t.event, Thought) and t.event.player == "A"}
    text = repr(shown(heard_by(log, "A")))
    assert secrets - own, "or there is nothing to test"
    assert not [secret for secret in secrets - own if secret in text]


def test_the_panels_of_a_thousand_turns_are_small() -> None:
    log = simulate(GAME, {"max_turns": 1000, "start_cash": 50_000}, list("ABCD"), bot="shark").log
    panels = GAME.panels(log, list("ABCD"))
    assert isinstance(panels[0], Board)
    assert len(panels[0].scenes) > 900, "or there is nothing to test"
    page = render(sample(), panels, PageOptions(), name="n", css="")
    assert len(page.encode()) < 2_000_000
