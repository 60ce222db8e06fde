"""Scenario: a TOML file, as an author writes it, made into something that can be played, or into one clear error.

Playing it is the runner's; what a game's own table means is the game's.
"""

from agentsim.scenario.json_schema import json_schema
from agentsim.scenario.load import load
from agentsim.scenario.model_name import ModelName
from agentsim.scenario.plan import PlayerPlan
from agentsim.scenario.players import ModelSettings
from agentsim.scenario.scenario import Scenario
from agentsim.scenario.schema import Limits

__all__ = ["Limits", "ModelName", "ModelSettings", "PlayerPlan", "Scenario", "json_schema", "load"]
