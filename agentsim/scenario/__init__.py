"""From a TOML file to a `Scenario` that can be played, or to one clear error.

Playing it belongs to `runner`; the game defines what its own table means.
"""

from agentsim.scenario.load import load
from agentsim.scenario.plan import PlayerPlan
from agentsim.scenario.player_tables import ModelName, ModelSettings
from agentsim.scenario.scenario import Scenario
from agentsim.scenario.schema import Limits, json_schema

__all__ = ["Limits", "ModelName", "ModelSettings", "PlayerPlan", "Scenario", "json_schema", "load"]
