"""Opening: how the game, a round and a phase are announced."""

from __future__ import annotations

from agentsim.engine.wording import If
from agentsim.games.agent_island.view import Told


class GameBegan(
    Told, heading="The game begins", content="{players:player}, {rounds} rounds: {players:and}.", in_prompt=False
):
    players: tuple[str, ...]
    rounds: int


class RoundBegan(
    Told,
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
        """Whether the jury names the winner in this round."""
        return self.round == self.rounds


class LastRoundBegan(RoundBegan):
    """The last round of a game without a final."""

    @property
    def final(self) -> bool:
        return False


class OrderDrawn(Told, content="The order drawn for the {phase} is {order}.", drawn=("order",), in_prompt=False):
    phase: str
    order: tuple[str, ...]
