"""Society: agents talk, propose, vote, work and give, and fall dormant if they lack food or energy."""

from agentsim.games.society.game import Society

GAME = Society()

__all__ = ["GAME"]
