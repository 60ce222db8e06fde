"""Tables for export: their columns are promised, their rows are what happened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentsim.games.monopoly import GAME
from agentsim.games.monopoly.auctions import AuctionClosed, AuctionOpened, BidMade
from agentsim.games.monopoly.match import GameEnded, Paid
from agentsim.games.monopoly.replay import COLUMNS
from agentsim.games.monopoly.talk import Spoke, Thought
from tests.games.monopoly.logs import NAMES, answers, buys, heard_by, log_of, offers, pays, played, rolls, side

PAGE = Path(__file__).parents[3] / "docs" / "tables.md"


def rows(log: Any, name: str) -> list[dict[str, Any]]:
    frame = GAME.tables(log, [])[name]
    assert frame.columns == COLUMNS[name]
    assert all(len(row) == len(frame.columns) for row in frame.rows)
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.rows]


def test_every_table_is_there_whatever_happened() -> None:
    for log in ([], log_of(), played(5)):
        assert list(GAME.tables(log, [])) == ["turns", "rents", "trades", "deeds", "auctions", "talk"]
    assert not any(frame.rows for frame in GAME.tables([], []).values())


def test_the_page_on_tables_names_every_column() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for table, columns in COLUMNS.items():
        row = page.partition(f"| Monopoly `{table}` |")[2].partition("\n")[0]
        assert [name for name in columns if f"`{name}`" not in row] == [], table


def test_turns_have_a_row_for_each_player_and_end_as_the_game_ends() -> None:
    log = played(300)
    found = rows(log, "turns")
    (ended,) = [told.event for told in log if isinstance(told.event, GameEnded)]
    assert len(found) == (ended.turns + 1) * 4
    last = {row["player"]: row for row in found if row["turn"] == ended.turns}
    for result in ended.results:
        row = last[result.player]
        assert (row["net_worth"], row["cash"], row["deeds"]) == (result.net_worth, result.cash, result.deeds)
        assert row["bankrupt"] == (row["position"] is None)


def test_a_turn_says_whose_it_was_and_where_all_stand() -> None:
    found = rows(log_of([*rolls("A", 1, 2, 3), *buys("A", 3, 60, 1440)]), "turns")
    assert found[3] == {
        "turn": 1,
        "active": "A",
        "player": "A",
        "cash": 1440,
        "net_worth": 1500,
        "position": 3,
        "in_jail": False,
        "bankrupt": False,
        "deeds": 1,
    }
    assert [row["active"] for row in found] == [None] * 3 + ["A"] * 3


def test_rents_are_all_that_were_paid_and_nothing_else() -> None:
    log = log_of([pays("A", "B", 50, "rent", 39, A=1450, B=1550), pays("A", None, 75, "tax", 38, A=1375)])
    assert GAME.tables(log, [])["rents"].rows == ((1, "A", "B", 39, "Boardwalk", 50),)
    whole = played(300)
    paid = sum(t.event.amount for t in whole if isinstance(t.event, Paid) and t.event.why == "rent")
    assert sum(row["amount"] for row in rows(whole, "rents")) == paid


def test_trades_have_their_terms_and_their_worth() -> None:
    log = log_of(
        [*buys("A", 39, 400, 1100), *buys("A", 1, 60, 1040)],
        [offers(1, "B", "A", side(cash=500), side(1, 39, cards=1), pitch="Sell."), answers(1, "B", "A", yes=True)],
    )
    (row,) = rows(log, "trades")
    assert row == {
        "number": 1,
        "turn": 2,
        "proposer": "B",
        "target": "A",
        "offer": "",
        "offer_cash": 500,
        "offer_jail_cards": 0,
        "request": "1 39",
        "request_cash": 0,
        "request_jail_cards": 1,
        "answer": "accepted",
        "list_balance": 10,
        "rent_proposer": 52,
        "rent_target": -52,
        "pitch": "Sell.",
    }


def test_deeds_and_auctions() -> None:
    sold = AuctionClosed(5, "B", "Bill", 40)
    bids = [BidMade(5, player, NAMES[player], bid) for player, bid in (("B", 30), ("C", 35), ("B", 40), ("C", 0))]
    log = log_of([AuctionOpened(5, ("B", "C")), *bids, sold, *buys("A", 3, 60, 1440)],
                 [AuctionOpened(6, ("A",)), AuctionClosed(6, None, "", 0)])  # fmt: skip
    assert GAME.tables(log, [])["auctions"].rows == (
        (1, 5, "Reading Railroad", 2, 3, "B", 40),
        (2, 6, "Oriental Avenue", 1, 0, None, None),
    )
    assert GAME.tables(log, [])["deeds"].rows == ((1, 3, "Baltic Avenue", None, "A", "purchase", False),)


def test_talk_pairs_words_with_thoughts_and_holds_only_what_was_heard() -> None:
    log = log_of([(Spoke("A", "Ann", 1, "Hello.", "react"), 4), (Thought("A", "Ann", 1, "Fools."), 4, ("A",))])
    assert GAME.tables(log, [])["talk"].rows == ((1, "A", "Hello.", "Fools."),)
    assert GAME.tables(heard_by(log, "B"), [])["talk"].rows == ((1, "A", "Hello.", ""),)
