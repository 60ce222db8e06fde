"""Evening: how a day ends: votes are counted, structures kept up, dividends paid, and each agent eats or sleeps.

The order is fixed: proposals, upkeep, dividends and duties, consumption. What one action comes to is `action_handler`.
"""

from __future__ import annotations

from dataclasses import dataclass

from agentsim.engine.event import Everyone
from agentsim.engine.table import Table
from agentsim.games.society.action_handler import ActionHandler, Tally
from agentsim.games.society.citizen import Citizen, Notice
from agentsim.games.society.events import economy, life
from agentsim.games.society.lawmaking import Lawmaking
from agentsim.games.society.state import State
from agentsim.games.society.terms import Dividend, Resource


@dataclass
class Evening:
    """Evenings at one table."""

    table: Table
    state: State
    deeds: ActionHandler
    lawmaking: Lawmaking

    def pass_(self) -> None:
        """End the day."""
        self.lawmaking.count_votes()
        self.deeds.announce_woken()
        self._upkeep()
        self._dividends()
        self._duties()
        self.deeds.announce_woken()
        self._consume()
        for citizen in self.state.citizens:
            citizen.worked = citizen.turns = 0
        self._sum_up(self.deeds.tally)
        self.deeds.tally = Tally()

    # -- structures

    def _upkeep(self) -> None:
        """The pool keeps up what it can, the oldest first; what it cannot pauses until the next evening."""
        state = self.state
        if not state.projects.built:
            return
        costs = {"farm": state.config.farm_upkeep, "generator": state.config.generator_upkeep}
        paid = 0
        running: list[int] = []
        paused: list[int] = []
        for project in state.projects.built.values():
            cost = costs[project.what]
            runs = cost <= state.pool["materials"]
            if runs:
                state.spend_from_pool("materials", cost)
                paid += cost
            state.projects.run(project, running=runs)
            (running if runs else paused).append(project.id)
        self.table.tell(economy.UpkeepPaid(state.day, paid, tuple(running), tuple(paused)), to=Everyone)

    # -- standing laws

    def _dividends(self) -> None:
        for law, dividends in self.state.government.dividends.items():
            for dividend in dividends:
                self._dividend(law, dividend)

    def _dividend(self, law: int, dividend: Dividend) -> None:
        """To each in turn until the pool is empty; where it will not do for all, in a random order."""
        state, resource, amount = self.state, dividend.resource, dividend.amount
        whom = [each for each in state.citizens if self._is_meant(each, dividend)]
        due = amount * len(whom)
        if due > state.pool[resource]:
            whom = self.table.chance.stream("dividends").shuffled(whom)
        paid: list[int] = []
        total = last = 0
        for citizen in whom:
            got = state.pay(citizen, resource, amount)
            if not got:
                break
            paid.append(citizen.number)
            total, last = total + got, got
            state.notify(citizen.number, Notice("payment", about=law, resource=resource, amount=got))
        event = economy.DividendPaid(state.day, law, resource, amount, tuple(paid), last, due - total)
        self.table.tell(event, to=Everyone)

    @staticmethod
    def _is_meant(citizen: Citizen, dividend: Dividend) -> bool:
        return citizen.status == "dormant" if dividend.to == "dormant" else citizen.status != "dead"

    def _duties(self) -> None:
        """Who is awake and worked too little is named; but for those who woke after the last turn of the day."""
        state = self.state
        for law, hours in state.government.minimums.items():
            short = [each for each in state.citizens if each.turns and each.worked < hours]
            for citizen in short:
                citizen.breaches += 1
            if short:
                numbers = tuple(citizen.number for citizen in short)
                self.table.tell(economy.WorkMinimumBroken(state.day, law, hours, numbers), to=Everyone)

    # -- the price of a day

    def _consume(self) -> None:
        """Who was awake pays or falls dormant; who slept pays if it can, or starves.

        No agent pays both: one that falls dormant this evening begins to starve on the next.
        """
        state, config = self.state, self.state.config
        food, energy = state.consumed["food"], state.consumed["energy"]
        awake = asleep = 0
        unfed: dict[int, int] = {}
        fallen: list[economy.FellDormant] = []
        dead: list[economy.AgentDied] = []
        for citizen in state.citizens:
            if citizen.status == "active":
                if lacks := self._eat(citizen, config.daily_food, config.daily_energy):
                    state.fall_dormant(citizen, lacks)
                    fallen.append(economy.FellDormant(state.day, citizen.number, lacks))
                    words = f"you lacked {' and '.join(lacks)} for the day"
                    state.notify(citizen.number, Notice("dormant", text=words))
                else:
                    awake += 1
            elif citizen.status == "dormant":
                if not self._eat(citizen, config.dormant_food, config.dormant_energy):
                    asleep += 1
                    citizen.starved = 0
                    continue
                died = state.starve(citizen)
                unfed[citizen.number] = citizen.starved
                if died:
                    dead.append(economy.AgentDied(state.day, citizen.number, citizen.starved))
        food, energy = state.consumed["food"] - food, state.consumed["energy"] - energy
        each = economy.Meal(config.daily_food, config.daily_energy)
        dormant = economy.Meal(config.dormant_food, config.dormant_energy)
        self.table.tell(economy.Consumed(state.day, awake, asleep, each, dormant, food, energy, unfed), to=Everyone)
        for event in (*fallen, *dead):
            self.table.tell(event, to=Everyone)

    def _eat(self, citizen: Citizen, food: int, energy: int) -> tuple[Resource, ...]:
        """Consume both, or nothing; what there was too little of."""
        stock = citizen.stock
        if stock["food"] >= food and stock["energy"] >= energy:
            self.state.consume(citizen, "food", food)
            self.state.consume(citizen, "energy", energy)
            return ()
        needs: dict[Resource, int] = {"food": food, "energy": energy}
        return tuple(resource for resource, need in needs.items() if stock[resource] < need)

    def _sum_up(self, tally: Tally) -> None:
        state, counts = self.state, self.state.counts
        self.table.tell(
            life.DayEnded(
                day=state.day,
                active=counts["active"],
                dormant=counts["dormant"],
                dead=counts["dead"],
                totals=totals(state),
                gini=state.gini(),
                posts=tally.posts,
                messages=tally.messages,
                proposals=tally.proposals,
                votes=tally.votes,
                invalid=tally.invalid,
                laws=len(state.assembly.laws),
            ),
            to=Everyone,
        )


def totals(state: State) -> dict[str, life.Totals]:
    """Where every resource is, or went."""
    return {
        resource: life.Totals(
            state.held[resource],
            state.pool[resource],
            state.produced[resource],
            state.consumed[resource],
            state.spent[resource],
        )
        for resource in state.pool
    }
