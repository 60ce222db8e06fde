"""Pitches: each player in turn speaks to all."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from agentsim.engine.event import Everyone
from agentsim.engine.wording import cut
from agentsim.games.agent_island.asking import SpeechRequest
from agentsim.games.agent_island.view import Told

if TYPE_CHECKING:
    from agentsim.games.agent_island.round import RoundContext


class Pitched(Told, kind="pitch", heading="Player {player}'s pitch", words="text"):
    player: str
    position: int
    text: str


class Pitch(SpeechRequest):
    """Why should you go on (in the final: win)?"""

    about: ClassVar[str] = "your pitch"

    def question(self) -> str:
        if self.view.final:
            aim = "Make your pitch to the jury: why should you win the game?"
        else:
            aim = "Make your pitch: why should the others keep you in the game and eliminate somebody else?"
        return f"{aim} Everyone hears it."


async def phase_pitches(context: RoundContext) -> None:
    """Each active player in a drawn order makes a public pitch, which everyone hears before the next."""
    table, limit = context.history, context.settings.pitch_chars
    for position, player in enumerate(context.drawn("pitches", context.active_player_ids), start=1):
        speech = await table.ask(Pitch(player=player, view=context.view_of(player), limit=limit))
        context.tell(Pitched(player, position, cut(speech.text, limit)), to=Everyone, by=player)
