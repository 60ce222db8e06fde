"""View: what one player may know, its form in a prompt, the base of all requests, announcements, and summaries.

A view is built from the events that the player heard and from public results, never by removing parts of the state.
Each request is in the module of its phase.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

from agentsim.engine import Text
from agentsim.engine.codec import computed_once
from agentsim.engine.decision import Decision
from agentsim.engine.event import Event, LoggedEvent, PlayerId
from agentsim.engine.request import Request
from agentsim.engine.steering import Announced
from agentsim.engine.table import Table
from agentsim.engine.wording import If, Prompt, Template, cut, filled, in_quotes, joined, listed
from agentsim.games.agent_island.state import Island, Tally
from agentsim.lazy import dataclass

if TYPE_CHECKING:
    from agentsim.games.agent_island.game import RoundContext


class IslandEvent(Event, base=True):
    record_label: ClassVar[Template] = "{kind}"
    """The name of the event's words for those who hear them: `pitch`, `quip about B`."""

    @computed_once
    def label_in_record(self) -> str:
        return filled(self.record_label, self)


@dataclass(frozen=True)
class Line:
    """One thing heard: the words of a player with their kind, or a fact, which has no sender.

    Prompts do not show the text of a count of votes, since `tallies` has the result.
    """

    round: int
    sender: str
    kind: str
    text: str

    def shown(self, reader: str) -> str:
        """Return the line as this reader's prompt shows it: `R1 A pitch: "Keep me."`, or a fact without quotes.

        The reader's own words are marked, to tell them from others' claims about what it said.
        """
        if not self.sender:
            return f"R{self.round} {self.text}"
        head = f"R{self.round} {self.sender}{' (you)' * (self.sender == reader)} {self.kind}"
        return joined(f"{head}: ", in_quotes(self.text)) if self.text else f"{head}, without a word"


@dataclass(frozen=True)
class View:
    """The knowledge of a player when it is asked.

    `transcript` is all that it heard, oldest first, except that its summary of a round replaces what it heard in that
    round. `tallies` are the public results, taken from the state. `rules` are the rules in words. `jury` is true if the
    last round is a final.
    """

    players: tuple[str, ...]
    round: int
    rounds: int
    active: tuple[str, ...]
    tallies: tuple[Tally, ...]
    transcript: tuple[Line, ...]
    jury: bool = True
    rules: str = ""

    @property
    def final(self) -> bool:
        """True if the jury names the winner in the present round."""
        return self.jury and self.round == self.rounds

    @property
    def eliminated(self) -> tuple[str, ...]:
        """The players who have left the game, in seat order."""
        return tuple(player for player in self.players if player not in self.active)

    def pitches(self) -> dict[str, int]:
        """Return the number of characters that each player was heard to say in pitches."""
        spoken = dict.fromkeys(self.players, 0)
        for line in self.transcript:
            if line.kind == "pitch":
                spoken[line.sender] += len(line.text)
        return spoken

    def record(self, player: str) -> Iterator[str]:
        """Yield the lines of the record as this player reads them."""
        results = {tally.round: tally for tally in self.tallies}
        for line in self.transcript:
            yield results[line.round].in_words if line.kind == "tally" else line.shown(player)

    def state(self, player: str) -> Iterator[str]:
        """Yield the sentences on the present state as this player reads them."""
        out = "on the jury" if self.jury else "out of the game"
        gone = f" {out.capitalize()}: {listed(self.eliminated)}." if self.eliminated else ""
        yield f"Now: round {self.round} of {self.rounds}{', the final' * self.final}."
        yield f"Still in the game: {listed(self.active)}.{gone}"
        if player in self.eliminated:
            yield f"You are {out}."


D = TypeVar("D", bound=Decision)


class Speech(Decision):
    """A text, empty if the player says nothing."""

    text: Annotated[str, lambda asked: Text(asked.limit, asked.about, empty=False)]


class IslandRequest(Request[D]):
    """A request to a player with this view: the rules, the record, the state, and the question."""

    unshown: ClassVar[Mapping[str, str]] = {"view.jury": "the rules say whether a jury votes"}
    labels: ClassVar[Mapping[str, str]] = {
        "text": "your words",
        "partner": "invite",
        "accept": "accept the invitation",
        "vote": "your vote",
        "explanation": "your reason",
    }

    view: View

    def question(self) -> str:
        """Return the last paragraph of the prompt, without the form of the answer."""
        raise NotImplementedError

    def prompt(self) -> Prompt:
        view, player = self.view, self.player
        return Prompt(
            rules=(view.rules, f"You are player {player}."),
            history=("The record:", *view.record(player)),
            state=("\n".join(view.state(player)),),
            question=(f"{self.question()} {self.answer_line}",),
        )


class SpeechRequest(IslandRequest[Speech]):
    """A request for a text, answered in JSON or in plain prose."""

    prose: ClassVar[str | None] = "text"
    about: ClassVar[str]
    limit: int


class GameBegan(
    IslandEvent, heading="The game begins", content="{players:player}, {rounds:round}: {players:and}.", in_prompt=False
):
    players: tuple[str, ...]
    rounds: int


class RoundBegan(
    IslandEvent,
    heading=If("final", "Final round", "Round {round} begins"),
    content=If(
        "final", "The finalists are {active:and}. The jury is {eliminated:and}.", "Still in the game: {active:and}."
    ),
    in_prompt=False,
):
    round: int
    rounds: int
    active: tuple[str, ...]
    eliminated: tuple[str, ...]
    phases: tuple[str, ...]

    @property
    def final(self) -> bool:
        """True if the jury names the winner in this round."""
        return self.round == self.rounds


class LastRoundBegan(RoundBegan):
    """The last round of a game without a final."""

    @property
    def final(self) -> bool:
        return False


class OrderDrawn(
    IslandEvent, content="The order drawn for the {phase} was {order}.", random_order=("order",), in_prompt=False
):
    phase: str
    order: tuple[str, ...]


class Summarized(
    IslandEvent,
    kind="summary",
    label="memory summary",
    heading="Player {player}'s memory of round {round}",
    words="text",
    private=("player",),
):
    forgets: ClassVar[bool] = True
    record_label: ClassVar[Template] = "note"
    player: str
    round: int
    text: str


class Transcript:
    """The lines that one player has heard.

    Its summary of a round replaces all lines of the round except the count of votes.
    """

    def __init__(self, player: PlayerId) -> None:
        self.lines: list[Line] = []

    def hear(self, entry: LoggedEvent) -> None:
        """Append an event, unless the state in the prompt already shows it."""
        event = entry.event
        if isinstance(event, Announced):
            self.lines.append(Line(entry.round, "", event.kind, event.content))
            return
        assert isinstance(event, IslandEvent), f"{event.kind} is no event of this game"
        if not event.in_prompt or (event.forgets and not event.content):
            return
        if event.forgets:
            self.lines = [line for line in self.lines if line.round != entry.round or line.kind == "tally"]
        spoken = (entry.by or "", event.label_in_record) if event.words is not None else ("", event.kind)
        self.lines.append(Line(entry.round, *spoken, event.content))


def view(table: Table, island: Island, player: PlayerId, rules: str) -> View:
    """Return what `player` may know now."""
    return View(
        players=island.players,
        round=island.round,
        rounds=island.rounds,
        active=tuple(island.active),
        tallies=tuple(island.tallies),
        transcript=tuple(table.memory(player, Transcript).lines),
        jury=island.jury,
        rules=rules,
    )


class Summarize(SpeechRequest, kind="summary"):
    """A request for a private note on the round."""

    about: ClassVar[str] = "your note"

    over: bool
    """True if the round is over; if not, the note is of the round so far."""

    def in_private(self, said: Mapping[str, Any]) -> bool:
        return True

    def question(self) -> str:
        written = (
            f"Round {self.view.round} is over. Write down what you want to remember of it"
            if self.over
            else f"Round {self.view.round} is not over. Write down what you want to remember of it so far"
        )
        return (
            f"{written}: from now on your note replaces everything you {'' if self.over else 'have '}heard in this "
            "round except the votes. No other player sees it."
        )


async def phase_summaries(context: RoundContext) -> None:
    """Ask the players who remember by summaries for a private one of the round so far, all at once.

    Jurors are asked too.
    """
    limit, over = context.config.summary_chars, not context.state.phases_left
    requests = [
        context.question(Summarize, player, limit=limit, over=over)
        for player in context.players
        if context.config.remembers(player) == "summary"
    ]
    for request, note in zip(requests, await context.table.ask_all(requests), strict=True):
        summarized = Summarized(request.player, context.round_index, cut(note.text, limit))
        context.tell(summarized, to=(request.player,), by=request.player)
