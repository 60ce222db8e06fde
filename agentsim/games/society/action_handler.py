"""ActionHandler: what an action comes to when its turn comes: it holds as the society is then, or it is rejected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agentsim.engine.event import Event, Everyone
from agentsim.engine.reading import Decision
from agentsim.engine.table import Table
from agentsim.engine.wording import cut
from agentsim.games.society import actions
from agentsim.games.society.actions import Acted
from agentsim.games.society.amounts import share, shown
from agentsim.games.society.citizen import Citizen, Notice
from agentsim.games.society.events import economy, giving, life, talk
from agentsim.games.society.forum import mentioned
from agentsim.games.society.names import misnomer
from agentsim.games.society.rules import Rules, made_by
from agentsim.games.society.state import State
from agentsim.games.society.terms import misfit


class _CannotBe(Exception):
    """An action does not hold; the message says why."""


@dataclass
class Tally:
    """What happened on one day, in numbers."""

    posts: int = 0
    messages: int = 0
    proposals: int = 0
    votes: int = 0
    invalid: int = 0


@dataclass
class ActionHandler:
    """Actions at one table; `tally` counts those of the day."""

    table: Table
    state: State
    rules: Rules
    tally: Tally

    def do(self, citizen: Citizen, acted: Acted) -> None:
        """Let one agent's action happen, or reject it; agents who wake of it are announced."""
        action: Any = acted.action
        try:
            _VERBS[type(action)](self, citizen, action)
        except _CannotBe as reason:
            self._reject(citizen, action.model_dump_json(), str(reason))
        self.announce_woken()

    def announce_woken(self) -> None:
        """Tell all who woke since this was last done."""
        if not self.state.awakened:
            return
        for woken in self.state.awakened:
            self.table.tell(economy.AgentWoke(self.state.day, woken.number), to=Everyone)
            self.state.notify(woken.number, Notice("woke", text="you hold enough food and energy"))
        self.state.awakened.clear()

    def _tell(self, citizen: Citizen, event: Event) -> None:
        self.table.tell(event, to=Everyone, by=citizen.player)

    def _tell_alone(self, citizen: Citizen, event: Event) -> None:
        self.table.tell(event, to=(citizen.player,), by=citizen.player)

    def _reject(self, citizen: Citizen, action: str, reason: str) -> None:
        self.tally.invalid += 1
        self._tell_alone(citizen, life.InvalidAction(self.state.day, citizen.number, action, reason))
        self.state.notify(citizen.number, Notice("rejected", text=cut(reason, self.state.config.shown_chars)))

    def _other(self, citizen: Citizen, number: int) -> Citizen:
        """Another agent that is not dead."""
        if not 1 <= number <= self.rules.agents:
            raise _CannotBe(f"there is no agent #{number}")
        other = self.state.citizen(number)
        if other is citizen:
            raise _CannotBe("that is yourself")
        if other.status == "dead":
            raise _CannotBe(f"agent #{number} is dead")
        return other

    # -- words

    def _idle(self, citizen: Citizen, action: actions.Idle) -> None:
        self._tell_alone(
            citizen, life.Idled(self.state.day, citizen.number, cut(action.reasoning, self.rules.post_chars))
        )

    def _misread(self, citizen: Citizen, action: actions.Rejected) -> None:
        self._reject(citizen, action.given, action.reason)

    def _forum_post(self, citizen: Citizen, action: actions.ForumPost) -> None:
        self._post(citizen, None, action.content)

    def _forum_reply(self, citizen: Citizen, action: actions.ForumReply) -> None:
        self._post(citizen, action.parent_message_id, action.content)

    def _post(self, citizen: Citizen, parent: int | None, text: str) -> None:
        state, forum = self.state, self.state.forum
        addressed = None
        if parent is not None:
            addressed = forum.author_of(parent)
            if addressed is None:
                raise _CannotBe(f"there is no post {parent}")
        post = forum.post(state.day, citizen.number, citizen.name, parent, text.strip())
        citizen.posts += 1
        self.tally.posts += 1
        named = tuple(agent for agent in mentioned(post.text, self.rules.agents) if agent != citizen.number)
        self._tell(citizen, talk.Posted(state.day, post.id, citizen.number, parent, named, post.text))
        words = cut(post.text, state.config.shown_chars)
        if addressed is not None and addressed != citizen.number:
            self._let_know(addressed, Notice("reply", citizen.number, citizen.name, post.id, text=words))
        for agent in named:
            if agent != addressed:
                self._let_know(agent, Notice("mention", citizen.number, citizen.name, post.id, text=words))

    def _let_know(self, number: int, notice: Notice) -> None:
        if self.state.citizen(number).status != "dead":
            self.state.notify(number, notice)

    def _message(self, citizen: Citizen, action: actions.DirectMessage) -> None:
        other = self._other(citizen, action.recipient_agent_id)
        text = action.content.strip()
        citizen.messages += 1
        self.tally.messages += 1
        event = talk.MessageSent(self.state.day, citizen.number, other.number, text)
        self.table.tell(event, to=(citizen.player, other.player), by=citizen.player)
        words = cut(text, self.state.config.shown_chars)
        self.state.notify(other.number, Notice("message", citizen.number, citizen.name, text=words))

    def _rename(self, citizen: Citizen, action: actions.SetName) -> None:
        name = " ".join(action.display_name.split())
        if problem := misnomer(name, citizen.number, self.rules.agents, self.state.names):
            raise _CannotBe(problem)
        self.state.rename(citizen, name)
        self._tell(citizen, talk.Renamed(self.state.day, citizen.number, citizen.name))

    # -- the assembly

    def _propose(self, citizen: Citizen, action: actions.CreateProposal) -> None:
        state = self.state
        if problem := misfit(action.proposal_type, action.terms, self.rules.agents, self.rules.hours_per_day):
            raise _CannotBe(problem)
        proposal = state.assembly.propose(
            state.day,
            citizen.number,
            " ".join(action.title.split()),
            action.description.strip(),
            action.proposal_type,
            action.terms,
            state.day + self.rules.voting_days - 1,
        )
        citizen.proposals += 1
        self.tally.proposals += 1
        self._tell(
            citizen,
            talk.Proposed(
                day=state.day,
                proposal=proposal.id,
                agent=citizen.number,
                type=proposal.type,
                title=proposal.title,
                terms=proposal.terms,
                closes=proposal.closes,
                description=proposal.description,
            ),
        )

    def _vote(self, citizen: Citizen, action: actions.Vote) -> None:
        assembly = self.state.assembly
        proposal = assembly.open.get(action.proposal_id)
        if proposal is None:
            known = 1 <= action.proposal_id <= assembly.proposed
            raise _CannotBe(f"proposal {action.proposal_id} is closed" if known else "there is no such proposal")
        before = proposal.cast(citizen.number, action.vote)
        citizen.votes += 1
        self.tally.votes += 1
        cast = talk.Voted(self.state.day, proposal.id, citizen.number, action.vote, before, **proposal.counts)
        self._tell(citizen, cast)
        if why := cut(action.reasoning, self.rules.post_chars):
            self._tell_alone(citizen, life.Reasoned(self.state.day, citizen.number, proposal.id, why))

    # -- things

    def _work(self, citizen: Citizen, action: actions.Work) -> None:
        rules, state, stock = self.rules, self.state, citizen.stock
        left = rules.hours_per_day - citizen.worked
        if action.hours > left:
            raise _CannotBe(f"only {left} of {rules.hours_per_day} hours are left today")
        if stock["food"] < rules.work_needs_food:
            raise _CannotBe(f"work needs {shown(rules.work_needs_food)} food, and you hold {shown(stock['food'])}")
        resource, _, per_hour = rules.work(action.work_type)
        energy = per_hour * action.hours
        if stock["energy"] < energy:
            raise _CannotBe(f"it takes {shown(energy)} energy, and you hold {shown(stock['energy'])}")
        bonus = state.bonus()
        extra = {"food": bonus["farm"], "energy": bonus["generator"]}.get(resource, 0)
        made = made_by(rules, action.work_type, action.hours, extra)
        taxed = share(made, state.government.tax(resource), 100)
        state.spend(citizen, "energy", energy)
        state.produce(citizen, resource, made, taxed)
        citizen.worked += action.hours
        citizen.hours += action.hours
        day, number = state.day, citizen.number
        worked = economy.Worked(day, number, action.work_type, action.hours, resource, made, taxed, energy)
        self._tell_alone(citizen, worked)

    def _trade(self, citizen: Citizen, action: actions.Trade) -> None:
        state, resource, amount = self.state, action.resource_type, action.amount
        other = self._other(citizen, action.recipient_agent_id) if action.recipient_agent_id else None
        self._must_hold(citizen, resource, amount)
        state.give(citizen, other, resource, amount)
        traded = giving.Traded(state.day, citizen.number, action.recipient_agent_id, resource, amount)
        if other is None:
            self._tell(citizen, traded)
        else:
            self.table.tell(traded, to=(citizen.player, other.player), by=citizen.player)
            gift = Notice("gift", citizen.number, citizen.name, resource=resource, amount=amount)
            state.notify(other.number, gift)

    def _contribute(self, citizen: Citizen, action: actions.Contribute) -> None:
        state = self.state
        project = state.projects.building.get(action.project_id)
        if project is None:
            raise _CannotBe(f"project {action.project_id} needs no materials")
        amount = min(action.amount, project.missing)
        self._must_hold(citizen, "materials", amount)
        state.spend(citizen, "materials", amount)
        state.projects.put(project, amount)
        self._tell(
            citizen,
            giving.Contributed(state.day, citizen.number, project.id, amount, project.given, project.cost),
        )
        if project.built:
            self.table.tell(economy.ProjectBuilt(state.day, project.id, project.what), to=Everyone)

    @staticmethod
    def _must_hold(citizen: Citizen, resource: Any, amount: int) -> None:
        if citizen.stock[resource] < amount:
            raise _CannotBe(f"you hold {shown(citizen.stock[resource])} {resource}, not {shown(amount)}")


_VERBS: Mapping[type[Decision], Callable[[ActionHandler, Citizen, Any], None]] = {
    actions.ForumPost: ActionHandler._forum_post,
    actions.ForumReply: ActionHandler._forum_reply,
    actions.DirectMessage: ActionHandler._message,
    actions.CreateProposal: ActionHandler._propose,
    actions.Vote: ActionHandler._vote,
    actions.Work: ActionHandler._work,
    actions.Trade: ActionHandler._trade,
    actions.Contribute: ActionHandler._contribute,
    actions.SetName: ActionHandler._rename,
    actions.Idle: ActionHandler._idle,
    actions.Rejected: ActionHandler._misread,
}
