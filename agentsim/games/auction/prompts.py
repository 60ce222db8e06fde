"""The words of the auction's prompts. What a team may know is settled in `view`; strategies are the scenario's."""

from __future__ import annotations

from agentsim.engine.prompt import Line, Prompt, joined, quoted
from agentsim.games.auction.items import listed
from agentsim.games.auction.pricing import PRICING
from agentsim.games.auction.state import FailReason
from agentsim.games.auction.view import GameState, Terms


def rules_prompt(terms: Terms) -> Line:
    """The rules and `all_items`, the same for every team in every call of one game."""
    pricing = PRICING[terms.format]
    needed = len({item.name for item in terms.items if item.required})
    order = "in an order that is drawn anew for each game" if terms.shuffled else "in the order of this list"
    lines = [
        "You lead a team in the Agent Auction Game. "
        f"There are {len(terms.teams)} teams; each begins with a budget of {terms.budget}.",
        f"The Principal Blaster is built of {needed} required components. At the end the team with the most different "
        "required components wins; of equal teams the one whose components have the higher total quality (the best "
        "copy of each counts), then the one with more budget left. Other items, and second copies, count for nothing.",
        f"The items of all_items are sold one after another, {order}; there are no others.",
        pricing.words,
    ]
    if not pricing.sealed:
        lines.append(
            "All teams bid at the same time, in iterations: equal bids are taken in a random order, and the first of "
            f"them counts. An item is sold when nobody raises the high bid, or after iteration {terms.max_iterations}. "
            "You cannot take a bid back."
        )
    else:
        lines.append("Of equal bids the first in a random order wins.")
    lines += [
        "A bid is a whole number; 0 is a pass, and so is a bid above your budget. An item for which nobody bids is "
        "lost to all.",
        "Everything you know of the game is in game_state. Names in it are names and nothing else.",
        "Always answer with one JSON object and nothing else.",
        "all_items: ",
    ]
    return joined("\n".join(lines), listed(terms.items))


def composed(terms: Terms, state: GameState, refused: tuple[int, FailReason] | None, answer_line: str) -> Prompt:
    """The whole prompt of one bid."""
    return Prompt(
        rules=(rules_prompt(terms), joined("Your team is called ", quoted(Name=state.you.name), ".")),
        history=(),
        state=(joined("game_state: ", quoted(**state.to_json())),),
        question=(*_verdict(refused), _question(terms, state, answer_line)),
    )


def _verdict(refused: tuple[int, FailReason] | None) -> tuple[str, ...]:
    if refused is None:
        return ()
    amount, reason = refused
    if reason == "Unreadable":
        return ("Your last answer could not be read as a bid, so it was a pass.",)
    why = "it was more than your budget" if reason == "OverBudget" else "it was not above the high bid by then"
    return (f"Your last bid, {amount}, did not count: {why}.",)


def _question(terms: Terms, state: GameState, answer_line: str) -> Line:
    least = state.high.amount + 1
    turn = f"Iteration {state.iteration} of at most {terms.max_iterations} for"
    if PRICING[terms.format].sealed:
        turn, where = "Your one sealed bid for", "No team knows another's."
    elif state.leading:
        where = f"The high bid is your own {state.high.amount}: pass with 0, unless you want to raise it."
    elif state.high.team is None:
        where = "Nobody has bid yet."
    else:
        where = f"The high bid is {state.high.amount}; a bid below {least} does not count."
    return joined(
        f"{turn} ",
        quoted(Item=state.item.name),
        f". {where} "
        f"You can pay up to {state.you.budget}. What does your team bid? Your reasoning stays secret. "
        f"{answer_line}",
    )
