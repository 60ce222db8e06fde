"""Sidebars: players pair up and talk in private."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from agentsim.engine import Choice
from agentsim.engine.decision import Decision
from agentsim.engine.event import AGAINST, FOR, Everyone, InteractionRule
from agentsim.engine.wording import If, Template, cut
from agentsim.games.agent_island.view import IslandEvent, IslandRequest, OrderDrawn, SpeechRequest

if TYPE_CHECKING:
    from agentsim.games.agent_island.game import RoundContext

NOBODY = "nobody"


class ExchangeBegan(
    IslandEvent,
    label="private talks",
    heading="Private talks, exchange {exchange} of {exchanges}",
    content="Exchange {exchange} of {exchanges} begins. A talk has {messages:message}.",
):
    exchange: int
    exchanges: int
    messages: int


class Approached(
    IslandEvent,
    kind="approach",
    label="request for a private talk",
    heading="Player {player} seeks a private word",
    content=If(
        "partner",
        ("{player} approaches {partner}, who ", If("accepted", "accepts", "declines"), "."),
        "{player} approaches nobody.",
    ),
    private=("pair",),
    interactions=(
        InteractionRule("player", "partner", "approached"),
        InteractionRule("partner", "player", "agreed to talk", FOR, when="accepted"),
        InteractionRule("partner", "player", "declined to talk", AGAINST, when="declined"),
    ),
):
    player: str
    partner: str | None
    accepted: bool

    @property
    def pair(self) -> tuple[str, ...]:
        """The player who approaches, and the partner if there is one."""
        return (self.player, *([self.partner] if self.partner else []))

    @property
    def declined(self) -> bool:
        """True if the partner declined to talk."""
        return self.partner is not None and not self.accepted


class TakenAside(
    IslandEvent,
    heading="Player {player} takes {partner} aside",
    content="{player} takes {partner} aside for a private talk.",
    interactions=(InteractionRule("player", "partner", "approached"),),
    private=("player", "partner"),
):
    """An approach that cannot be declined."""

    player: str
    partner: str


class Paired(IslandEvent, label="pairing", heading="{pair:and} step aside", content="{pair:and} talk in private."):
    pair: tuple[str, str]


class Whispered(
    IslandEvent,
    kind="whisper",
    label="private message",
    heading="{speaker} to {listener}, in private",
    words="text",
    interactions=(InteractionRule("speaker", "listener", "whispered", when="text"),),
    private=("speaker", "listener"),
):
    record_label: ClassVar[Template] = "privately to {listener}"
    speaker: str
    listener: str
    text: str


class ApproachMade(Decision):
    """The partner for a private talk, or `nobody`."""

    partner: Annotated[str, lambda asked: Choice(asked.partners, if_null=NOBODY)]


class Answer(Decision):
    """The answer to an approach."""

    accept: bool


class Approach(IslandRequest[ApproachMade]):
    """A request for a partner."""

    fallback_always_legal: ClassVar[bool] = True

    free: tuple[str, ...]
    may_decline: bool = True
    """False if partners may not decline; then the player who approaches must choose one too."""

    @property
    def partners(self) -> tuple[str, ...]:
        return (*self.free, NOBODY) if self.may_decline else self.free

    def question(self) -> str:
        return f"Whom do you invite to a private talk?{' That player may decline.' * self.may_decline}"


class AnswerApproach(IslandRequest[Answer]):
    """A request to accept or decline an approach."""

    particulars: ClassVar[tuple[str, ...]] = ("by",)
    leak_exempt: ClassVar[Mapping[str, str]] = {"by": "who asks is read here first"}

    by: str

    def question(self) -> str:
        return f"{self.by} invites you to a private talk. Do you accept?"


class Whisper(SpeechRequest):
    """A request for a private message to the partner."""

    about: ClassVar[str] = "your message"

    partner: str
    turn: int
    turns: int

    def in_private(self, said: Mapping[str, Any]) -> bool:
        return True

    def question(self) -> str:
        return (
            f"You are talking privately with {self.partner}: no other player hears you. This is message {self.turn} of "
            f"{self.turns} between you."
        )


async def phase_sidebars(context: RoundContext) -> None:
    """Play all exchanges of the round: in each the players choose partners, in a drawn order, and talk."""
    settings = context.settings
    for exchange in range(1, settings.exchanges + 1):
        if settings.exchanges > 1:
            began = ExchangeBegan(exchange, settings.exchanges, settings.messages_per_exchange)
            context.tell(began, to=Everyone)
        where = f"{context.round_index}" if exchange == 1 else f"{context.round_index}/{exchange}"
        order = context.draw_order("sidebars", context.active_player_ids, where)
        await (_in_turn(context, order, where) if settings.partners == "any" else _concurrently(context, order))
        context.tell(OrderDrawn("private talks", tuple(order)), to=Everyone)


async def _concurrently(context: RoundContext, order: Sequence[str]) -> None:
    """Let each player who is still free approach another free one; then all pairs talk concurrently."""
    pairs: list[tuple[str, str]] = []
    for player in order:
        taken = {member for pair in pairs for member in pair}
        free = tuple(other for other in context.active_player_ids if other not in taken and other != player)
        if player not in taken and free:
            partner = await _approach(context, player, free)
            if partner is not None:
                pairs.append((player, partner))
    await context.table.together([_exchange(context, *pair) for pair in pairs])


async def _in_turn(context: RoundContext, order: Sequence[str], where: str) -> None:
    """Let every player in turn open one talk with any other. Each talk ends before the next is opened."""
    for player in order:
        others = [other for other in context.active_player_ids if other != player]
        drawn = context.table.chance.stream(f"partners/{where}/{player}").shuffled(others)
        partner = await _approach(context, player, tuple(drawn)) if drawn else None
        if partner is not None:
            await _exchange(context, player, partner)


async def _approach(context: RoundContext, player: str, free: tuple[str, ...]) -> str | None:
    """Return the partner who agrees to talk, or None. Only the players concerned hear of an approach that fails."""
    table, settings = context.table, context.settings
    made = await table.ask(context.question(Approach, player, free=free, may_decline=settings.may_decline))
    partner = made.partner
    if partner == NOBODY:
        context.tell(Approached(player, None, False), to=(player,), by=player)
        return None
    if settings.may_decline:
        answer = await table.ask(context.question(AnswerApproach, partner, by=player))
        context.tell(Approached(player, partner, answer.accept), to=(player, partner), by=player)
        if not answer.accept:
            return None
    else:
        context.tell(TakenAside(player, partner), to=(player, partner), by=player)
    if not settings.secret_pairs:
        context.tell(Paired((player, partner)), to=Everyone)
    return partner


async def _exchange(context: RoundContext, first: str, second: str) -> None:
    """Let two players speak in turn, heard only by each other."""
    table, limit = context.table, context.settings.message_chars
    turns = context.settings.messages_per_exchange
    for turn in range(1, turns + 1):
        speaker, listener = (first, second) if turn % 2 else (second, first)
        whisper = context.question(Whisper, speaker, partner=listener, turn=turn, turns=turns, limit=limit)
        speech = await table.ask(whisper)
        context.tell(Whispered(speaker, listener, cut(speech.text, limit)), to=(first, second), by=speaker)
