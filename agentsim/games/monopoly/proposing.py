"""Proposing: the question whether a player proposes a trade; and what all questions share that may hold one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, TypeVar

from agentsim.engine import Choice, Options, Text
from agentsim.engine.schema import said
from agentsim.engine.wording import counted
from agentsim.errors import IllegalDecision
from agentsim.games.monopoly.board import GROUPS, group_name
from agentsim.games.monopoly.building import DEEDS_IN_WORDS, When, moment
from agentsim.games.monopoly.config import LONGEST_WORD
from agentsim.games.monopoly.estate import Estate
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.prompts import deed
from agentsim.games.monopoly.question import MonopolyRequest, Spoken, without
from agentsim.games.monopoly.state import SeatView
from agentsim.games.monopoly.trade import Offered, Proposal, possible, terms_of, why_not
from agentsim.games.monopoly.trading import deal

S = TypeVar("S", bound=Spoken[Any])


Proposed: TypeAlias = Spoken[Proposal]


class Proposing(MonopolyRequest[S]):
    """A question that a proposal may answer. Any is an answer: whether it can be is the table's verdict, and counts."""

    def check(self, decision: S) -> None:
        if reason := self.why_not(decision):
            raise IllegalDecision(reason)

    def proposals(self, path: str) -> Options:
        """What a proposal at this path may hold."""
        others = (seat.id for seat in self.view.seats if not seat.bankrupt and seat.id != self.player)
        room = Text(self.words * LONGEST_WORD)
        return {f"{path}.target_player": Choice((None, *others)), f"{path}.pitch": room}

    def objection_to(self, proposal: Offered, estate: Estate, seats: Sequence[SeatView]) -> str:
        """Why the table would discard a proposal; nothing where it would not, or where none is made."""
        made = getattr(proposal, "propose_trade", True)
        wrong = made and why_not(estate, seats, terms_of(seats, self.seat, proposal))
        return f"{wrong}." if wrong else ""

    def kept(self) -> str:
        """What cannot change hands: deeds of groups with buildings."""
        estate = self.view.estate()
        built = [group_name(group) for group, lots in GROUPS.items() if estate.built_up(lots[0])]
        return f", none of {', '.join(built)} (buildings)" if built else ""

    def for_trade(self) -> Iterator[str]:
        """What can change hands now, by player."""
        estate = self.view.estate()
        for number, player in enumerate(self.view.seats):
            if not player.bankrupt:
                deeds = ", ".join(deed(estate, position) for position in estate.tradeable(number)) or "no deed"
                who = "you" if number == self.seat else f"{player.name} (id {player.id})"
                cards = f"{counted(len(player.cards), 'card')} out of jail"
                yield f"- {who}: {deeds}; up to ${player.cash}; {cards}"

    def trade_that_can_be(self, action: Mapping[str, Any], seats: Sequence[SeatView]) -> Mapping[str, Any]:
        """For a person: deeds and cards of those who have any, and no more cash than there is."""
        estate = self.view.estate()
        others = [number for number in self.view.living if number != self.seat]
        names = [seats[number].id for number in others]
        action = said(action, "target_player", enum=names, **({"default": names[0]} if len(names) == 1 else {}))
        for side, givers in (("offer", [self.seat]), ("request", others)):
            cash, cards = max(seats[giver].cash for giver in givers), max(len(seats[giver].cards) for giver in givers)
            action = said(action, f"{side}.cash", minimum=0, maximum=cash, default=0)
            action = said(action, f"{side}.jail_cards", minimum=0, maximum=cards, default=0)
            action = said(action, f"{side}.properties", description=DEEDS_IN_WORDS)
            action = action if any(map(estate.held, givers)) else without(action, f"{side}.properties")
            action = action if cards else without(action, f"{side}.jail_cards")
        return said(action, "pitch", description="your words to that player; nothing for none")


class ProposeTrade(Proposing[Proposed]):
    """A trade, or none; `made` in this phase so far, `left` that may still be; `again` where doubles roll again."""

    empty: ClassVar[Mapping[str, Any]] = {"action": {"propose_trade": False}}
    particulars: ClassVar[tuple[str, ...]] = ("when", "made")

    when: When
    made: int
    left: int
    again: bool = False

    def choices(self) -> Options:
        return self.proposals("action")

    def warning(self, decision: Proposed) -> str:
        return self.objection_to(decision.action, self.view.estate(), self.view.seats)

    def question(self) -> tuple[str, ...]:
        return (
            f"You may propose a trade to one player, or none ({moment(self.when, again=self.again)}; {self.made} "
            f"proposed in this phase, {self.left} left). What can change hands now, by position:",
            *self.for_trade(),
        )

    def asked_of(self, action: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.trade_that_can_be(action, self.view.seats)


def left(match: Match, number: int, made: int) -> int:
    """How many trades a player may still propose in a phase in which it has `made` some; 0 with nothing to trade."""
    state, config = match.state, match.config
    most = min(config.proposals_per_phase - made, config.proposals_per_turn - match.proposals[number])
    return max(0, most) if possible(state.estate, state.seats) else 0


async def propose(match: Match, number: int, when: When, *, again: bool) -> None:
    """Let the player propose trades, as long as it does and there is anything to trade."""
    made = 0
    while more := left(match, number, made):
        decision = await match.ask(number, ProposeTrade, when=when, made=made, left=more, again=again)
        if not decision.action.propose_trade:
            break
        made += 1
        match.proposals[number] += 1
        await deal(match, number, decision.action)
