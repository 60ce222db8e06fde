"""Society: agents who talk, propose, vote, work and give, and fall asleep where food and energy run out."""

from agentsim.games.society.game import Society

GAME = Society()

__all__ = ["GAME"]
