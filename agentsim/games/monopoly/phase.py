"""Actions in a player's phase: trades and changes of its estate, asked for until it does nothing.

With `questions = "together"` one question covers both, with "separate" each has its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from agentsim.engine import Choice, Options
from agentsim.engine.options import FieldOverride
from agentsim.games.monopoly.building import (
    Bundle,
    ManageEstate,
    When,
    build_out,
    can_change,
    lists_that_matter,
    moment,
    open_to,
    why_not_all,
)
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.question import Part, Spoken
from agentsim.games.monopoly.trade import Offered, Proposing, deal, left, propose

# -- a phase

_BUNDLES = 4
"""The most bundles of estate changes in one phase; the first can hold everything that is legal."""


class _Doing(Part):
    do: str


class DoNothing(_Doing):
    """An action that ends the phase."""

    do: Literal["nothing"] = "nothing"


class DoTrade(Offered, _Doing):
    """A proposed trade; `end_phase` ends the phase after it."""

    do: Literal["propose_trade"] = "propose_trade"
    end_phase: bool = False


class DoEstate(Bundle, _Doing):
    """Sales, mortgages, unmortgages and buildings; `end_phase` ends the phase after them."""

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
    """Return an action with a missing `do` inferred from its fields; an action without content does nothing.

    Raises `ValueError` if `do` names one kind and there are fields of another: half of an action is never carried out.
    """
    if not isinstance(given, Mapping):
        return given
    meant = {kind for kind, fields in _KINDS.items() if any(_says(given.get(name)) for name in fields - {"pitch"})}
    if given.get("do") in ("nothing", *_KINDS):  # a tuple, since `do` may be a list
        if meant - {given["do"]}:
            raise ValueError(f"do is {given['do']}, and there are parts of {' and '.join(meant - {given['do']})}")
        return given
    found = [kind for kind, fields in _KINDS.items() if fields & given.keys()]
    if len(found) == 1 and given.get("propose_trade") is not False:
        return {**given, "do": found[0]}
    idle = given.keys() <= _AROUND and str(given.get("do") or "").strip().casefold() in _NOTHING
    return {"do": "nothing"} if idle or given.get("propose_trade") is False else given


_CANONICAL_OPTIONS: dict[tuple[object, ...], str] = {}
"""The options of a phase as text, by all that they depend on."""


@cache
def _doing(kinds: tuple[str, ...]) -> Choice:
    return Choice(("nothing", *kinds))


class PhaseChoice(Spoken[Any]):
    action: Annotated[DoNothing | DoTrade | DoEstate, Field(discriminator="do"), BeforeValidator(told_apart)]


class PhaseAction(Proposing[PhaseChoice]):
    """The question of a phase: nothing, a trade, or changes of the estate; `kinds` are the last two as far as open.

    `made` counts the trades proposed in this phase, `left` those that are still allowed, and `managed` the bundles of
    estate changes. `again` says that doubles give another roll.
    """

    particulars: ClassVar[tuple[str, ...]] = ("when", "made", "managed")

    when: When
    kinds: tuple[str, ...]
    made: int
    left: int
    managed: int
    again: bool = False

    def choices(self) -> Options:
        return {"action.do": _doing(self.kinds), **self.proposals("action")}

    def canonical_options(self) -> str:
        key = self.kinds, self.others, self.words, self.chars
        if (text := _CANONICAL_OPTIONS.get(key)) is None:
            text = _CANONICAL_OPTIONS[key] = super().canonical_options()
        return text

    def check(self, decision: PhaseChoice) -> None:
        if decision.action.do not in {"nothing", *self.kinds}:  # `legal` is built only if it is needed
            self.check_value("action.do", self.legal["action.do"], {"action.do": decision.action.do})
        super().check(decision)

    def why_not(self, decision: PhaseChoice) -> str:
        changes = decision.action
        return why_not_all(self.view, self.seat, changes) if isinstance(changes, DoEstate) else ""

    def warning(self, decision: PhaseChoice) -> str:
        offered = decision.action
        return self.objection_to(offered, self.view.estate(), self.view.seats) if isinstance(offered, DoTrade) else ""

    def question(self) -> tuple[str, ...]:
        when = moment(self.when, again=self.again)
        lines = [f"You may act {when}. You will be asked again until you do nothing or set end_phase:"]
        if "propose_trade" in self.kinds:
            lines += [
                f"- propose_trade ({self.made} made, {self.left} left): cash, Get Out of Jail Free cards, deeds by "
                f"position{self.kept()}",
            ]
        if "manage_estate" in self.kinds:
            lines += [
                f"- manage_estate ({self.managed} of {_BUNDLES} times so far): either all of its lists, in their "
                "order, or nothing; an entry is one building; a lot's fifth building is a hotel",
                *open_to(self.view, self.seat, "sell", "mortgage", "unmortgage", "build"),
            ]
        return tuple(lines)

    def on_board(self) -> Iterator[tuple[str, FieldOverride | None]]:
        yield from self.trade_that_can_be("action", self.view.seats)
        yield from lists_that_matter(self.view.estate(), self.seat)


async def act(match: Match, number: int, when: When, *, again: bool = False) -> None:
    """Let a player trade and manage its estate until it does nothing or nothing is possible."""
    if match.config.questions == "separate":
        await propose(match, number, when, again=again)
        await manage(match, number, when, again=again)
        return
    made = managed = 0
    while True:
        more = left(match, number, made)
        can_manage = managed < _BUNDLES and can_change(match.state.estate, number, match.seat(number).cash)
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
    """Let a player manage its estate once, and return whether it changed anything."""
    if not can_change(match.state.estate, number, match.seat(number).cash):
        return False
    changes = (await match.ask(number, ManageEstate, when=when, again=again)).action
    if not changes.empty:
        await build_out(match, number, changes)
    return not changes.empty
