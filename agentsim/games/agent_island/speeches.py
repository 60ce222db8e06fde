"""Speeches: pitches, one after the other, and quips, one public line about every other player."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from agentsim.engine import PerKey, Text
from agentsim.engine.decision import Decision
from agentsim.engine.event import NAMED, Everyone, InteractionRule
from agentsim.engine.wording import Template, cut, listed
from agentsim.games.agent_island.view import IslandEvent, IslandRequest, SpeechRequest

if TYPE_CHECKING:
    from agentsim.games.agent_island.game import RoundContext


class Pitched(IslandEvent, kind="pitch", heading="Player {player}'s pitch", words="text", random_order=("player",)):
    player: str
    position: int
    text: str


class Pitch(SpeechRequest):
    """A request for a public pitch: why the player should advance to the next round (in the final: win the game)."""

    about: ClassVar[str] = "your pitch"

    def question(self) -> str:
        aim = "advance to the next round" if self.view.round < self.view.rounds else "remain in the game"
        return f"Make your public pitch: why should you {'win the game' if self.view.final else aim}?"


async def phase_pitches(context: RoundContext) -> None:
    """Ask each active player in a drawn order for a public pitch, which all players hear before the next one.

    The pitches alone tell the order: a speaker does not know how many speak after it.
    """
    table, limit = context.table, context.settings.pitch_chars
    order = context.draw_order("pitches", context.active_player_ids)
    for position, player in enumerate(order, start=1):
        speech = await table.ask(context.question(Pitch, player, limit=limit))
        context.tell(Pitched(player, position, cut(speech.text, limit)), to=Everyone, by=player)


class Quipped(
    IslandEvent,
    kind="quip",
    heading="{player} about {about}",
    words="text",
    interactions=(InteractionRule("player", "about", NAMED, when="text"),),
    random_order=("player",),
):
    record_label: ClassVar[Template] = "quip about {about}"
    player: str
    about: str
    text: str


class QuipsMade(Decision):
    """One line about each other player, by id."""

    quips: Annotated[dict[str, str], lambda asked: PerKey(asked.about, Text(asked.limit, empty=False))]


class Quips(IslandRequest[QuipsMade]):
    """A request for one public line about each of the players `about`."""

    fallback_always_legal: ClassVar[bool] = True
    particulars: ClassVar[tuple[str, ...]] = ("about", "limit")

    about: tuple[str, ...]
    limit: int

    def question(self) -> str:
        return f"Say one public line about {'each of ' * (len(self.about) > 1)}{listed(self.about)}."


async def phase_quips(context: RoundContext) -> None:
    """Ask each speaker for one public line about every other player, all at once or one after the other.

    Unless only active players quip, there are lines about eliminated players too. A player who is alone is not asked.
    """
    table, settings, limit = context.table, context.settings, context.settings.quip_chars
    active = settings.quips_by == "active"
    players = tuple(context.active_player_ids if active else context.players)
    speakers = players if isinstance(settings.quips_by, str) else settings.quips_by
    order = context.draw_order("quips", [player for player in speakers if {*players} - {player}])
    for together in [[player] for player in order] if settings.quips_in_turn else [order]:
        others = {player: tuple(other for other in players if other != player) for player in together}
        requests = [context.question(Quips, player, about=others[player], limit=limit) for player in together]
        for request, quips in zip(requests, await table.ask_all(requests), strict=True):
            for about in request.about:
                line = cut(quips.quips.get(about, ""), limit)
                context.tell(Quipped(request.player, about, line), to=Everyone, by=request.player)
