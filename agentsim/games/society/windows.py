"""Windows: the keys of `[game_config]` that say how much of the society a prompt shows, and of whose posts."""

from __future__ import annotations

from typing import Annotated, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agentsim.games.society.forum import Feed, Seen
from agentsim.games.society.topology import Topology

Count: TypeAlias = Annotated[int, Field(ge=1, le=1_000)]
Chars: TypeAlias = Annotated[int, Field(ge=1, le=20_000)]


class Chapter(BaseModel):
    """Base of the chapters of the table: its keys stand in the order of the chapters."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class Feeds(Chapter):
    """How posts are chosen for each agent."""

    feed: Feed = Field(
        default="all",
        description="What posts a prompt shows: the newest of all or of neighbours, or those with most replies",
    )
    feed_tokens: Annotated[int, Field(ge=0, le=1_000_000)] = Field(
        default=2_000,
        description="Of all posts in a prompt, at most a quarter of prompt_tokens; 0 for no limit of their own",
    )


class Windows(Feeds):
    """How much is shown, and who is whose neighbour."""

    topology: Topology = Field(
        default="complete",
        description="Who is whose neighbour: a construction, or a file with two numbers on a line",
    )
    degree: Annotated[int, Field(ge=2, le=1_000)] = Field(
        default=4, description="Neighbours of an agent; of scale_free on average"
    )
    rewiring: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.1, description="Of small_world: the probability that a tie of the ring has another end"
    )
    shown_posts: Count = Field(default=20, description="Posts in a prompt")
    shown_proposals: Count = Field(
        default=20, description="Open proposals that close first, in a prompt, besides one's own"
    )
    shown_laws: Count = Field(default=20, description="Newest laws in a prompt, besides one's own")
    shown_events: Count = Field(
        default=20, description="Newest public events in a prompt; of an agent's own past, twice as many"
    )
    shown_chars: Chars = Field(default=1_000, description="Of a post or description in prompts; the rest is cut")

    @model_validator(mode="after")
    def _feed_has_a_network(self) -> Self:
        if self.feed == "all" and self.topology != "complete":
            raise ValueError("topology decides whose posts are shown, so feed must be neighbours or ranked with it")
        if self.feed == "neighbours" and self.topology == "complete":
            raise ValueError("feed = neighbours needs a topology other than complete")
        if self.degree % 2:
            raise ValueError(f"degree must be even, found {self.degree}")
        return self

    def seen(self, prompt_tokens: int) -> Seen:
        """What an agent is shown of the forum, in prompts of at most so many tokens (0: any)."""
        tokens = min(self.feed_tokens, prompt_tokens // 4) if prompt_tokens else self.feed_tokens
        return Seen(self.feed, self.shown_posts, tokens, self.shown_chars)
