"""Questions of Monopoly: what is to be decided, with every number that decides how it goes.

Each gives the lines of one `[DECISION]`; the board and the memory around it are `prompts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentsim.engine.prompt import quoted
from agentsim.engine.wording import counted
from agentsim.games.monopoly import trade
from agentsim.games.monopoly.actions import Side
from agentsim.games.monopoly.board import FINE, GROUPS, SPACES, group_name
from agentsim.games.monopoly.estate import BANK, Estate
from agentsim.games.monopoly.prompts import deed
from agentsim.games.monopoly.trade import Terms
from agentsim.games.monopoly.view import AuctionLot, View


def _group(view: View, seat: int, position: int) -> str:
    """Who holds the rest of a deed's group, and whose it would complete."""
    space, estate = SPACES[position], view.estate()
    owners = {lot: view.owner[lot] for lot in GROUPS[space.group] if lot != position}
    holders = []
    for lot, owner in owners.items():
        who = "unowned" if owner == BANK else "yours" if owner == seat else f"{view.seats[owner].name}'s"
        holders.append(f"{deed(estate, lot)}: {who}")
    rest = set(owners.values())
    whose = ""
    if len(rest) == 1 and BANK not in rest:
        (holder,) = rest
        group = "your group" if holder == seat else f"the group of {view.seats[holder].name}"
        whose = f" It would complete {group}."
    return f"{group_name(space.group)} group: {'; '.join(holders)}.{whose}"


def _rents(position: int) -> str:
    space = SPACES[position]
    if space.kind == "street":
        return f"Rent {'/'.join(map(str, space.rents))}; a house costs ${space.house_cost}."
    return "Rent 25, 50, 100, 200 by railroads held." if space.kind == "railroad" else "Rent 4 or 10 times the dice."


def moment(when: str, *, again: bool) -> str:
    """Where in a turn a question is asked; `again` where doubles give another roll."""
    after = "after your roll; it was doubles, so you roll again" if again else "after your roll"
    return {"before": "before your roll", "after": after, "jail": "before you choose how to leave jail"}[when]


# -- the questions


def buy_or_auction(view: View, seat: int, position: int) -> tuple[str, ...]:
    """The deed at its price, its group, its rents."""
    space = SPACES[position]
    return (
        f"You stand on {position} {space.name}, which nobody owns. Price ${space.price}; you have "
        f"${view.seats[seat].cash}. {_rents(position)}",
        _group(view, seat, position),
        "Buy it, or let it go to auction?",
    )


def auction_bid(view: View, seat: int, lot: AuctionLot) -> tuple[str, ...]:
    """The deed, what has been bid, and what may be."""
    space, cash = SPACES[lot.position], view.seats[seat].cash
    if lot.sealed:
        how = "Everybody bids once, unseen; the highest bid takes it and is paid"
        how += f", and of equal ones that of {', '.join(lot.ahead)} before yours." if lot.ahead else ", yours if equal."
    else:
        best = f"The highest bid is ${lot.high} by {lot.leader}." if lot.leader else "Nobody has bid yet."
        how = f"{best} Whoever withdraws is out of it."
    return (
        f"{space.position} {space.name} is auctioned. Printed price ${space.price}; you have ${cash}. "
        f"{_rents(space.position)}",
        _group(view, seat, space.position),
        f"{how} Still bidding besides you: {', '.join(lot.rivals) or 'nobody'}.",
        f"How much do you bid: a whole number from {lot.least} to {cash}, or 0 to withdraw?",
    )


def propose_trade(view: View, seat: int, when: str, made: int, left: int) -> tuple[str, ...]:
    """Everything that may change hands now, by whose it is."""
    estate = view.estate()
    lines = [
        f"You may propose a trade to one player, or none ({when}; {made} proposed in this phase, "
        f"{left} left). What can change hands now, by position:"
    ]
    for number in view.living:
        player = view.seats[number]
        deeds = ", ".join(deed(estate, position) for position in estate.tradeable(number)) or "no deed"
        who = "you" if number == seat else f"{player.name} (id {player.id})"
        cards = f"{counted(len(player.cards), 'card')} out of jail"
        lines.append(f"- {who}: {deeds}; up to ${player.cash}; {cards}")
    return tuple(lines)


def _given(estate: Estate, side: Side) -> Iterator[str]:
    """Every part of one side of a trade, with what decides its value."""
    for position in side.properties:
        space = SPACES[position]
        due = f", mortgaged: ${space.interest} interest due at once, ${space.redemption} to lift it"
        pledged = due if estate.mortgaged[position] else ""
        yield f"{position} {space.name} ({group_name(space.group)}, price ${space.price}{pledged}). {_rents(position)}"
    yield from _parts(side.model_copy(update={"properties": ()})) if side.cash or side.jail_cards or side.empty else ()


def _parts(side: Side) -> Iterator[str]:
    """Every part of one side of a trade, by name."""
    yield from (SPACES[position].name for position in side.properties)
    if side.cash:
        yield f"${side.cash} in cash"
    if side.jail_cards:
        yield f"{counted(side.jail_cards, 'card')} out of jail"
    if side.empty:
        yield "nothing"


def _completed(view: View, seat: int, terms: Terms) -> Iterator[str]:
    """Whose groups the trade completes, and whose it breaks."""
    owner = list(view.owner)
    for side, taker in ((terms.offer, terms.target), (terms.request, terms.proposer)):
        for position in side.properties:
            owner[position] = taker
    for group, lots in GROUPS.items():
        for number in (terms.proposer, terms.target):
            before = all(view.owner[lot] == number for lot in lots)
            after = all(owner[lot] == number for lot in lots)
            if before != after:
                whose = "your" if number == seat else f"{view.seats[number].name}'s"
                yield f"The trade {'completes' if after else 'breaks'} {whose} {group_name(group)} group."


def answer_trade(view: View, seat: int, terms: Terms, pitch: str) -> tuple[str, ...]:
    """The terms in full, with all that decides their worth; the pitch as its proposer's words."""
    estate, you = view.estate(), view.seats[seat]
    after = (
        you.cash + terms.offer.cash - terms.request.cash - trade.interest_on(estate.mortgaged, terms.offer.properties)
    )
    return (
        f"{view.seats[terms.proposer].name} offers you a trade. You would get:",
        *(f"- {part}" for part in _given(estate, terms.offer)),
        "You would give:",
        *(f"- {part}" for part in _given(estate, terms.request)),
        *_completed(view, seat, terms),
        f"You have ${you.cash} and would have ${after}.",
        quoted(pitch=pitch),
        "Do you accept?",
    )


def react(view: View, terms: Terms) -> tuple[str, ...]:
    """What was traded."""
    gave, got = ("; ".join(_parts(side)) for side in (terms.offer, terms.request))
    return (
        f"{view.seats[terms.target].name} has accepted your trade: you gave {gave}, and got {got}.",
        "You may say something to the table, or nothing.",
    )


def jail_action(view: View, seat: int, actions: Sequence[str]) -> tuple[str, ...]:
    """The ways out that are open, with their price."""
    you = view.seats[seat]
    words = {
        "pay_fine": f'"pay_fine": pay ${FINE} of your ${you.cash} and roll to move',
        "use_card": f'"use_card": play one of your {len(you.cards)} cards out of jail and roll to move',
        "roll_doubles": '"roll_doubles": stay unless you roll doubles'
        + (f"; this is the last roll: if it fails you must pay ${FINE} and move" if you.failed == 2 else ""),
        "manage": '"manage": see to your estate first, then choose',
    }
    return (
        f"You are in jail; {you.failed} of 3 rolls have failed. In jail you still collect rent.",
        *(f"- {words[action]}" for action in actions),
    )


def _estate_lines(view: View, seat: int) -> Iterator[str]:
    estate = view.estate()
    if lots := estate.sellable(seat):
        yield "Buildings that may go next (you get): " + ", ".join(
            f"{deed(estate, lot)} ${SPACES[lot].house_cost // 2}" for lot in lots
        )
    if deeds := estate.mortgageable(seat):
        yield "May be mortgaged (you get): " + ", ".join(
            f"{deed(estate, position)} ${SPACES[position].mortgage}" for position in deeds
        )


def manage_estate(view: View, seat: int, when: str) -> tuple[str, ...]:
    """What may be sold, mortgaged, lifted and built, with amounts."""
    estate = view.estate()
    lines = [
        f"You may see to your estate {when}; you have ${view.seats[seat].cash}.",
        *_estate_lines(view, seat),
    ]
    if deeds := estate.liftable(seat):
        lines.append(
            "Mortgages that may be lifted (you pay): "
            + ", ".join(f"{deed(estate, position)} ${SPACES[position].redemption}" for position in deeds)
        )
    if lots := estate.buildable(seat):
        lines.append(
            "May be built on next (you pay; rent then): "
            + ", ".join(
                f"{deed(estate, lot)} ${SPACES[lot].house_cost}; {SPACES[lot].rents[estate.level[lot] + 1]}"
                for lot in lots
            )
        )
    lines += [
        "Sales, mortgages, mortgages lifted and buildings happen in this order, all of them or none. One entry is one "
        "house; the fifth building of a lot is its hotel. Empty lists do nothing.",
    ]
    return tuple(lines)


def raise_cash(view: View, seat: int, owed: int, creditor: str, why: str, *, may_propose: bool) -> tuple[str, ...]:
    """What is owed, to whom, and what could bring it."""
    you = view.seats[seat]
    lines = [
        f"You owe {creditor} ${owed} ({why}) and have ${you.cash}: ${owed - you.cash} are missing. Raise them, or as "
        "much as you can at once.",
        *_estate_lines(view, seat),
        "Sell buildings, mortgage deeds"
        + (", or propose a trade to one player, by id." if may_propose else ". No more trades can be proposed."),
    ]
    return tuple(lines)
