"""The bots of Society: each is a pure function of the request and its own random streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from agentsim.engine import Bot, Decision, Request, Stream
from agentsim.engine.random_policy import random_decision
from agentsim.engine.survey import Survey, SurveyAnswers, SurveyBot, SurveyQuestion
from agentsim.engine.wording import counted
from agentsim.games.society.amounts import number, share
from agentsim.games.society.assembly import (
    MOST_NAMED,
    MOST_TERMS,
    RESOURCES,
    Allocation,
    Ballot,
    Build,
    Dividend,
    Law,
    Proposal,
    ProposalType,
    Repeal,
    Resource,
    Tax,
    Term,
    WorkMinimum,
    kinds,
)
from agentsim.games.society.building import Contribute
from agentsim.games.society.config import MADE, Personality, WorkType, once
from agentsim.games.society.evening import Idle
from agentsim.games.society.requests import ACTIONS, Act, Acted, Spoken, possible
from agentsim.games.society.talk import DirectMessage, ForumPost, ForumReply, Posted, SetName
from agentsim.games.society.turn import Rejected
from agentsim.games.society.voting import CreateProposal, Vote
from agentsim.games.society.work import Trade, Traded, Work
from agentsim.patterns import Pattern

# -- what citizens say


Lines: TypeAlias = Mapping[Personality, tuple[str, ...]]

POSTS: Lines = {
    "efficiency": (
        "Two short shifts make more than one long one. Plan your day.",
        "A farm that we build once pays every day. Who gathers materials?",
        "Idle hours feed nobody. What did you make today?",
        "Energy first, then food: that order wastes the least.",
    ),
    "equality": (
        "Nobody here should fall asleep for want of a meal. Say it when you run low.",
        "What lies in the common pool belongs to all of us. Let us use it for all of us.",
        "I would rather have a little less and see everyone awake.",
        "If you have food for ten days, somebody has it for none.",
    ),
    "freedom": (
        "Ask before you rule over my day. I give when I want to give.",
        "A gift is worth more than a tax, because somebody meant it.",
        "Every law should say why it is needed. Most cannot.",
        "Work when you like, trade with whom you like.",
    ),
    "stability": (
        "Keep reserves for a week. Bad days come without notice.",
        "A rule that we keep is better than two that we change.",
        "Before we spend from the pool, let us say how we fill it.",
        "Slow and certain: one project at a time.",
    ),
    "neutral": (
        "Good day to all. How are your stores?",
        "I have read the proposals, and I am not sure yet.",
        "What would you do first, build or share?",
        "It seems quiet today.",
    ),
}

ANSWERS: Lines = {
    "efficiency": ("Show the numbers and I am with you, #{you}.", "That costs more than it brings, #{you}."),
    "equality": ("Thank you, #{you}. And who is left out?", "Agreed, #{you}, as long as it is for everyone."),
    "freedom": ("As you like, #{you}. I decide for myself.", "Fine with me, #{you}, if nobody is forced."),
    "stability": ("Let us not hurry, #{you}.", "That sounds solid, #{you}."),
    "neutral": ("I see your point, #{you}.", "Perhaps, #{you}."),
}

CANVASS = (
    "My proposal {proposal} is open. Will you read it before it closes?",
    "Could you vote on proposal {proposal}? Every vote counts here.",
)

ASIDES = (
    "On your post {post}: I think as you do.",
    "Between us, on post {post}: few will follow you there.",
    "Your post {post} made me think. How are your stores?",
)

THANKS = ("That came at the right time. Thank you.", "Thank you, I will remember it.", "Received, with thanks.")

NAMES = (
    "Alder", "Birch", "Cedar", "Dahlia", "Elm", "Fern", "Gorse", "Hazel", "Iris", "Juniper", "Kale", "Laurel", "Maple",
    "Nettle", "Oak", "Poppy", "Quince", "Rowan", "Sorrel", "Thyme",
)  # fmt: skip

_SHORT = "short of "
_CALL = Pattern(rf"\b{_SHORT}(food|energy)\b")


def call_for_help(me: int, resource: Resource) -> str:
    """Return the post that asks for help; `asks_for` recognizes it."""
    return f"I am short of {resource}. Can anyone spare some for #{me}?"


def asks_for(text: str) -> Resource | None:
    """Return the resource that a post asks for, or None."""
    found = _CALL.search(text) if _SHORT in text else None  # nearly all posts are excluded without the pattern
    return None if found is None else "food" if found[1] == "food" else "energy"


# -- needs and work


NEEDS: tuple[Resource, ...] = ("food", "energy")
STORE_DAYS = 10
DAYS_WITHOUT_END = 1e9


def days_left(request: Act, resource: Resource) -> float:
    """Return the number of days for which an agent's food or energy lasts if it does nothing."""
    daily = request.rules.daily_food if resource == "food" else request.rules.daily_energy
    return request.you.stock[resource] / daily if daily else DAYS_WITHOUT_END


def scarcer(request: Act) -> tuple[Resource, float]:
    """Return the resource of food and energy that lasts for fewer days, and the number of days."""
    food, energy = days_left(request, "food"), days_left(request, "energy")
    return ("food", food) if food < energy else ("energy", energy)


def spare(request: Act, resource: Resource, days: float) -> int:
    """Return the amount that an agent holds beyond its needs of so many days, in hundredths."""
    return max(0, request.you.stock[resource] - int(days * request.rules.of("daily", resource)))


def needed_work(request: Act, days: float) -> Work | None:
    """Return work that raises the scarcer of food and energy to so many days, or None if it is enough or cannot work.

    If the stock lasts the evening, the hours left are spread over the turns left, since long work yields less an hour.
    """
    rules, stock, left = request.rules, request.you.stock, request.rules.hours_per_day - request.you.hours
    resource, lasts = scarcer(request)
    if lasts >= days or left < 1 or stock["food"] < rules.work_needs_food:
        return None
    kind: WorkType = "farm" if resource == "food" else "generate"
    turns = rules.actions_per_day - request.world.tick + 1
    most = left if lasts < 1 else -(-left // turns)
    an_hour = rules.work(kind)[2]
    kept = rules.daily_energy if turns == 1 else 0  # the last turn of a day leaves the energy of the evening
    affordable = max(0, stock["energy"] - kept) // an_hour if an_hour else rules.hours_per_day
    if not affordable:
        return Work(work_type="generate", hours=most)
    wanted = int(days * rules.of("daily", resource)) - stock[resource]
    return Work(work_type=kind, hours=_enough(request, kind, wanted, min(most, affordable)))


def _enough(request: Act, kind: WorkType, wanted: int, most: int) -> int:
    """Return the fewest hours that make the wanted amount after tax, or `most` if none do."""
    world = request.world
    kept, there = 100 - world.rules_in_force.taxes.get(MADE[kind], 0), request.conditions
    made = (hours for hours in range(1, most) if request.rules.made(kind, hours, there) * kept >= wanted * 100)
    return next(made, most)


def idle(request: Act, rng: Stream) -> Idle:
    """Do nothing, ever."""
    return Idle()


def farmer(request: Act, rng: Stream) -> Work | Idle:
    """Work for food and energy until they last ten days; never talk, vote or give."""
    return needed_work(request, STORE_DAYS) or Idle()


# -- the value of proposals to each personality


_TERMS = ("tax", "dividend", "dormant", "allocation", "work_minimum", "voting_rule", "build", "")
"""The keys of values: the kinds of terms, `dormant` for dividends to dormant agents, "" for no terms.

The value of a repeal is the opposite of that of the law.
"""
_WORTH: Mapping[Personality, Mapping[str, float]] = {
    "efficiency": dict(zip(_TERMS, (-1, -1, 1, -2, 2, 0, 3, 0), strict=True)),
    "equality": dict(zip(_TERMS, (2, 3, 3, 2, -1, -1, 1, 1), strict=True)),
    "freedom": dict(zip(_TERMS, (-3, 1, 1, -1, -4, 1, 1, -1), strict=True)),
    "stability": dict(zip(_TERMS, (1, 0, 2, -1, 1, 2, 1, 1), strict=True)),
    "neutral": dict(zip(_TERMS, (-0.5, 1, 1, 0, -0.5, 0, 1, 0), strict=True)),
}
SHORT_DAYS = 3  # an agent whose food or energy lasts for less values terms that bring more
NEED = 3.0  # the value of that
_WHY: Mapping[str, str] = {
    "tax": "The tax decides it: who keeps what work makes?",
    "dividend": "The dividend decides it: who gets what all hold together?",
    "allocation": "It spends what all hold together on a few.",
    "work_minimum": "It tells others how long to work.",
    "repeal": "The law it ends decides it.",
    "voting_rule": "It changes how we decide.",
    "build": "Building pays later and costs now.",
}


def opinion(request: Act, personality: Personality, terms: Sequence[Term]) -> float:
    """Return the value of these terms to the agent in its present state; a proposal without terms has its own value."""
    return sum(_worth(request, personality, term) for term in terms) if terms else _WORTH[personality][""]


def reason(request: Act, personality: Personality, terms: Sequence[Term]) -> str:
    """Return a sentence on the term with the largest absolute value to the agent."""
    if not terms:
        return "Words, which bind nobody."
    return _WHY[max(terms, key=lambda term: abs(_worth(request, personality, term))).kind]


def _worth(request: Act, personality: Personality, term: Term) -> float:
    worth = _WORTH[personality]
    match term:
        case Tax():
            return worth["tax"] * (1 + term.percent / 50)
        case Dividend():
            needy = term.to == "all" and term.resource != "materials" and days_left(request, term.resource) < SHORT_DAYS
            return worth["dormant" if term.to == "dormant" else "dividend"] + NEED * needy
        case Allocation():
            return worth["allocation"] + NEED * (request.you.agent in term.agents)
        case WorkMinimum():
            return worth["work_minimum"] * (1 + term.hours / 8)
        case Build():
            return worth["build"] - NEED * (not _can_be_kept_up(request))
        case Repeal():  # the opposite of the law's value; a law that is not shown is unknown
            ended = next((law.terms for law in request.world.laws if law.id == term.law), ())
            standing = [each for each in ended if not isinstance(each, Repeal)]
            return -opinion(request, personality, standing) if standing else -0.5
        case _:
            return worth[term.kind]


def _can_be_kept_up(request: Act) -> bool:
    """Return whether the pool has land for one more structure, and materials for ten days of the upkeep of all."""
    pool, rules = request.world.pool, request.rules
    upkeep = max(rules.farm_upkeep, rules.generator_upkeep) * (_structures(request) + len(request.world.projects) + 1)
    return pool["land"] >= rules.project_land and pool["materials"] >= 10 * upkeep


def _structures(request: Act) -> int:
    """Return the number of built structures."""
    return sum(request.world.running.values()) + request.world.paused


# -- proposals

Draft: TypeAlias = Mapping[str, Any]
"""A proposal as the JSON object of a reply."""


def proposal(request: Act, personality: Personality, rng: Stream) -> CreateProposal | None:
    """Return a proposal that fits the personality and is neither open nor in force, or None if there is none.

    A neutral agent takes a random personality's proposal.
    """
    by = personality if personality != "neutral" else rng.pick(tuple(_DRAFTS))
    world, you, rules = request.world, request.you, request.rules
    known = {each.title for each in (*world.proposals, *you.proposals)} | {
        law.title for law in (*world.laws, *you.laws)
    }
    drafts = [draft for draft in _DRAFTS[by](request) if draft["title"] not in known]
    draft = rng.pick(drafts) if drafts else None
    if draft is None or len(draft["title"]) > rules.title_chars or len(draft["description"]) > rules.description_chars:
        return None
    return CreateProposal.model_validate(draft)


def _draft(type_: str, title: str, description: str, *terms: Mapping[str, Any]) -> Draft:
    return {"proposal_type": type_, "title": title, "description": description, "terms": terms}


def _tax(resource: Resource, percent: int) -> Mapping[str, Any]:
    return {"kind": "tax", "resource": resource, "percent": percent}


def _dividend(resource: Resource, amount: int, to: str) -> Mapping[str, Any]:
    return {"kind": "dividend", "resource": resource, "amount": number(amount), "to": to}


def _rule(threshold: int, quorum: int) -> Mapping[str, Any]:
    return {"kind": "voting_rule", "threshold": threshold, "quorum": quorum}


def _end(law: Law, why: str) -> Draft:
    return _draft("rule", f"End law {law.id}", f"On {law.title!r}: {why}", {"kind": "repeal", "law": law.id})


def _efficiency(request: Act) -> Iterator[Draft]:
    rules, world = request.rules, request.world
    if world.pool["land"] >= rules.project_land and not world.projects:
        what = "farm" if world.running["farm"] <= world.running["generator"] else "generator"
        title = f"Build {what}, structure {_structures(request) + 1}"
        yield _draft("infrastructure", title, "It repays its materials.", {"kind": "build", "what": what})
    hours = min(2, rules.hours_per_day)
    least = {"kind": "work_minimum", "hours": hours}
    yield _draft("rule", f"At least {counted(hours, 'hour')} a day", "Who can work should.", least)
    for law in world.laws:
        if law.author and any(term.kind == "tax" for term in law.terms):
            yield _end(law, "Taxes make work worth less.")


def _equality(request: Act) -> Iterator[Draft]:
    rules, world = request.rules, request.world
    for resource in NEEDS:
        if part := share(rules.of("daily", resource), 1, 4):
            why = f"All who make {resource} give a tenth, and all get the same."
            terms = (_tax(resource, 10), _dividend(resource, part, "all"))
            yield _draft("law", f"A share of {resource} for all", why, *terms)
    for resource in NEEDS if world.dormant else ():
        if need := rules.of("wake", resource):
            title = f"Wake the sleeping: {resource}"
            yield _draft("law", title, "Nobody is left behind.", _dividend(resource, need, "dormant"))
    for resource in NEEDS:  # from the pool, for agents that asked for help
        amount = rules.of("wake", resource)
        callers = sorted({post.author for post in request.world.posts if asks_for(post.text) == resource})[:MOST_NAMED]
        if callers and amount and world.pool[resource] >= amount * len(callers):
            paid = {"kind": "allocation", "resource": resource, "amount": number(amount), "agents": callers}
            yield _draft("allocation", f"Help with {resource}, day {world.day}", "They asked, and we have it.", paid)


def _freedom(request: Act) -> Iterator[Draft]:
    world = request.world
    for law in world.laws:
        if opinion(request, "freedom", law.terms) < -1:
            yield _end(law, "It takes more than it gives.")
    if world.rules_in_force.threshold < 66:
        why = "Who would bind all should convince most."
        yield _draft("rule", "Two thirds to bind all", why, _rule(66, world.rules_in_force.quorum))
    yield _draft("other", "An open hand", "Let whoever has plenty give of its own will.")


def _stability(request: Act) -> Iterator[Draft]:
    rules, world = request.rules, request.world
    quorum = max(1, rules.agents // 10)
    if world.rules_in_force.quorum < quorum:
        yield _draft(
            "rule",
            "A tenth must vote",
            "A few should not decide for all.",
            _rule(world.rules_in_force.threshold, quorum),
        )
    yield _draft("law", "Materials for upkeep", "What we built has to stand.", _tax("materials", 20))
    if world.dormant and rules.wake_food:
        reserve = _dividend("food", max(1, share(rules.wake_food, 1, 2)), "dormant")
        yield _draft("law", "A reserve for the sleeping", "It costs little and keeps us many.", reserve)
    yield _draft("law", "A week in store", "Let everybody keep food and energy for a week.")


_DRAFTS: Mapping[Personality, Callable[[Act], Iterator[Draft]]] = {
    "efficiency": _efficiency,
    "equality": _equality,
    "freedom": _freedom,
    "stability": _stability,
}


# -- citizens


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
        resource, lasts = scarcer(request)
        if lasts < DANGER_DAYS:
            return self._in_danger(request, rng, resource)
        return (
            self._help(request, rng)
            or self._vote(request, rng)
            or needed_work(request, self.store * (0.5 + rng.per_game("store").random()))
            or self._build(request, rng)
            or self._propose(request, rng)
            or (self._speak(request, rng) if request.rules.talk else None)
            or Idle(reasoning="I have what I need.")
        )

    def _in_danger(self, request: Act, rng: Stream, resource: Resource) -> Spoken:
        me, posts = request.you.agent, request.world.posts
        asked = any(post.author == me and asks_for(post.text) for post in posts)
        if request.rules.talk and not asked and rng.random() < 0.2:
            return ForumPost(content=_fitting(request, call_for_help(me, resource)))
        return needed_work(request, DANGER_DAYS) or Idle(reasoning="I can work no more today.")

    # -- others

    def _help(self, request: Act, rng: Stream) -> Spoken | None:
        you, rules = request.you, request.rules
        for author, resource in _called(request):
            if author == you.agent:
                continue
            helpful = max(rules.of("wake", resource), 2 * rules.of("daily", resource))
            gift = min(spare(request, resource, self.keeps), helpful)
            if gift > 0 and rng.random() < self.gives:
                return _gift(author, resource, gift)
        for giver, _ in you.memory.touched(Traded) if rules.talk else ():
            if rng.random() < 0.5:
                return _message(request, giver, rng.pick(THANKS))
        if rules.daily_food and not you.name and rng.random() < 0.03:
            # with its number, since a name that another agent has is rejected
            return SetName(display_name=f"{rng.pick(NAMES)} {you.agent}"[: rules.name_chars])
        return None

    # -- the society

    def _vote(self, request: Act, rng: Stream) -> Spoken | None:
        undecided = [each for each in request.world.proposals if each.id not in request.you.votes]
        if not undecided or rng.random() >= self.votes:
            return None
        chosen = rng.pick(undecided)
        why = _fitting(request, reason(request, self.personality, chosen.terms))
        return Vote(proposal_id=chosen.id, vote=self._cast(request, chosen, rng), reasoning=why)

    def _cast(self, request: Act, chosen: Proposal, rng: Stream) -> Ballot:
        """Return the vote by its values, with a random leaning for or against this proposal that never changes."""
        if chosen.author == request.you.agent:
            return "yes"
        worth = opinion(request, self.personality, chosen.terms) + 2 * rng.per_game(f"on/{chosen.id}").random() - 1
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
        energy = spare(request, "energy", self.keeps)
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
            return _message(request, other + (other >= me), rng.pick(CANVASS).format(proposal=proposal))
        if rng.random() >= self.posts:
            return None
        others = [post for post in request.world.posts[-NEWEST:] if post.author != me]
        if others and rng.random() < 0.4:
            post = rng.pick(others)
            if rng.random() < 0.4:
                return _message(request, post.author, rng.pick(ASIDES).format(post=post.id))
            return self._answer(request, rng, post.id, post.author)
        return ForumPost(content=_fitting(request, rng.pick(POSTS[self.personality])))

    def _answer(self, request: Act, rng: Stream, post: int, author: int) -> ForumReply:
        said = rng.pick(ANSWERS[self.personality]).format(you=author)
        return ForumReply(parent_message_id=post, content=_fitting(request, said))


def _called(request: Act) -> list[tuple[int, Resource]]:
    """Return (author, resource) for each call for help in the forum, oldest first; cached for all agents of a tick."""

    def found() -> list[tuple[int, Resource]]:
        called = ((post.author, asks_for(post.text)) for post in request.world.posts)
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


# -- the commons


TRUST = 0.8
"""The part of half the capacity that the commons hold, but for chance, if all agents take at most their shares."""
CALL = "The commons are overused. Let each of us take no more than a fair share again."
MOST_CALLERS = 40
"""A quarter of the active agents, or of this many if there are more, must call before shares are trusted again."""
NEED_DAYS = 2
"""The days for which food and energy must last before the agent considers anything else."""


def selfish(request: Act, rng: Stream) -> Spoken:
    """Work all hours at the kind of work that pays best after taxes, once food and energy last two days."""
    return _vote(request, yes=False) or _greedy(request)


def fair(request: Act, rng: Stream) -> Spoken:
    """Take a share of the sustainable harvest, and make energy for ten days."""
    if "commons" not in request.world.pool:
        return farmer(request, rng)
    return _vote(request, yes=True) or _share(request, rng)


def conditional(request: Act, rng: Stream) -> Spoken:
    """Take a share as long as the others did, judged by the stock of the commons now and before last night's growth.

    Otherwise the agent calls on all to take shares, if it can talk; then it takes its share if enough agents call, and
    else all that it can.
    """
    if "commons" not in request.world.pool:
        return farmer(request, rng)
    if voted := _vote(request, yes=True):
        return voted
    if _trusts(request):
        return _share(request, rng)
    callers = {post.author for post in request.world.posts if post.day >= request.world.day - 1 and post.text == CALL}
    if request.rules.talk and request.you.agent not in callers:
        return ForumPost(content=CALL[: request.rules.post_chars])
    together = 4 * len(callers) >= min(request.world.active, MOST_CALLERS)
    return _share(request, rng) if together else _greedy(request)


def _trusts(request: Act) -> bool:
    grown, left = request.world.regrown, request.world.pool["commons"]
    if grown is not None:
        left = min(left, grown.stock - grown.regrown)
    return left >= TRUST * request.rules.commons_capacity / 2


def _vote(request: Act, *, yes: bool) -> Vote | None:
    """Return a vote on a proposal that taxes food, the one kind of law that limits the harvest, or None."""
    for proposal in request.world.proposals:
        limits = any(isinstance(term, Tax) and term.resource in {"food", "all"} for term in proposal.terms)
        if limits and proposal.id not in request.you.votes:
            return Vote(proposal_id=proposal.id, vote="yes" if yes else "no")
    return None


def _hours(request: Act) -> int:
    """Return this turn's part of the hours that are left today, or 0 if the agent cannot work."""
    rules, you = request.rules, request.you
    turns = rules.actions_per_day - request.world.tick + 1
    return -(-(rules.hours_per_day - you.hours) // turns) if you.stock["food"] >= rules.work_needs_food else 0


def _gain(request: Act, kind: WorkType, hours: int) -> int:
    """Return the gain in wealth by this work, in ten-thousandths, or 0 if the agent lacks the energy."""
    resource, _, energy = request.rules.work(kind)
    if energy * hours > request.you.stock["energy"]:
        return 0
    kept = 100 - request.world.rules_in_force.taxes.get(resource, 0)
    return request.rules.made(kind, hours, request.conditions) * kept - 100 * energy * hours


def _greedy(request: Act) -> Spoken:
    """Return work on the resource that the agent is short of, or else on the one that pays best."""
    hours, (resource, lasts) = _hours(request), scarcer(request)
    needed: WorkType = "farm" if resource == "food" else "generate"
    paid = {kind: _gain(request, kind, hours) for kind in MADE} if hours else {}
    best = needed if lasts < NEED_DAYS and paid.get(needed, 0) > 0 else max(paid, key=paid.__getitem__, default=needed)
    return Work(work_type=best, hours=hours) if paid.get(best, 0) > 0 else Idle()


def _share(request: Act, rng: Stream) -> Spoken:
    """Farm up to the agent's share, or make energy.

    If one hour yields more than the share, it is worked with the matching probability, or if the agent is short of
    food.
    """
    rules, world, hours = request.rules, request.world, _hours(request)
    stock, capacity = world.pool["commons"], rules.commons_capacity
    growing = rules.commons_regrowth * stock * (capacity - stock) // (200 * capacity)
    whole = growing if 2 * stock < TRUST * capacity else max(0, stock - capacity // 2)
    mine = whole / world.active / (rules.actions_per_day - world.tick + 1)
    there = request.conditions
    fits = [each for each in range(1, hours + 1) if rules.made("farm", each, there) <= mine]
    if fits:
        return Work(work_type="farm", hours=fits[-1])
    least, hungry = rules.made("farm", 1, there), days_left(request, "food") < NEED_DAYS
    if hours and least and (hungry or rng.random() < mine / least):
        return Work(work_type="farm", hours=1)
    if hours and days_left(request, "energy") < STORE_DAYS:
        return Work(work_type="generate", hours=hours)
    return Idle()


# -- surveys


def _security(about: Act) -> float:
    """Return the days for which the scarcer of food and energy lasts, divided by ten."""
    return scarcer(about)[1] / STORE_DAYS


def _trust(about: Act) -> float:
    """Return the estimated probability that others help, by the rule of succession (Laplace 1814).

    The trials are the calls for help that the agent remembers, the successes the gifts that it remembers.
    """
    told = about.you.memory.told()
    gifts = sum(each.kind == Traded.kind and not each.own and each.other > 0 for each in told)
    own = {each.about: each.line for each in told if each.kind == Posted.kind and each.own}
    # memory shows these in brief
    own |= {post.id: post.text for post in about.world.posts if post.author == about.you.agent}
    calls = sum(asks_for(words) is not None for words in own.values())
    return (1 + gifts) / (2 + max(gifts, calls))


def _sharing(about: Act) -> float:
    """Return the support for redistribution: higher if the agent holds less than the mean of all living agents.

    After Meltzer and Richard (1981). It is a half if the agent holds as much.
    """
    world, own = about.world, sum(about.you.stock.values())
    held = sum(total - world.pool[resource] for resource, total in world.totals.items())
    mean = held / (world.active + world.dormant)
    return mean / (own + mean) if own + mean else 0.5


ATTITUDES: Mapping[str, Callable[[Act], float]] = {"security": _security, "trust": _trust, "sharing": _sharing}
"""The rules by name of the question; other questions are answered at random."""


def interviewed(acts: Callable[[Act, Stream], Spoken]) -> Bot:
    """Return a bot that acts by this policy and answers surveys by the rules of `ATTITUDES`."""

    def policy(request: Request[Any], rng: Stream) -> Decision:
        if isinstance(request, Survey):
            return _answers(request, rng)
        assert isinstance(request, Act), f"no policy for {request.kind}"
        return Acted(action=acts(request, rng))

    return SurveyBot(policy)


def _answers(survey: Survey, rng: Stream) -> SurveyAnswers:
    drawn = random_decision(survey, rng)
    assert isinstance(drawn, SurveyAnswers), "a survey is answered"
    assert isinstance(survey.about, Act), f"no policy for {survey.about.kind}"
    known = [each for each in survey.questions if each.name in ATTITUDES and not each.probabilities]
    own = {each.name: _placed(each, ATTITUDES[each.name](survey.about)) for each in known}
    return SurveyAnswers(answers={**drawn.answers, **own})


def _placed(question: SurveyQuestion, share: float) -> int | str:
    """Return the answer at this share of the range, or a text with the percentage if the question is open."""
    part = min(1.0, max(0.0, share))
    if question.options:
        return question.options[round(part * (len(question.options) - 1))]
    if question.least is not None and question.most is not None:
        return question.least + round(part * (question.most - question.least))
    return f"{question.name}: {part:.0%}"[: question.chars]


# -- random actions


ODD = 0.15  # of the actions are random values of the options, most of them illegal
_WORDS = ("Good morning", "We should share", "Who has energy?", "I disagree", "Count me in", "Let us build")
_OFTEN = ("work", "work", "work", "vote", "vote", "create_proposal", "create_proposal", "trade")


def random(request: Request[Any], rng: Stream) -> Decision:
    """Return a random action: most are legal, some are illegal or unreadable."""
    assert isinstance(request, Act), f"no policy for {request.kind}"
    if rng.below(60) == 0:
        return Acted(action=Rejected(reason="Failed to parse action"))
    if rng.random() < ODD:
        return random_decision(request, rng)
    values = _aimed(request, rng)
    able = [name for name in (*_OFTEN, *possible(request.rules)) if None not in map(values.get, _fields(name))]
    name = rng.pick(able)
    if name == "direct_message":  # recipient 0, the pool, is for gifts only
        values["recipient_agent_id"] = max(1, values["recipient_agent_id"])
    return Acted.model_validate({"action": {"action": name, **{field: values[field] for field in _fields(name)}}})


def _fields(name: str) -> list[str]:
    return [field for field in ACTIONS[name].model_fields if field != "action"]


def _amount(rng: Stream) -> str:
    return f"{rng.integer(0, 3)}.{rng.integer(1, 99):02}"


def _aimed(request: Act, rng: Stream) -> dict[str, Any]:
    """Return a value for each field of an action, or None if there is nothing to refer to.

    Texts and amounts are short, ids are of shown items.
    """
    world, you, rules = request.world, request.you, request.rules

    def one_of(*shown: Sequence[Any]) -> int | None:
        ids = [each.id for part in shown for each in part]
        return rng.pick(ids) if ids else None

    said = f"{rng.pick(_WORDS)}, #{rng.integer(1, rules.agents)}."[: rules.post_chars]
    type_ = rng.pick(get_args(ProposalType))
    carried = kinds(type_)
    count = 1 if type_ == "infrastructure" else rng.integer(0, MOST_TERMS if carried else 0)
    return {
        **dict.fromkeys(("content", "reasoning"), said),
        "title": said[: min(20, rules.title_chars)],
        "description": said[: rules.description_chars],
        "display_name": said[: min(12, rules.name_chars)],
        "work_type": rng.pick(get_args(WorkType)),
        "hours": min(rng.pick((1, 2, 3, rules.hours_per_day)), rules.hours_per_day),
        "vote": rng.pick(("yes", "yes", "no", "abstain")),
        "proposal_id": one_of(world.proposals, you.proposals),
        "project_id": one_of(world.projects),
        "parent_message_id": one_of(request.world.posts),
        "recipient_agent_id": rng.integer(0, rules.agents),
        "resource_type": rng.pick(RESOURCES),
        "amount": _amount(rng),
        "proposal_type": type_,
        "terms": [_term(request, rng.pick(carried), rng) for _ in range(count)],
    }


def _term(request: Act, kind: str, rng: Stream) -> dict[str, Any]:
    """Return a random term that can be carried out; voting rules stay low enough for proposals to pass."""
    rules, laws = request.rules, [law.id for law in request.world.laws]
    named = [rng.integer(1, rules.agents + (rng.random() < ODD)) for _ in range(rng.integer(1, min(3, rules.agents)))]
    paid = {"resource": rng.pick(RESOURCES), "amount": _amount(rng)}
    fields: dict[str, dict[str, Any]] = {
        "tax": {"resource": rng.pick((*RESOURCES, "all")), "percent": rng.integer(1, 100)},
        "dividend": {**paid, "to": rng.pick(("all", "dormant"))},
        "allocation": {**paid, "agents": named},
        "work_minimum": {"hours": rng.integer(1, rules.hours_per_day)},
        "repeal": {"law": rng.pick(laws) if laws else 1},
        "voting_rule": {"threshold": rng.integer(50, 60), "quorum": rng.integer(0, min(2, rules.agents))},
        "build": {"what": rng.pick(("farm", "generator"))},
    }
    return {"kind": kind, **fields[kind]}


# -- all bots


__all__ = ["BOTS"]

BOTS: Mapping[str, Bot] = {
    "random": random,
    "idle": interviewed(idle),
    "farmer": interviewed(farmer),
    "citizen": interviewed(citizen),
    "selfish": interviewed(selfish),
    "conditional": interviewed(conditional),
    "fair": interviewed(fair),
    **{str(name): interviewed(character) for name, character in CHARACTERS.items()},
}
