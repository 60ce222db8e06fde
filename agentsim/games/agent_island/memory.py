"""Memory: what a player has heard, as its prompts tell it, and the summaries that take the place of a round."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from agentsim.engine.event import LogEntry, PlayerId
from agentsim.engine.prompt import NARRATOR
from agentsim.engine.table import Table
from agentsim.engine.wording import cut
from agentsim.games.agent_island.state import Island
from agentsim.games.agent_island.view import Line, SpeechRequest, Told, View

if TYPE_CHECKING:
    from agentsim.games.agent_island.round import RoundContext


class Summarized(
    Told, kind="summary", heading="Player {player}'s memory of round {round}", words="text", private=("player",)
):
    forgets: ClassVar[bool] = True
    player: str
    round: int
    text: str


class Transcript:
    """What one player has heard, line by line; its own summary of a round stands in for what it had heard of that."""

    def __init__(self, player: PlayerId) -> None:
        self.lines: list[Line] = []

    def hear(self, entry: LogEntry) -> None:
        """One more event; that a player says nothing is told by the narrator."""
        event = entry.event
        assert isinstance(event, Told), f"{event.kind} is no event of this game"
        if isinstance(event, Summarized):
            if event.text:
                while self.lines and self.lines[-1].round == entry.round:
                    self.lines.pop()
                self.lines.append(Line(event.round, f"memory of {event.player}", event.label, event.text))
            return
        sender, text = NARRATOR, event.line
        if event.words is not None and entry.by is not None:
            sender, text = (entry.by, text) if text else (NARRATOR, f"{entry.by} says nothing.")
        self.lines.append(Line(entry.round, sender, event.label, text, event.hearer))


def view(table: Table, island: Island, player: PlayerId, rules: str) -> View:
    """What `player` may know now."""
    return View(
        players=island.players,
        round=island.round,
        rounds=island.rounds,
        active=tuple(island.active),
        eliminated=tuple(island.eliminated),
        tallies=tuple(island.tallies),
        transcript=tuple(table.memory(player, Transcript).lines),
        jury=island.jury,
        rules=rules,
    )


class Summarize(SpeechRequest, kind="summary"):
    """What will you remember of this round?"""

    about: ClassVar[str] = "your note"

    def question(self) -> str:
        return (
            f"Round {self.view.round} is over. Write down what you want to remember of it: from now on your note "
            "takes the place of everything you heard in this round. Nobody else sees it."
        )


async def phase_summaries(context: RoundContext) -> None:
    """Each player who remembers by summaries, the jury too, writes a private one of the round so far, all at once."""
    limit = context.config.summary_chars
    requests = [
        Summarize(player=player, view=context.view_of(player), limit=limit)
        for player in context.players
        if context.config.remembers(player) == "summary"
    ]
    for request, note in zip(requests, await context.history.ask_all(requests), strict=True):
        summarized = Summarized(request.player, context.round_index, cut(note.text, limit))
        context.tell(summarized, to=(request.player,), by=request.player)
