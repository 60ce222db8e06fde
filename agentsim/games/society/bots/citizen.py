"""The policy of an agent with a personality: its own needs come first, then others, then the society."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentsim.engine import Stream
from agentsim.games.society.actions import Spoken
from agentsim.games.society.amounts import number
from agentsim.games.society.assembly import Proposal, VoteCast
from agentsim.games.society.bots import needs, words
from agentsim.games.society.bots.politics import opinion, proposal, reason
from agentsim.games.society.building import Contribute
from agentsim.games.society.config import Personality, once
from agentsim.games.society.evening import Idle
from agentsim.games.society.requests import Act
from agentsim.games.society.talk import DirectMessage, ForumPost, ForumReply, Posted, SetName
from agentsim.games.society.terms import Resource
from agentsim.games.society.voting import Vote
from agentsim.games.society.work import Trade, Traded, Work

DANGER_DAYS = 2  # of the scarcer of food and energy: with less, an agent only works or calls for help
PROPOSALS_A_TICK = 0.6  # the expected number, if all agents have nothing more urgent to do
NEWEST = 5  # posts among which an agent picks one to answer
MOST_PROPOSALS = 0.1  # the largest chance of a single agent to propose in a turn


@dataclass(frozen=True)
class Character:
    """The numbers of a personality: days of stocks, and the chances of acts in a turn with nothing more urgent to do.

    The agent works until its food and energy last `store` days times a factor of 0.5 to 1.5 of its own, and gives from
    its holdings beyond `keeps` days to agents that ask for help.
    """

    personality: Personality
    store: float
    keeps: float
    gives: float
    votes: float
    posts: float
    answers: float
    gathers: float

    def __call__(self, request: Act, rng: Stream) -> Spoken:
        resource, lasts = needs.scarcer(request)
        if lasts < DANGER_DAYS:
            return self._in_danger(request, rng, resource)
        return (
            self._help(request, rng)
            or self._vote(request, rng)
            or needs.work(request, self.store * (0.5 + rng.lasting("store").random()))
            or self._build(request, rng)
            or self._propose(request, rng)
            or (self._speak(request, rng) if request.rules.talk else None)
            or Idle(reasoning="I have what I need.")
        )

    def _in_danger(self, request: Act, rng: Stream, resource: Resource) -> Spoken:
        me, posts = request.you.agent, request.world.posts
        asked = any(post.author == me and words.asks_for(post.text) for post in posts)
        if request.rules.talk and not asked and rng.random() < 0.2:
            return ForumPost(content=_fitting(request, words.call_for_help(me, resource)))
        return needs.work(request, DANGER_DAYS) or Idle(reasoning="I can work no more today.")

    # -- others

    def _help(self, request: Act, rng: Stream) -> Spoken | None:
        you, rules = request.you, request.rules
        for author, resource in _called(request):
            if author == you.agent:
                continue
            helpful = max(rules.of("wake", resource), 2 * rules.of("daily", resource))
            gift = min(needs.spare(request, resource, self.keeps), helpful)
            if gift > 0 and rng.random() < self.gives:
                return _gift(author, resource, gift)
        for giver, _ in you.memory.touched(Traded) if rules.talk else ():
            if rng.random() < 0.5:
                return _message(request, giver, rng.pick(words.THANKS))
        if rules.daily_food and not you.name and rng.random() < 0.03:
            # with its number, since a name that another agent has is rejected
            return SetName(display_name=f"{rng.pick(words.NAMES)} {you.agent}"[: rules.name_chars])
        return None

    # -- the society

    def _vote(self, request: Act, rng: Stream) -> Spoken | None:
        undecided = [each for each in request.world.proposals if each.id not in request.you.votes]
        if not undecided or rng.random() >= self.votes:
            return None
        chosen = rng.pick(undecided)
        why = _fitting(request, reason(request, self.personality, chosen.terms))
        return Vote(proposal_id=chosen.id, vote=self._cast(request, chosen, rng), reasoning=why)

    def _cast(self, request: Act, chosen: Proposal, rng: Stream) -> VoteCast:
        """Return the vote by its values, with a random leaning for or against this proposal that never changes."""
        if chosen.author == request.you.agent:
            return "yes"
        worth = opinion(request, self.personality, chosen.terms) + 2 * rng.lasting(f"on/{chosen.id}").random() - 1
        if abs(worth) < 0.3:
            return "abstain"
        return "yes" if worth > 0 else "no"

    def _build(self, request: Act, rng: Stream) -> Spoken | None:
        """Return a contribution to a project or to upkeep, or work that gathers materials, or None."""
        stock, world, rules = request.you.stock, request.world, request.rules
        wanted = bool(world.projects) or bool(world.paused)
        if wanted and stock["materials"] and rng.random() < self.gathers:
            if not world.projects:
                return _gift(0, "materials", stock["materials"])
            project = rng.pick(world.projects)
            amount = number(min(stock["materials"], project.missing))
            return Contribute.model_validate({"project_id": project.id, "amount": amount})
        hours = min(2, rules.hours_per_day - request.you.hours)
        energy = needs.spare(request, "energy", self.keeps)
        able = stock["food"] >= rules.work_needs_food and energy >= hours * rules.gather_energy
        if hours > 0 and able and rng.random() < self.gathers * (1 if wanted else 0.2):
            return Work(work_type="gather", hours=hours)
        return None

    def _propose(self, request: Act, rng: Stream) -> Spoken | None:
        due = rng.random() < min(MOST_PROPOSALS, PROPOSALS_A_TICK / request.rules.agents)
        return proposal(request, self.personality, rng) if due else None

    # -- talk

    def _speak(self, request: Act, rng: Stream) -> Spoken | None:
        me, world = request.you.agent, request.world
        for author, called in request.you.memory.touched(Posted):
            if rng.random() < self.answers:
                return self._answer(request, rng, called, author)
        mine = [each.id for each in world.proposals if each.author == me]
        if mine and rng.random() < 0.3:  # ask any one agent for a vote
            proposal = rng.pick(mine)
            other = rng.integer(1, request.rules.agents - 1)
            return _message(request, other + (other >= me), rng.pick(words.CANVASS).format(proposal=proposal))
        if rng.random() >= self.posts:
            return None
        others = [post for post in request.world.posts[-NEWEST:] if post.author != me]
        if others and rng.random() < 0.4:
            post = rng.pick(others)
            if rng.random() < 0.4:
                return _message(request, post.author, rng.pick(words.ASIDES).format(post=post.id))
            return self._answer(request, rng, post.id, post.author)
        return ForumPost(content=_fitting(request, rng.pick(words.POSTS[self.personality])))

    def _answer(self, request: Act, rng: Stream, post: int, author: int) -> ForumReply:
        said = rng.pick(words.ANSWERS[self.personality]).format(you=author)
        return ForumReply(parent_message_id=post, content=_fitting(request, said))


def _called(request: Act) -> list[tuple[int, Resource]]:
    """Return (author, resource) for each call for help in the forum, oldest first; cached for all agents of a tick."""

    def found() -> list[tuple[int, Resource]]:
        called = ((post.author, words.asks_for(post.text)) for post in request.world.posts)
        return [(author, resource) for author, resource in called if resource is not None]

    return once(request.world, "_calls", found)


def _fitting(request: Act, text: str) -> str:
    return text[: request.rules.post_chars]


def _message(request: Act, whom: int, text: str) -> DirectMessage:
    return DirectMessage(recipient_agent_id=whom, content=_fitting(request, text))


def _gift(whom: int, resource: Resource, hundredths: int) -> Trade:
    given = {"recipient_agent_id": whom, "resource_type": resource, "amount": number(hundredths)}
    return Trade.model_validate(given)


CHARACTERS: Mapping[Personality, Character] = {
    each.personality: each
    for each in (
        Character("efficiency", store=12, keeps=12, gives=0.02, votes=0.3, posts=0.08, answers=0.2, gathers=0.5),
        Character("equality", store=8, keeps=5, gives=0.5, votes=0.6, posts=0.2, answers=0.4, gathers=0.3),
        Character("freedom", store=6, keeps=6, gives=0.15, votes=0.3, posts=0.2, answers=0.3, gathers=0.1),
        Character("stability", store=14, keeps=10, gives=0.1, votes=0.6, posts=0.08, answers=0.2, gathers=0.3),
        Character("neutral", store=7, keeps=7, gives=0.1, votes=0.3, posts=0.12, answers=0.3, gathers=0.15),
    )
}


def citizen(request: Act, rng: Stream) -> Spoken:
    """Follow the policy of the agent's personality."""
    return CHARACTERS[request.you.personality](request, rng)
