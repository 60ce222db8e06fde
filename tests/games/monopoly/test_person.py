"""A person at the table: every question in plain words, every mistake told at once, and nothing typed twice for it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentsim.engine.request import Ask
from agentsim.errors import Interrupted
from agentsim.games.monopoly.auctions import AuctionBid
from agentsim.games.monopoly.board import DEEDS, SPACES
from agentsim.games.monopoly.building import Bundle, HouseOrHotel, ManageEstate
from agentsim.games.monopoly.buying import BuyOrAuction
from agentsim.games.monopoly.debts import RaiseCash
from agentsim.games.monopoly.jail import JailAction
from agentsim.games.monopoly.phase import PhaseAction
from agentsim.games.monopoly.trade import AnswerTrade, ProposeTrade, React, Side
from agentsim.players.page_form import Form
from tests.games.monopoly.asked import MEMORY, board, questions
from tests.games.monopoly.table import Game
from tests.players.filled import filled
from tests.players.keyboard import played
from tests.players.test_human import Screen

WORDS = ("Hm.", "Hello, all.")


def one(kind: type[Any]) -> Any:
    return next(request for request in questions() if isinstance(request, kind))


@pytest.mark.parametrize(
    ("kind", "lines", "action"),
    [
        (BuyOrAuction, ("Buy",), "buy"),
        (AnswerTrade, ("REJECT",), "reject"),
        (JailAction, ("use_card",), "use_card"),
        (JailAction, ("manage",), "manage"),
        (JailAction, ("Pay fine",), "pay_fine"),
    ],
)
def test_a_choice_is_typed_as_it_is_listed(kind: type[Any], lines: tuple[str, ...], action: str) -> None:
    decision, _ = filled(one(kind), *lines, *WORDS)
    assert (decision.action, decision.private_thought, decision.public_speech) == (action, *WORDS)


def test_a_bid_is_typed_as_a_number() -> None:
    decision, text = filled(one(AuctionBid), "a lot", "$130", *WORDS)
    assert decision.action.bid == 130
    assert "A whole number, please: 130 to 1100, or 0 to withdraw." in text


def test_the_proposer_may_say_something_or_nothing() -> None:
    assert filled(one(React), "", "")[0].public_speech == ""
    assert filled(one(React), *WORDS)[0].public_speech == WORDS[1]


def test_a_trade_is_proposed_by_names_or_positions() -> None:
    lines = ("yes", "professor", "Oriental, 5", "50", "", "park place", "", "The deal of your life!")
    decision, text = filled(one(ProposeTrade), *lines, *WORDS)
    action = decision.action
    assert (action.target_player, action.pitch) == ("Professor", "The deal of your life!")
    assert action.offer == Side(properties=(6, 5), cash=50)
    assert action.request == Side(properties=(37,))
    assert "offer: jail cards [0 to 1; empty for 0]" in text
    assert "request: jail cards" not in text, "nobody else has one"


def test_no_trade_is_one_word() -> None:
    decision, text = filled(one(ProposeTrade), "no", *WORDS)
    assert not decision.action.propose_trade
    assert "offer:" not in text.rpartition("propose trade")[2]


def test_a_name_that_is_mistyped_is_asked_for_again() -> None:
    lines = ("yes", "Sharky", "Shark", "", "10", "0", "boardwalk", "0", "Take it.", "no")
    assert "One of these, please: Shark, Professor, Turtle." in filled(one(ProposeTrade), *lines, *WORDS)[1]


def test_an_estate_is_seen_to_list_by_list_or_not_at_all() -> None:
    lines = ("yes", "Illinois house, 21 house", "", "st. charles", "Indiana house")
    with_sales, _ = filled(one(ManageEstate), *lines[:3], "", "", *WORDS)
    assert with_sales.action == Bundle(sells=(HouseOrHotel(position=24), HouseOrHotel(position=21)))
    lifted, _ = filled(one(ManageEstate), "yes", "", "", "charles", "", *WORDS)
    assert lifted.action.unmortgages == (11,)
    nothing, text = filled(one(ManageEstate), "no", *WORDS)
    assert nothing.action.empty
    assert text.count("[yes / no]: your thought (private) [") == 1


def test_of_a_phase_a_person_says_first_what_it_does() -> None:
    nothing, text = filled(one(PhaseAction), "nothing", *WORDS)
    assert nothing.action.do == "nothing"
    assert "your action [nothing / propose_trade / manage_estate]: " in text
    lines = ("propose trade", "turtle", "charles", "10", "baltic", "0", "0", "Take it.", "yes")
    trade, _ = filled(one(PhaseAction), *lines, *WORDS)
    assert (trade.action.target_player, trade.action.end_phase) == ("Turtle", True)
    assert (trade.action.offer, trade.action.request) == (
        Side(properties=(11,), cash=10),
        Side(properties=(3,)),
    )
    lifted, _ = filled(one(PhaseAction), "manage_estate", "", "", "charles", "23 house", "no", *WORDS)
    assert (lifted.action.unmortgages, lifted.action.builds) == ((11,), (HouseOrHotel(position=23),))


def test_a_debt_is_raised_by_sales_mortgages_or_a_trade() -> None:
    decision, _ = filled(one(RaiseCash), "kentucky house, illinois house", "", "no", *WORDS)
    assert decision.action.sells == (HouseOrHotel(position=21), HouseOrHotel(position=24))
    lines = ("", "", "yes", "Turtle", "11", "0", "", "300", "0", "Save me.")
    decision, _ = filled(one(RaiseCash), *lines, *WORDS)
    assert (decision.action.trade.target_player, decision.action.trade.request.cash) == ("Turtle", 300)


@pytest.mark.parametrize(
    ("request_", "wrong", "right", "reason"),
    [
        (one(ProposeTrade), ("yes", "Professor", "1", "", "0", "park place", "0", "Take it."), ("no",),
         "Mediterranean Avenue does not belong to the proposer."),
        (one(ProposeTrade), ("yes", "Turtle", "", "10", "0", "park place", "0", "Take it."), ("no",),
         "Park Place does not belong to the other player."),
        (one(RaiseCash), ("", "", "yes", "Hustler", "11", "0", "", "1400", "0", "Please."), ("21 house", "", "no"),
         "the other player does not have $1400."),
    ],
)  # fmt: skip
def test_a_trade_that_cannot_be_is_told_and_asked_again_before_it_counts(
    request_: Any, wrong: tuple[str, ...], right: tuple[str, ...], reason: str
) -> None:
    decision, text = filled(request_, *wrong, *right, *WORDS)
    assert f"That will not do: {reason}" in " ".join(text.split())
    assert not request_.warning(decision)


def asked(request: Any) -> set[str]:
    """The fields that a person is asked of the action, and of what is in it."""

    def fields(part: Any, within: str = "") -> set[str]:
        inner = part.parts or {}
        return set().union({within} if within else set(), *(fields(inner[name], f"{within}.{name}") for name in inner))

    return fields(Form(request).fields["action"])


def test_nothing_is_asked_for_that_cannot_matter() -> None:
    def of(game: Game, kind: type[Any] = ManageEstate, **more: Any) -> set[str]:
        return asked(game.match.request(0, kind, **(more or {"when": "after"})))

    assert of(Game("AB", A="1 5")) == {".mortgages"}
    assert of(Game("AB", A="1 3")) == {".mortgages", ".builds"}
    assert of(Game("AB", A="1:1 3:1")) == {".sells", ".mortgages", ".builds"}
    assert of(Game("AB", A="5m")) == {".unmortgages"}
    debt = {"owed": 900, "creditor": "B", "why": "rent", "may_propose": False}
    assert of(Game("AB", A="5 15"), RaiseCash, **debt) == {".mortgages"}
    trade = of(Game("AB", A="5"), ProposeTrade, when="after", made=0, left=1)
    assert {name for name in trade if name.count(".") > 1} == {".offer.properties", ".offer.cash", ".request.cash"}


def test_the_only_other_player_need_not_be_named_and_cash_is_what_there_is() -> None:
    game = Game("AB", A="5 $90", B="$70")
    request = game.match.request(0, ProposeTrade, when="before", made=0, left=1)
    decision, text = filled(request, "yes", "", "reading", "91", "", "71", "70", "", *WORDS)
    assert decision.action.target_player == "B"
    assert (decision.action.offer.cash, decision.action.request.cash) == (0, 70)
    assert "A whole number from 0 to 90, please." in text
    assert "A whole number from 0 to 70, please." in text
    assert "names or numbers" in text


def test_a_debtor_may_sell_the_houses_of_what_it_offers() -> None:
    """The trade comes after the rest of the answer, and is judged as things are then."""
    game = Game("AB", A="1:1 3:1 $0 @30", B="$500")

    def raising(may_propose: bool) -> RaiseCash:
        return game.match.request(0, RaiseCash, owed=300, creditor="B", why="rent", may_propose=may_propose)

    lines = ("baltic house, mediterranean house", "", "yes", "", "mediterranean", "0", "250", "Please.")
    decision, _ = filled(raising(may_propose=True), *lines, *WORDS)
    assert decision.action.trade.offer.properties == (1,)
    unheard = decision.model_copy(update={"action": decision.action.model_copy(update={"sells": ()})})
    assert "there are buildings in the group" in raising(may_propose=True).warning(unheard)
    assert not raising(may_propose=False).warning(unheard)
    lines = ("baltic house, mediterranean house", "", "yes", "B", "", "49", "", "Please.")
    decision, _ = filled(raising(may_propose=True), *lines, *WORDS)
    assert decision.action.trade.offer.cash == 49, "of the 50 that the houses bring"


UNBUILT = replace(board(), houses=(0,) * len(SPACES), mortgaged=(False,) * len(SPACES), bank_houses=32)


@pytest.mark.parametrize(
    ("request_", "wrong", "right", "reason"),
    [
        (one(AuctionBid), ("129",), ("0",), "bid must be 0, or from 130 to 1100."),
        (one(AuctionBid), ("1101",), ("1100",), "A whole number, please: 130 to 1100, or 0 to withdraw."),
        (one(BuyOrAuction), ("rob",), ("auction",), "One of these, please: buy, auction."),
        (one(JailAction), ("flee",), ("pay_fine",),
         "One of these, please: pay_fine, use_card, roll_doubles, manage."),
        (one(ManageEstate), ("yes", "", "illinois", "", ""), ("no",),
         "Illinois Avenue cannot be mortgaged: sell the buildings of the red group first."),
        (one(ManageEstate), ("yes", "", "", "", "24 house"), ("no",),
         "Illinois Avenue cannot be built on: Illinois Avenue has more than another lot of its group: building is "
         "even."),
        (one(ManageEstate), ("yes", "23 house", "", "", ""), ("no",),
         "Indiana Avenue cannot be sold: Indiana Avenue has less than another lot of its group: selling is even."),
        (one(ManageEstate), ("yes", "", "boardwalk", "", ""), ("no",),
         "Boardwalk cannot be mortgaged: Boardwalk is not yours."),
        (one(ManageEstate), ("yes", "", "", "", "6 house"), ("no",),
         "Oriental Avenue cannot be built on: Oriental Avenue needs the whole light blue group."),
        (ManageEstate(player="Shark", when="after", view=replace(UNBUILT, seats=board((40, 0, 0, 0)).seats),
                      memory=MEMORY, words=30, chars=600, max_turns=200, start_cash=1500, auctioned=True, since=1,
                      offers=()),
         ("yes", "", "24 house"), ("no",), "There is not the cash for all of it: $110 short."),
        (one(RaiseCash), ("", "", "no"), ("21 house", "", "no"),
         "sell or mortgage something, or propose a trade: you owe."),
    ],
)  # fmt: skip
def test_what_the_rules_forbid_is_told_before_any_words_are_asked_for(
    request_: Any, wrong: tuple[str, ...], right: tuple[str, ...], reason: str
) -> None:
    decision, text = filled(request_, *wrong, *right, *WORDS)
    assert (decision.private_thought, decision.public_speech) == WORDS
    assert " ".join(text.split()).count(reason) == 1
    assert text.count("your words to all [") == 1, "nothing is typed twice but what was wrong"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("Broadwalk", "Broadwalk: that is no name here. A name or a number, please."),
        ("Place", "Which one: 11 St. Charles Place or 16 St. James Place or 37 Park Place?"),
        ("40", "40: A whole number from 0 to 39, please."),
        ("Pennsylvania", "Which one: 15 Pennsylvania Railroad or 34 Pennsylvania Avenue?"),
        ("6.5", "6.5: A whole number from 0 to 39, please."),
    ],
)
def test_a_deed_that_nobody_knows_is_asked_for_again(line: str, reason: str) -> None:
    lines = ("yes", "Shark", line, "6", "0", "0", "", "0", "Take it.")
    assert reason in filled(one(ProposeTrade), *lines, *WORDS)[1]


def test_every_deed_has_its_name_for_a_person() -> None:
    assert one(BuyOrAuction).named_numbers() == {SPACES[position].name: position for position in DEEDS}


@pytest.mark.parametrize("request_", [request for request in questions() if request.player != "@summarizer"])
def test_a_person_reads_no_json_but_the_shape_of_the_answer_and_no_tags(request_: Any) -> None:
    screen = Screen(persona="")
    with pytest.raises(Interrupted, match="the input ended"):
        screen.answer(Ask(index=1, wave=1, place=0, nth=1, request=request_))
    shown, _, shape = screen.text.partition("Ctrl-C")[2].partition("\nAnswer: {")
    assert shape
    assert '{"' not in shown
    assert not re.search(r"^\[[A-Z_]+\]$", shown, re.MULTILINE)
    assert "\n\n\n" not in shown
    for fact in request_.question()[:-1]:
        if not fact.startswith("{"):
            assert " ".join(fact.split()) in " ".join(shown.split())


def test_what_is_summed_up_later_is_no_news() -> None:
    first, screen = one(BuyOrAuction), Screen("buy", "", "buy", "", persona="")
    later = replace(first, memory=replace(MEMORY, earlier=(*MEMORY.earlier, "Turns 21 to 30: nothing."), told=()))
    for index, request in enumerate((first, later), start=1):
        screen.answer(Ask(index=index, wave=index, place=0, nth=index, request=request))
    assert "Turns 11 to 20" in screen.text, "to somebody who has come back, it is news"
    assert "Turns 21 to 30" not in screen.text
    assert "Since you were last asked" not in screen.text


SCENARIO = """
game = "monopoly"
seed = 1
[game_config]
max_turns = 24
auction_min_step = 10
[defaults]
model = "bot/hustler"
[[players]]
id = "Ann"
model = "human"
[[players]]
id = "Bea"
[[players]]
id = "Cyd"
[[players]]
id = "Dan"
"""
TRADE = (
    '{"do": "propose_trade", "target_player": "%s", "offer": {"properties": [], "cash": 10}, '
    '"request": {"properties": [], "cash": 0}, "pitch": "Please.", "end_phase": true}'
)
ANSWERS = {
    r'"do": ': (
        "?",
        '{"action": %s, "public_speech": "Good evening, tàble."}' % (TRADE % "Zed"),
        '{"action": %s,\n "public_speech": "Good evening, tàble."}' % (TRADE % "Bea"),
        '{"action": {"do": "nothing"}, "public_speech": "Good evening, tàble."}',
    ),
    r'"action": "<buy or auction>"': ("keep", "action: buy\npublic_speech: Mine, tàble.", "auction"),
    r'"bid": ': ("1000000", "bid: 0"),
    r'"action": "<accept or reject>"': ("maybe", "reject"),
}


def test_a_person_plays_at_a_real_terminal_and_is_told_every_mistake(tmp_path: Path) -> None:
    game = played(tmp_path, SCENARIO, ANSWERS)
    assert "That will not do: There is no decision in the reply." in game.screen
    for seen in ("Ann rolls ", "Bea rolls ", "Bea pays ", "Ann comes to "):  # which no question says
        assert seen in game.screen, seen
    assert game.screen.count("You are playing Monopoly") == 2, "at the beginning, and for the question mark"
    mine = game.decisions("Ann")
    assert {record["source"] for record in mine} == {"human"}
    kinds = {record["kind"] for record in mine}
    assert kinds >= {"buy_or_auction", "auction_bid", "phase_action", "answer_trade"}
    done = {record["decision"]["action"]["do"] for record in mine if record["kind"] == "phase_action"}
    assert done == {"nothing", "propose_trade"}
    assert {"Mine, tàble.", "Good evening, tàble."} <= {record["decision"]["public_speech"] for record in mine}
