"""Werewolf: a village hangs by day, its werewolves kill by night, and only they know who they are."""

from agentsim.games.werewolf.game import Werewolf

GAME = Werewolf()
