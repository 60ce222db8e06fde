"""Events of private talks: who took whom aside, and what was said. All others stand in `events`."""

from __future__ import annotations

from collections.abc import Iterator

from agentsim.engine.event import AGAINST, FOR, Deed, Event, Interaction, Past
from agentsim.engine.template import If


class ExchangeBegan(
    Event,
    heading="Private talks, exchange {exchange} of {exchanges}",
    content="Exchange {exchange} of {exchanges} begins. A talk has {messages:message}.",
):
    exchange: int
    exchanges: int
    messages: int


class Approached(
    Event,
    kind="approach",
    heading="Player {player} seeks a private word",
    content=If(
        "partner",
        ("{player} approaches {partner}, who ", If("accepted", "accepts", "declines"), "."),
        "{player} approaches nobody.",
    ),
):
    player: str
    partner: str | None
    accepted: bool

    def interactions(self, past: Past) -> Iterator[Interaction]:
        if self.partner is not None:
            yield Interaction(self.player, self.partner, "approached")
            answer = "agreed to talk" if self.accepted else "declined to talk"
            yield Interaction(self.partner, self.player, answer, FOR if self.accepted else AGAINST)


class TakenAside(
    Event,
    heading="Player {player} takes {partner} aside",
    content="{player} takes {partner} aside for a private talk.",
    deeds=(Deed("player", "partner", "approached"),),
):
    """An approach that cannot be declined."""

    player: str
    partner: str


class Paired(Event, heading="{pair:and} step aside", content="{pair:and} talk in private."):
    pair: tuple[str, str]


class Whispered(
    Event,
    kind="whisper",
    heading="{speaker} to {listener}, in private",
    words="text",
    deeds=(Deed("speaker", "listener", "whispered", when="text"),),
):
    speaker: str
    listener: str
    text: str
