"""Event: something happened. LogEntry: an event with its audience and its place in the log.

Not here: who may see what (the rules say so at every `tell`) and how an event looks on a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeAlias

from agentsim.engine.codec import adapter, values

if TYPE_CHECKING:
    from agentsim.engine.interaction import Interaction, Past

__all__ = ["Audience", "Event", "Everyone", "EveryoneType", "LogEntry", "Nobody", "PlayerId"]

PlayerId: TypeAlias = str
"""A player's id, or `@role` for staff."""


class EveryoneType:
    """The type of `Everyone`, the audience of public events."""

    def __repr__(self) -> str:
        return "Everyone"


Everyone: Final = EveryoneType()
Audience: TypeAlias = EveryoneType | tuple[PlayerId, ...]
"""Who hears an event: `Everyone`, or exactly these players; `Nobody` is for the log alone."""
Nobody: Final[tuple[PlayerId, ...]] = ()


@dataclass(frozen=True)
class Event:
    """Base of a game's events: frozen dataclasses named by a past participle.

    `kind` names the event in the history; `words` names the field that holds a player's own words, which
    the history keeps as the event's `content` and not in its `data`. All other fields are the `data`, in
    numbers and ids, so that the outcome can be recomputed from them.
    """

    kind: ClassVar[str]
    words: ClassVar[str | None] = None
    in_prompt: ClassVar[bool] = True
    """Whether the prompts of those who hear it tell it; what they do not, a person is shown as it happens."""

    @property
    def heading(self) -> str:
        """A short title for a reader."""
        return self.kind.replace("_", " ").capitalize()

    @property
    def content(self) -> str:
        """What happened, in prose; for events with `words`, exactly those words."""
        assert self.words is not None, f"{type(self).__name__} must say its content"
        return str(getattr(self, self.words))

    @property
    def turned_away(self) -> bool:
        """Whether the game itself turned away by this what a player decided: it was read, and came to nothing."""
        return False

    def interactions(self, past: Past) -> Iterable[Interaction]:
        """What players did towards each other by this, in order; `past` is what the caller knows of before.

        An interaction of a player with itself, or with a name that is no player, does not count.
        """
        return ()

    def data(self) -> dict[str, Any]:
        """Every field but the words, as JSON values."""
        out = values(self)
        if self.words is not None:
            del out[self.words]
        return out

    @classmethod
    def restore(cls, data: Mapping[str, Any], content: str) -> Event:
        """The event that `data()` and `content` came from; `ValueError` where they do not fit."""
        given = dict(data)
        if cls.words is not None:
            given[cls.words] = content
        unknown = set(given) - {field.name for field in fields(cls)}
        if unknown:
            raise ValueError(f"{cls.kind}: unknown fields {sorted(unknown)}")
        event: Event = adapter(cls).validate_python(given)
        return event


class LogEntry(NamedTuple):
    """An event as it stands in the log.

    `by` is the player whose latest decision led to it, `decision` that decision's index (from 1);
    both are None for the narrator's own events.
    """

    event: Event
    to: Audience
    round: int
    by: PlayerId | None = None
    decision: int | None = None

    def heard_by(self, player: PlayerId) -> bool:
        """Whether this player was in the audience."""
        return isinstance(self.to, EveryoneType) or player in self.to
