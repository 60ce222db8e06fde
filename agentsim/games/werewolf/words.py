"""Words of Werewolf: the events, the requests, and what a player knows when it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar

from agentsim.engine import Choice, Decision, Event, Prompt, Request, Text
from agentsim.engine.event import AGAINST, FOR, InteractionRule
from agentsim.engine.wording import By, If, listed
from agentsim.games.werewolf.state import NOBODY, Role, Team

D = TypeVar("D", bound=Decision)
Claims: TypeAlias = dict[str, tuple[Role | None, str | None, bool]]
Part: TypeAlias = Literal["night", "day"]
_NATURE = If("werewolf", "a werewolf", "no werewolf")
_SAYS = If("pack", "{speaker} whispers", "{speaker} says")
_CLAIM = If("claim", (", claiming to be a {claim}", If("seen", (" who saw that {seen} is ", _NATURE))))
_DIED = By("at", {"night": "was killed in the night", "day": "is hanged"})
_ACCUSED = InteractionRule("speaker", "seen", "accused", AGAINST, when="werewolf")
_PROTECTED = InteractionRule("doctor", "target", "protected", FOR)
_VOTED = InteractionRule("votes", "votes", By("at", {"night": "voted to kill", "day": "voted to hang"}), AGAINST)


class Dealt(
    Event,
    label="role dealt",
    heading="{player} is a {role}",
    content=If("pack", "Werewolves: {pack:and}.", "In secret."),
    private=("player",),
    in_prompt=False,
):
    player: str
    role: Role
    pack: tuple[str, ...]


class Thought(Event, heading="{player} thinks", words="text", private=("player",)):
    player: str
    text: str


class Inspected(
    Event,
    label="inspection",
    heading="{seer} inspects {target}",
    content=("{target} is ", _NATURE, "."),
    private=("seer",),
):
    seer: str
    target: str
    werewolf: bool


class Protected(
    Event,
    label="protection",
    heading="{doctor} protects {target}",
    content="In secret.",
    interactions=(_PROTECTED,),
    private=("doctor",),
):
    doctor: str
    target: str


class Voted(
    Event,
    label="vote",
    heading="The votes of the {at}",
    content="{ballots}.",
    interactions=(_VOTED,),
    private=("pack",),
):
    at: Part
    votes: dict[str, str]

    @property
    def pack(self) -> tuple[str, ...] | None:
        """The werewolves, who alone hear the votes of the night, or None by day."""
        return tuple(self.votes) if self.at == "night" else None

    @property
    def ballots(self) -> tuple[str, ...]:
        return tuple(f"{voter} for {target}" for voter, target in self.votes.items())


class Died(
    Event,
    label="death",
    heading=(If("victim", "{victim} ", "No player "), _DIED),
    content=If("role", "Role: {role}.", "No role is shown."),
    eliminates=("victim",),
):
    at: Part
    victim: str | None
    role: Role | None


class Said(
    Event,
    label="speech",
    heading=(_SAYS, If("text", "", " nothing"), _CLAIM),
    words="text",
    interactions=(_ACCUSED,),
    private=("pack",),
    random_order=("speaker",),
):
    speaker: str
    text: str
    pack: tuple[str, ...] | None
    claim: Role | None = None
    seen: str | None = None
    werewolf: bool = False


class Unmasked(
    Event, label="roles revealed", heading=If("winners", "The {winners} won", "No team won"), content="Roles: {roles}."
):
    winners: Team | None
    roles: dict[str, Role]


class WerewolfRequest(Request[D]):
    """A request with what its player knows. `limit` is the most characters of each text of the answer.

    `rules` are the rules in words. `pack` has the werewolves if the player is one, `found` the findings if it is the
    seer.
    """

    unshown: ClassVar[Mapping[str, str]] = dict.fromkeys(("claims", "found"), "told in the record; bots read no words")
    labels: ClassVar[Mapping[str, str]] = {
        "text": "your words",
        "target": "the player you choose",
        "claim": "what you claim to be",
        "thought": "your thought (private)",
    }
    asks: ClassVar[str]

    rules: tuple[str, ...]
    when: str
    role: Role
    pack: tuple[str, ...]
    living: tuple[str, ...]
    dead: tuple[str, ...]
    heard: tuple[str, ...]
    found: tuple[Inspected, ...]
    claims: tuple[Said, ...]
    limit: int

    def prompt(self) -> Prompt:
        rules = (*self.rules, f"You are player {self.player}.")
        question = f"{self.question()} {self.answer_line}"
        now = f"{self.when}. Alive: {listed(self.living)}. Dead: {listed(self.dead) or NOBODY}. You are a {self.role}."
        fellows = f" The werewolves are {listed(self.pack)}." if len(self.pack) > 1 else " You are the only werewolf."
        state = f"{now}{fellows if self.pack else ''}"
        return Prompt(rules, ("The record:", *self.heard), (state,), (question,))

    def question(self) -> str:
        """Return what is asked, without the form of the answer."""
        return self.asks


class Named(Decision):
    thought: Annotated[str, lambda asked: Text(asked.limit, "why; secret")]
    target: Annotated[str, lambda asked: Choice((*asked.targets, NOBODY), if_null=NOBODY)]


class Naming(WerewolfRequest[Named]):
    targets: tuple[str, ...]


class Hunt(Naming):
    asks = "Whom do you want to kill tonight?"

    def question(self) -> str:
        alone = len({*self.pack} & {*self.living}) == 1
        return self.asks if alone else f"You vote with the other werewolves. {self.asks}"


class Inspect(Naming):
    asks = "Which player do you inspect tonight?"


class Protect(Naming):
    asks = "Whom do you protect tonight?"


class Vote(Naming):
    asks = "You vote with all living players. Whom do you want to hang?"


class Remark(Decision):
    text: Annotated[str, lambda asked: Text(asked.limit, "your words")]


class Whisper(WerewolfRequest[Remark]):
    prose = "text"
    asks = "What do you say to the other werewolves? Only they hear you. An empty text says nothing."

    def in_private(self, said: Mapping[str, Any]) -> bool:
        return True


class Speech(Decision):
    thought: Annotated[str, lambda asked: Text(asked.limit, "why; secret")]
    text: Annotated[str, lambda asked: Text(asked.limit, "your words")]
    claim: Annotated[str, lambda asked: Choice(tuple(asked.claimable), if_null="none")]


class Speak(WerewolfRequest[Speech]):
    """A request for words to all and a claim. `roles` are those that the game has."""

    asks = "What do you say to all players (an empty text says nothing), and which role do you claim, if any?"

    roles: tuple[Role, ...]

    def question(self) -> str:
        return (
            f"{self.asks} A claim that names a player is a seer's finding about that player."
            if "seer" in self.roles
            else self.asks
        )

    @property
    def claimable(self) -> Claims:
        """The claims by name: (role, the player seen, whether that player is a werewolf)."""
        others = [player for player in self.living if player != self.player] if "seer" in self.roles else []
        seen = [(player, bad) for bad in (True, False) for player in others]
        said: Claims = {f"seer: {who} is {'a' if bad else 'no'} werewolf": ("seer", who, bad) for who, bad in seen}
        return {"none": (None, None, False), **{role: (role, None, False) for role in self.roles}, **said}
