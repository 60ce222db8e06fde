"""Coverage: which kinds of things happened in games, by name; and all the kinds there are, so that none is missed.

Nothing is judged here: whether what happened was right is the `ledger`, which must be a step behind in what it hears.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, get_args

from agentsim.engine.decision import Decision
from agentsim.engine.event import LoggedEvent
from agentsim.engine.request import Request
from agentsim.games.monopoly import GAME
from agentsim.games.monopoly.auctions import AuctionClosed, AuctionOpened
from agentsim.games.monopoly.board import CARDS, CHANCE, COMMUNITY_CHEST, GROUPS, SPACES
from agentsim.games.monopoly.building import Built, Mortgaged, Sold, Unmortgaged
from agentsim.games.monopoly.debts import Bankrupted
from agentsim.games.monopoly.game import REQUESTS
from agentsim.games.monopoly.jail import Freed, Jailed
from agentsim.games.monopoly.match import CardDrawn, CardMoved, DeedMoved, Moved, Paid, Rolled, Why
from agentsim.games.monopoly.talk import Narrated
from agentsim.games.monopoly.trade import TradeAccepted
from tests.games.monopoly.ledger import Ledger

MEANS = ("selling", "mortgaging", "a trade")
DEBTS = (
    *("a tax", "a rent", "a card to the bank", "C15 to each", "H09 from each", "the fine of the third roll"),
    "interest inherited",
)
GROUNDS = ("unowned", "own", "mortgaged", "rented")
SPACES_OF = {"chance": (7, 22, 36), "community_chest": (2, 17, 33)}
TWINS = {"C05": "C05/C06", "C06": "C05/C06"}
"""Two copies of one card."""
LEADING = ("C01", "C03", "C04", "C05/C06", "C07", "C10", "C14")
"""Cards that lead to a deed."""
NEAREST = ("C05/C06", "C07")


class Coverage:
    """`seen` counts; give it every request, every decision and, before the ledger has it, every event."""

    def __init__(self, ledger: Ledger) -> None:
        self.seen: Counter[str] = Counter()
        self._ledger = ledger
        self._means: set[str] = set()  # by which a debtor has raised cash since it was asked to
        self._debtor: str | None = None  # who was asked to raise cash, and nobody anything else since but about a trade
        self._debt = ""  # what falls due where the token is, or by the card
        self._heir: str | None = ""  # to whom somebody fell since the latest roll; None is the bank, "" nobody
        self._fallen = 0  # since the latest roll
        self._trading = False
        self._led: str | None = None  # that card which has just led to a deed nobody holds
        self._card = ""  # the latest that was drawn since the roll
        self._decliner: str | None = None

    # -- what is asked and answered

    def asked(self, request: Request[Any]) -> None:
        kind = request.kind
        self._trading = False
        self._count(kind)
        if kind == "raise_cash":
            if self._debtor != request.player:
                self._debtor, self._means = request.player, set()
            self._count(f"raise_cash, {'a trade or not' if request.may_propose else 'no trade any more'}")  # type: ignore[attr-defined] # of this kind
        elif kind in {"answer_trade", "react"}:
            self._count(f"{kind}, {'of a debt' if self._debtor else 'in a turn'}")
        else:
            self._debtor = None
        if when := getattr(request, "when", ""):
            self._count(f"{kind}, {when}")
        if lot := getattr(request, "lot", None):
            self._count(f"auction_bid, {lot.building or ('sealed' if lot.sealed else 'open')}")

    def decided(self, request: Request[Any], decision: Decision) -> None:
        action: Any = getattr(decision, "action", None)
        match request.kind:
            case "buy_or_auction" | "answer_trade" | "jail_action":
                self._count(f"{request.kind}: {action}")
            case "auction_bid":
                self._count(f"auction_bid: {'bids' if action.bid else 'withdraws'}")
            case "propose_trade":
                self._count(f"propose_trade: {'proposes' if action.propose_trade else 'none'}")
            case "manage_estate":
                done = [name for name in ("sells", "mortgages", "unmortgages", "builds") if getattr(action, name)]
                self._count(*(f"manage_estate: {name}" for name in done or ["nothing"]))
            case "phase_action":
                self._count(f"phase_action: {action.do}")
            case "raise_first":
                self._count(f"raise_first: {'something' if action.sells or action.mortgages else 'nothing'}")
            case "lift_on_receipt":
                self._count(f"lift_on_receipt: {'lifts' if action else 'keeps'}")
            case "raise_cash":
                done = [name for name in ("sells", "mortgages") if getattr(action, name)]
                self._count(*(f"raise_cash: {name}" for name in (*done, *["trade"] * action.trade.propose_trade)))

    # -- what happens

    def hear(self, told: LoggedEvent) -> None:
        event = told.event
        self._count(type(event).__name__)
        handler = getattr(self, f"_{event.kind}", None)
        if handler is not None:
            handler(event)

    def ended(self) -> None:
        """The game is over."""
        ledger = self._ledger
        self._count("ended by the last one left" if len(ledger.living()) == 1 else "ended at the cap")

    def _count(self, *names: str) -> None:
        self.seen.update(names)

    def _rolled(self, event: Rolled) -> None:
        if event.purpose == "rent":
            self._count("a throw for the rent")
            return
        self._heir, self._fallen, self._card, self._decliner, self._debtor = "", 0, "", None, None
        self._debt = "the fine of the third roll" if event.purpose == "jail" else ""

    def _moved(self, event: Moved) -> None:
        space, ledger = SPACES[event.to], self._ledger
        self._debt = "a tax" if space.tax else "a rent"
        if event.by != "card":
            return
        back, name = CARDS[self._card].effect == "back", TWINS.get(self._card, self._card)
        self._count(f"{name} {'past GO' if event.to < event.start and not back else 'short of GO'}")
        if not space.price:
            return
        owner = ledger.owner[event.to]
        if owner is None:
            self._led = name if name in NEAREST else None
            self._count(f"{name} to a deed unowned")
        else:
            mortgaged = "mortgaged" if ledger.mortgaged[event.to] else "rented"
            ground = "own" if owner == event.player else mortgaged
            self._count(f"{name} to a deed {ground}")
            if ground == "rented" and name in NEAREST:
                held = sum(ledger.owner[place] == owner for place in GROUPS[space.group])
                self._count(f"{name}, of whom holds {held}")

    def _card_drawn(self, event: CardDrawn) -> None:
        card, ledger = CARDS[event.card], self._ledger
        self._count(card.id, f"{card.id} on {ledger.at[event.player]}")
        if self._card == "C10":
            self._count("C10, then a card of the other deck")
        self._card = card.id
        self._debt = {"pay_each": "C15 to each", "receive_each": "H09 from each"}.get(card.effect, "a card to the bank")
        if card.effect == "repairs":
            counts = [ledger.houses[index] for index, owner in enumerate(ledger.owner) if owner == event.player]
            houses, hotels = any(0 < count < 5 for count in counts), 5 in counts
            built = " and ".join(["houses"] * houses + ["hotels"] * hotels)
            self._count(f"{card.id} for {built or 'nothing'}")

    def _card_moved(self, event: CardMoved) -> None:
        fallen = event.giver in self._ledger.out
        kept, given = ("inherited", "given back") if fallen else ("traded", "used")
        self._count(f"{event.card} {kept if event.taker else given}")

    def _jailed(self, event: Jailed) -> None:
        self._count(f"jailed by {event.why}")

    def _freed(self, event: Freed) -> None:
        self._count(f"freed by {event.how}")

    def _trade_accepted(self, event: TradeAccepted) -> None:
        self._trading = True
        if event.proposer == self._debtor:
            self._means.add("a trade")

    def _paid(self, event: Paid) -> None:
        self._count(f"paid: {event.why}")
        if event.why == "interest":
            self._count(f"interest {'in a trade' if self._trading else 'inherited'}")
        if event.why in {"trade", "bankruptcy"} or self._trading or event.payer is None:
            return
        if event.why == "fine" and self._debt != "the fine of the third roll":
            self._count("the fine paid before the roll")
        elif event.why in {"tax", "rent", "card", "fine", "interest"}:
            debt = "interest inherited" if event.why == "interest" else self._debt
            means = self._means if self._debtor == event.payer else set()
            self._count(*(f"{debt}, paid by {way}" for way in means or {"cash in hand"}))
            self._debtor = None

    def _sold(self, event: Sold) -> None:
        self._count("hotel " * (event.before == 5) + ("sold to the ground" if event.after == 0 else "broken down"))
        if event.player == self._debtor:
            self._means.add("selling")

    def _built(self, event: Built) -> None:
        self._count("hotel built" if event.after == 5 else "house built")
        self._count(*["built above the printed price"] * (event.amount > SPACES[event.position].house_cost))
        self._count(*["the last house built"] * (event.houses == 0), *["the last hotel built"] * (event.hotels == 0))

    def _mortgaged(self, event: Mortgaged) -> None:
        if event.player == self._debtor:
            self._means.add("mortgaging")

    def _mortgage_lifted(self, event: Unmortgaged) -> None:
        self._count(f"lifted, {'in jail' if event.player in self._ledger.failed else 'at large'}")

    def _deed_moved(self, event: DeedMoved) -> None:
        self._count(f"deed by {event.why}{', mortgaged' * event.mortgaged}")
        if event.why == "purchase" and self._led:
            self._count(f"{self._led} to a deed bought")
            self._led = None

    def _auction_opened(self, event: AuctionOpened) -> None:
        if self._led:
            self._count(f"{self._led} to a deed auctioned")
            self._led = None
        self._decliner = event.bidders[-1]
        self._count(f"auction {'of a bankrupt' if self._fallen else 'of what was not bought'}")
        if any(player in self._ledger.failed for player in event.bidders):
            self._count("auction with somebody in jail")

    def _auction_closed(self, event: AuctionClosed) -> None:
        whose = "of a bankrupt" if self._fallen else "of what was not bought"
        self._count(f"auction {whose}, {'won' if event.winner else 'without a bid'}")
        if event.winner == self._decliner and not self._fallen:
            self._count("auction won by who did not buy")

    def _bankrupted(self, event: Bankrupted) -> None:
        ledger = self._ledger
        owned = [index for index, owner in enumerate(ledger.owner) if owner == event.player]
        whom = "the bank" if event.creditor is None else "a player"
        by_interest = self._fallen and self._heir == event.player and event.creditor is None
        debt = "interest inherited" if by_interest else self._debt
        self._fallen += 1
        has = (
            *(["mortgaged deeds"] * any(ledger.mortgaged[place] for place in owned)),
            *(["clear deeds"] * (not all(ledger.mortgaged[place] for place in owned))),
            *(["buildings"] * any(ledger.houses[place] for place in owned)),
            *(["a card"] * bool(ledger.cards[event.player])),
            *(["nothing"] * (not owned)),
        )
        turn = "its own" if ledger.rolls and ledger.rolls[0].player == event.player else "another's"
        self._count(
            f"{debt}, bankrupt",
            f"bankrupt to {whom}",
            f"bankrupt to {whom} in {turn} turn",
            *(f"bankrupt to {whom} with {what}" for what in has),
            *["bankrupt in jail"] * (event.player in ledger.failed),
            *["bankrupt after raising some of it"] * (self._debtor == event.player and bool(self._means)),
            *["two bankrupt at one blow"] * (self._fallen == 2),
            *["bankrupt to the bank, and one left"] * (event.creditor is None and len(ledger.living()) == 2),
        )
        self._heir, self._debtor = event.creditor, None


_PHASES = ("phase_action", "propose_trade", "manage_estate")


def kinds() -> Iterator[str]:
    """All that there is to be seen."""
    yield from (request.kind for request in REQUESTS)
    yield from (event.__name__ for event in GAME.events if event is not Narrated)  # only a fallback brings that about
    yield from (f"{kind}, {when}" for kind, when in product(("propose_trade", "manage_estate"), ("before", "after")))
    yield from (f"{kind}, {when}" for kind, when in product(_PHASES, ("jailed", "between")))
    yield from (f"phase_action, {when}" for when in ("before", "after", "jail"))
    yield from ("manage_estate, jail", "auction_bid, open", "auction_bid, sealed")
    yield from ("auction_bid, house", "auction_bid, hotel", "built above the printed price")
    yield from ("raise_cash, a trade or not", "raise_cash, no trade any more")
    yield from (f"{kind}, {why}" for kind, why in product(("answer_trade", "react"), ("of a debt", "in a turn")))
    yield from _decisions()
    yield from _cards()
    yield from (f"{debt}, paid by {way}" for debt, way in product(DEBTS, ("cash in hand", *MEANS)))
    yield from (f"{debt}, bankrupt" for debt in DEBTS)
    yield from (f"paid: {why}" for why in get_args(Why))
    yield from ("the fine paid before the roll", "interest in a trade", "interest inherited")
    yield from ("deed by purchase", "deed by auction")
    yield from (f"deed by {why}{how}" for why, how in product(("trade", "bankruptcy"), ("", ", mortgaged")))
    yield from ("jailed by space", "jailed by card", "jailed by third doubles")
    yield from ("freed by fine", "freed by card", "freed by doubles", "freed by third roll")
    yield from ("house built", "hotel built", "the last house built", "the last hotel built")
    yield from (f"{what}{how}" for what, how in product(("", "hotel "), ("broken down", "sold to the ground")))
    yield from ("lifted, in jail", "lifted, at large", "a throw for the rent")
    yield from _ruins()
    yield from ("ended by the last one left", "ended at the cap")


def _decisions() -> Iterator[str]:
    for kind, answers in {
        "buy_or_auction": ("buy", "auction"),
        "answer_trade": ("accept", "reject"),
        "jail_action": ("pay_fine", "use_card", "roll_doubles", "manage"),
        "auction_bid": ("bids", "withdraws"),
        "propose_trade": ("proposes", "none"),
        "manage_estate": ("sells", "mortgages", "unmortgages", "builds", "nothing"),
        "raise_cash": ("sells", "mortgages", "trade"),
        "phase_action": ("nothing", "propose_trade", "manage_estate"),
        "raise_first": ("something", "nothing"),
        "lift_on_receipt": ("lifts", "keeps"),
    }.items():
        yield from (f"{kind}: {answer}" for answer in answers)


def _cards() -> Iterator[str]:
    for deck, cards in (("chance", CHANCE), ("community_chest", COMMUNITY_CHEST)):
        for card in cards:
            yield card.id
            yield from (f"{card.id} on {place}" for place in SPACES_OF[deck])
    yield from (f"{card} to a deed {ground}" for card, ground in product(LEADING, GROUNDS))
    yield from (f"{card} to a deed {how}" for card, how in product(NEAREST, ("bought", "auctioned")))
    yield from (f"C05/C06, of whom holds {held}" for held in (1, 2, 3, 4))
    yield from ("C07, of whom holds 1", "C07, of whom holds 2", "C10, then a card of the other deck")
    yield from ("C02 past GO", "C03 past GO", "C03 short of GO", "C04 past GO", "C04 short of GO", "C14 past GO")
    yield from (f"{card} {how} GO" for card, how in product(NEAREST, ("past", "short of")))
    yield from ("H01 past GO", "C01 short of GO", "C10 short of GO")
    yield from (
        f"{card} for {built}"
        for card, built in product(("C12", "H14"), ("nothing", "houses", "hotels", "houses and hotels"))
    )
    yield from (f"{card} {how}" for card, how in product(("C09", "H05"), ("used", "traded", "inherited", "given back")))


def _ruins() -> Iterator[str]:
    for whom in ("the bank", "a player"):
        yield f"bankrupt to {whom}"
        yield from (f"bankrupt to {whom} in {turn} turn" for turn in ("its own", "another's"))
        yield from (
            f"bankrupt to {whom} with {what}"
            for what in ("mortgaged deeds", "clear deeds", "buildings", "a card", "nothing")
        )
    yield from ("bankrupt in jail", "bankrupt after raising some of it", "two bankrupt at one blow")
    yield from ("bankrupt to the bank, and one left", "auction with somebody in jail", "auction won by who did not buy")
    for what in ("of a bankrupt", "of what was not bought"):
        yield from (f"auction {what}", f"auction {what}, won", f"auction {what}, without a bid")


KINDS: tuple[str, ...] = tuple(dict.fromkeys(kinds()))


def missing(seen: Iterable[str]) -> list[str]:
    """The kinds that were not seen."""
    return sorted(set(KINDS).difference(seen))
