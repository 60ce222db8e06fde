"""Prompts of Monopoly: the rules and the board in words. What is asked is each chapter's, what was said is `talk`."""

from __future__ import annotations

from functools import cache, lru_cache

from agentsim.engine.wording import counted
from agentsim.games.monopoly.board import GROUPS, HOTEL, HOTELS, HOUSES, SPACES, group_name
from agentsim.games.monopoly.estate import BANK, Estate
from agentsim.games.monopoly.state import View

_INCOME, _LUXURY = (space for space in SPACES if space.tax)


@cache
def rules(players: int, words: int, max_turns: int) -> tuple[str, ...]:
    return (
        "[RULES]",
        f"You play Monopoly (US rules) with {counted(players - 1, 'other')}; the last one who is not bankrupt "
        f"wins. If the game has not ended after {max_turns} turns, counted over all players, the greatest net worth "
        "wins: cash, deeds at their price (mortgaged ones at half), buildings at cost. Amounts are dollars, positions "
        "count from GO = 0.",
        "- Passing GO or landing on it pays 200. An unowned property you land on is yours for its price, or is "
        "auctioned to anybody.\n"
        "- Who holds a whole colour group gets double rent on its bare lots and may build, evenly, once no lot of it "
        "is mortgaged. After four houses comes the hotel. The bank has 32 houses and 12 hotels; buildings sell back "
        "for half.\n"
        "- A mortgage brings half the price; the deed then earns nothing. Lifting it costs the mortgage and a tenth of "
        "it; whoever is handed a mortgaged deed pays that tenth at once.\n"
        "- Before and after your roll you may propose trades: deeds without buildings in their group, cash, and cards "
        "out of jail, now; promises bind nobody.\n"
        "- Doubles give another roll, three in a row jail. Out of jail: pay 50, a card, or doubles, which move but "
        "give no further roll; after the third failed roll the 50 are due.\n"
        f"- Income Tax ({_INCOME.position}) takes {_INCOME.tax}, Luxury Tax ({_LUXURY.position}) {_LUXURY.tax}.\n"
        "- Who cannot pay must sell and mortgage; who still cannot is bankrupt, and all goes to the creditor.",
        "Deeds (position, name, price; rent bare, with 1 to 4 houses, hotel):",
        *map(_printed, GROUPS),
        'Answer with one JSON object, and nothing else: {"action": as the question says, "public_speech": what you '
        f'say to the whole table, in under {words} words, "private_thought": what you think, which nobody else will '
        "read}.",
    )


def _printed(group: str) -> str:
    """The deeds of a group as they are printed."""
    spaces = [SPACES[position] for position in GROUPS[group]]
    heads = {
        "railroad": "railroad (rent 25, 50, 100, 200 by how many the owner holds)",
        "utility": "utility (rent 4 times the dice, 10 times with both)",
    }
    street = f"{group_name(group)} (a house costs {spaces[0].house_cost}, the hotel as much again)"
    deeds = (
        f"{space.position} {space.name} {space.price}{': ' * bool(space.rents)}{'/'.join(map(str, space.rents))}"
        for space in spaces
    )
    return f"- {heads.get(group, street)}: {'; '.join(deeds)}"


@lru_cache(maxsize=16)  # a view is shown to the seats of one moment
def state_lines(view: View, seat: int, max_turns: int) -> tuple[str, ...]:
    """The board from one seat: each player's cash, place and deeds, what is unowned, what the bank has left."""
    estate, dice = view.estate(), "; the last roll was {} and {}".format(*view.roll) if view.roll else ""
    unowned = [f"{position}" for position, owner in enumerate(view.owner) if owner == BANK and SPACES[position].price]
    others = [number for number in range(len(view.seats)) if number != seat]
    return (
        f"Turn {view.turn} of at most {max_turns}{dice}. You are {view.seats[seat].name}.",
        f"- You: {_player(view, estate, seat)}",
        *(f"- {view.seats[each].name} (id {view.seats[each].id}): {_player(view, estate, each)}" for each in others),
        f"Unowned: {', '.join(unowned) or 'nothing'}.",
        f"The bank has {view.houses} of {HOUSES} houses and {view.hotels} of {HOTELS} hotels.",
    )


def _player(view: View, estate: Estate, seat: int) -> str:
    player = view.seats[seat]
    if player.bankrupt:
        return "bankrupt."
    place = SPACES[player.position]
    at = f"in jail, {player.failed} of 3 rolls failed" if player.jailed else f"on {place.position} {place.name}"
    cards = f", {counted(len(player.cards), 'card')} out of jail" if player.cards else ""
    deeds = ", ".join(deed(estate, position) for position in estate.held(seat)) or "none"
    whole = [group_name(group) for group in GROUPS if estate.completes(seat, group)]
    groups = f"; whole groups: {', '.join(whole)}" if whole else ""
    return f"${player.cash}, {at}{cards}; deeds: {deeds}{groups}."


def deed(estate: Estate, position: int) -> str:
    level = estate.level[position]
    mark = " mortgaged" if estate.mortgaged[position] else ""
    if level:
        mark = " hotel" if level == HOTEL else f" {counted(level, 'house')}"
    return f"{position} {SPACES[position].name}{mark}"


def group_line(view: View, seat: int, position: int) -> str:
    """Who holds the rest of a deed's group, and whose it would complete."""
    space, estate = SPACES[position], view.estate()
    owners = {lot: view.owner[lot] for lot in GROUPS[space.group] if lot != position}
    names = {BANK: "unowned", seat: "yours"}
    names |= {other: f"{view.seats[other].name}'s" for other in owners.values() if other not in names}
    holders = [f"{deed(estate, lot)}: {names[owner]}" for lot, owner in owners.items()]
    rest = set(owners.values())
    whose = ""
    if len(rest) == 1 and BANK not in rest:
        (holder,) = rest
        group = "your group" if holder == seat else f"the group of {view.seats[holder].name}"
        whose = f" It would complete {group}."
    return f"{group_name(space.group)} group: {'; '.join(holders)}.{whose}"


def rent_line(position: int) -> str:
    space = SPACES[position]
    if space.kind == "street":
        return f"Rent {'/'.join(map(str, space.rents))}; a house costs ${space.house_cost}."
    return "Rent 25, 50, 100, 200 by railroads held." if space.kind == "railroad" else "Rent 4 or 10 times the dice."
