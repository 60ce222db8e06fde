"""Memory: what a player has heard, as its prompts tell it, and the summaries that take the place of a round."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from agentsim.engine.event import LogEntry, PlayerId
from agentsim.engine.table import Table
from agentsim.engine.wording import Template, cut, filled
from agentsim.games.agent_island.state import Island
from agentsim.games.agent_island.view import Line, SpeechRequest, Told, View

if TYPE_CHECKING:
    from agentsim.games.agent_island.round import RoundContext


class Summarized(
    Told, kind="summary", heading="Player {player}'s memory of round {round}", words="text", private=("player",)
):
    forgets: ClassVar[bool] = True
    said: ClassVar[Template] = "note"
    player: str
    round: int
    text: str


class Transcript:
    """What one player has heard, line by line; its own summary of a round stands in for all of it but the count."""

    def __init__(self, player: PlayerId) -> None:
        self.lines: list[Line] = []

    def hear(self, entry: LogEntry) -> None:
        """One more event; what the state says of it is not said here as well."""
        event = entry.event
        assert isinstance(event, Told), f"{event.kind} is no event of this game"
        if not event.in_prompt or (event.forgets and not event.content):
            return
        if event.forgets:
            self.lines = [line for line in self.lines if line.round != entry.round or line.kind == "tally"]
        spoken = (entry.by or "", filled(event.said, event)) if event.words is not None else ("", event.kind)
        self.lines.append(Line(entry.round, *spoken, event.content))


def view(table: Table, island: Island, player: PlayerId, rules: str) -> View:
    """What `player` may know now."""
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
    """What will you remember of this round?"""

    about: ClassVar[str] = "your note"

    def question(self) -> str:
        return (
            f"Round {self.view.round} is over. Write down what you want to remember of it: from now on your note "
            "takes the place of all you heard in this round but the votes. No other player sees it."
        )


async def phase_summaries(context: RoundContext) -> None:
    """Each player who remembers by summaries, the jury too, writes a private one of the round so far, all at once."""
    limit = context.config.summary_chars
    requests = [
        context.question(Summarize, player, limit=limit)
        for player in context.players
        if context.config.remembers(player) == "summary"
    ]
    for request, note in zip(requests, await context.history.ask_all(requests), strict=True):
        summarized = Summarized(request.player, context.round_index, cut(note.text, limit))
        context.tell(summarized, to=(request.player,), by=request.player)
