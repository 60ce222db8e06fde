"""What players answer in the tests of Monopoly's rules, in one word each."""

from __future__ import annotations

from collections.abc import Iterable

from agentsim.games.monopoly.auctions import Bid, StakedBid
from agentsim.games.monopoly.building import Bundle, Funds, HouseOrHotel, LiftedOnReceipt, Managed
from agentsim.games.monopoly.buying import Bought, Funded
from agentsim.games.monopoly.debts import Raise, Raised
from agentsim.games.monopoly.jail import JailChoice
from agentsim.games.monopoly.phase import DoEstate, DoNothing, DoTrade, PhaseChoice
from agentsim.games.monopoly.trade import Answered, Proposal, Proposed, Side

BUY, DECLINE = Bought(action="buy"), Bought(action="auction")
ACCEPT, REJECT = Answered(action="accept"), Answered(action="reject")
PAY, CARD = JailChoice(action="pay_fine"), JailChoice(action="use_card")
ROLL, MANAGE = JailChoice(action="roll_doubles"), JailChoice(action="manage")
NOTHING = Managed(action=Bundle())
NO_TRADE = Proposed(action=Proposal())
DONE = PhaseChoice(action=DoNothing())


def bid(amount: int) -> Bid:
    """So many dollars; 0 withdraws."""
    return Bid(action=StakedBid(bid=amount))


def side(*deeds: int, cash: int = 0, cards: int = 0) -> Side:
    """What one side of a trade gives."""
    return Side(properties=deeds, cash=cash, jail_cards=cards)


def proposal(target: str, gives: Side, wants: Side) -> Proposal:
    return Proposal(propose_trade=True, target_player=target, offer=gives, request=wants, pitch="A fair one.")


def propose(target: str, gives: Side, wants: Side) -> Proposed:
    """A trade offered in one's own turn."""
    return Proposed(action=proposal(target, gives, wants))


def bundle(
    *, sell: Iterable[int] = (), mortgage: Iterable[int] = (), unmortgage: Iterable[int] = (), build: Iterable[int] = ()
) -> Bundle:
    """Changes of an estate by position, one entry a house; a negative position is a hotel."""
    return Bundle(
        sells=tuple(HouseOrHotel(position=abs(lot), type="hotel" if lot < 0 else "house") for lot in sell),
        mortgages=tuple(mortgage),
        unmortgages=tuple(unmortgage),
        builds=tuple(HouseOrHotel(position=abs(lot), type="hotel" if lot < 0 else "house") for lot in build),
    )


def manage(**changes: Iterable[int]) -> Managed:
    """As `bundle`, in one's own turn."""
    return Managed(action=bundle(**changes))


def offers(target: str, gives: Side, wants: Side, *, end: bool = False) -> PhaseChoice:
    """A trade offered in a phase that has one question."""
    return PhaseChoice(action=DoTrade(**{**dict(proposal(target, gives, wants)), "end_phase": end}))


def does(*, end: bool = False, **changes: Iterable[int]) -> PhaseChoice:
    """As `bundle`, in a phase that has one question."""
    return PhaseChoice(action=DoEstate(**dict(bundle(**changes)), end_phase=end))


def funds(**changes: Iterable[int]) -> Funded:
    """As `bundle`, to buy or to bid."""
    made = bundle(**changes)
    return Funded(action=Funds(sells=made.sells, mortgages=made.mortgages))


def unmortgages(*deeds: int) -> LiftedOnReceipt:
    """Mortgages lifted on receipt."""
    return LiftedOnReceipt(action=deeds)


def raises(trade: Proposal | None = None, **changes: Iterable[int]) -> Raised:
    """As `bundle`, to pay a debt; or a trade."""
    made = bundle(**changes)
    return Raised(action=Raise(sells=made.sells, mortgages=made.mortgages, trade=trade or Proposal()))
