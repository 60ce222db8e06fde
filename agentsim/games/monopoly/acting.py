"""Acting: a player's own phase: it trades and sees to its estate, asked as long as it does something.

Either is one question, which a model answers with one of three kinds of action; or each has a question of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from agentsim.engine.request import Choice, Options
from agentsim.games.monopoly import bundle
from agentsim.games.monopoly.building import ManageEstate, When, lists_that_matter, moment, open_to
from agentsim.games.monopoly.bundle import Bundle
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.proposing import Proposing, left, propose
from agentsim.games.monopoly.question import Part, Spoken
from agentsim.games.monopoly.shortage import build_out
from agentsim.games.monopoly.trade import Offered
from agentsim.games.monopoly.trading import deal

_BUNDLES = 4
"""How often in one phase a player may do something with its estate: all that is legal fits into the first."""


class _Doing(Part):
    do: str


class DoNothing(_Doing):
    """The phase is over."""

    do: Literal["nothing"] = "nothing"


class DoTrade(Offered, _Doing):
    """A trade is proposed; `end_phase` where that is all."""

    do: Literal["propose_trade"] = "propose_trade"
    end_phase: bool = False


class DoEstate(Bundle, _Doing):
    """Sales, mortgages, mortgages lifted, buildings; `end_phase` where that is all."""

    do: Literal["manage_estate"] = "manage_estate"
    end_phase: bool = False


_KINDS: Mapping[str, frozenset[str]] = {
    "propose_trade": frozenset(Offered.model_fields),
    "manage_estate": frozenset(Bundle.model_fields),
}
_AROUND = frozenset({"do", *Spoken.model_fields})
_NOTHING = frozenset({"", "pass", "none", "no", "skip", "wait", "end_phase", "end phase", "end"})


def _says(value: Any) -> bool:
    return any(map(_says, value.values())) if isinstance(value, Mapping) else bool(value)


def told_apart(given: Any) -> Any:
    """An action with the kind that its fields are of, where it does not say; one that says nothing is none.

    Raises `ValueError` where it has parts of another kind too: half of what was meant is not done.
    """
    if not isinstance(given, Mapping):
        return given
    meant = {kind for kind, fields in _KINDS.items() if any(_says(given.get(name)) for name in fields - {"pitch"})}
    if given.get("do") in ("nothing", *_KINDS):  # a list is no key
        if meant - {given["do"]}:
            raise ValueError(f"do is {given['do']}, and there are parts of {' and '.join(meant - {given['do']})}")
        return given
    found = [kind for kind, fields in _KINDS.items() if fields & given.keys()]
    if len(found) == 1 and given.get("propose_trade") is not False:
        return {**given, "do": found[0]}
    idle = given.keys() <= _AROUND and str(given.get("do") or "").strip().casefold() in _NOTHING
    return {"do": "nothing"} if idle or given.get("propose_trade") is False else given


class PhaseChoice(Spoken[Any]):
    action: Annotated[DoNothing | DoTrade | DoEstate, Field(discriminator="do"), BeforeValidator(told_apart)]


class PhaseAction(Proposing[PhaseChoice]):
    """Nothing, a trade, or something with the estate; `kinds` are those of the latter two that are open.

    `made` trades were proposed in this phase and `left` may be; `managed` is how often something was done with the
    estate; `again` where doubles roll again.
    """

    particulars: ClassVar[tuple[str, ...]] = ("when", "made", "managed")

    when: When
    kinds: tuple[str, ...]
    made: int
    left: int
    managed: int
    again: bool = False

    def choices(self) -> Options:
        return {"action.do": Choice(("nothing", *self.kinds)), **self.proposals("action")}

    def check(self, decision: PhaseChoice) -> None:
        if decision.action.do not in {"nothing", *self.kinds}:  # options are made where they are needed alone
            self.check_value("action.do", decision.action.do, self.legal["action.do"])
        super().check(decision)

    def why_not(self, decision: PhaseChoice) -> str:
        changes = decision.action
        return bundle.why_not(self.view, self.seat, changes) if isinstance(changes, DoEstate) else ""

    def warning(self, decision: PhaseChoice) -> str:
        offered = decision.action
        return self.objection_to(offered, self.view.estate(), self.view.seats) if isinstance(offered, DoTrade) else ""

    def question(self) -> tuple[str, ...]:
        when = moment(self.when, again=self.again)
        lines = [f"You may act {when}. You are asked again until you do nothing or set end_phase:"]
        if "propose_trade" in self.kinds:
            lines += [
                f"- propose_trade ({self.made} made, {self.left} left): cash, cards out of jail, deeds by position"
                f"{self.kept()}",
            ]
        if "manage_estate" in self.kinds:
            lines += [
                f"- manage_estate ({self.managed} of {_BUNDLES} times so far): all of its lists, in their order, or "
                "nothing; an entry is one building, a lot's fifth its hotel",
                *open_to(self.view, self.seat, "sell", "mortgage", "lift", "build"),
            ]
        return tuple(lines)

    def asked_of(self, action: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"anyOf": [self._asked_of(kind) for kind in action["anyOf"]]}

    def _asked_of(self, kind: Mapping[str, Any]) -> Mapping[str, Any]:
        if "offer" in kind["properties"]:
            return self.trade_that_can_be(kind, self.view.seats)
        return lists_that_matter(kind, self.view.estate(), self.seat)


async def act(match: Match, number: int, when: When, *, again: bool = False) -> None:
    """Let the player trade and see to its estate, where there is something to choose."""
    if match.config.questions == "separate":
        await propose(match, number, when, again=again)
        await manage(match, number, when, again=again)
        return
    made = managed = 0
    while True:
        more = left(match, number, made)
        can_manage = managed < _BUNDLES and bundle.possible(match.state.estate, number, match.seat(number).cash)
        kinds = (*["propose_trade"] * bool(more), *["manage_estate"] * can_manage)
        if not kinds:
            return
        so_far = {"made": made, "left": more, "managed": managed}
        chosen = (await match.ask(number, PhaseAction, when=when, kinds=kinds, again=again, **so_far)).action
        if isinstance(chosen, DoTrade):
            made += 1
            match.proposals[number] += 1
            await deal(match, number, chosen)
        elif isinstance(chosen, DoEstate) and not chosen.empty:
            managed += 1
            await build_out(match, number, chosen)
        else:
            return
        if chosen.end_phase:
            return


async def manage(match: Match, number: int, when: When, *, again: bool = False) -> bool:
    """Let the player see to its estate alone; whether it did anything."""
    if not bundle.possible(match.state.estate, number, match.seat(number).cash):
        return False
    decision = await match.ask(number, ManageEstate, when=when, again=again)
    await build_out(match, number, decision.action)
    return not decision.action.empty
