"""project_files: files of the project that a game comes from, in our words. What `[game]` means is the game's word.

A player's `player_type`, `memory_strategy` and `client_kwargs.max_output_tokens` are accepted names in any game.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentsim.errors import ScenarioError
from agentsim.scenario.scenario import Find, found
from agentsim.scenario.secret_scan import screen
from agentsim.scenario.validation_error import validated
from agentsim.scenario.wording import dotted, shown

__all__ = ["adopted", "beside"]

_TYPES = ("ai", "human")
_MEMORIES = {"none": "full", "summarization": "summary"}


def beside(document: Mapping[str, Any], further: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of two files as those of one; `ScenarioError` for what stands in both."""
    if twice := sorted(document.keys() & further.keys()):
        raise ScenarioError("stands in both files", key=dotted(twice[:1]), valid="either of them")
    return {**document, **further}


def adopted(document: Mapping[str, Any], game: str | None, find: Find | None) -> dict[str, Any]:
    """The document with another project's words translated; what stands in ours already goes before.

    What fits neither is left as it is, for the schema to say so.
    """
    out = dict(document)
    if isinstance(out.get("players"), list):
        out["players"] = [_player(table, index) for index, table in enumerate(out["players"])]
    if not isinstance(out.get("game"), dict):
        return out
    if game is None:
        from agentsim import games  # games are imported when one is used

        valid = ", ".join(games.names())
        raise ScenarioError("is a table, as in another project's files; give --game", key="game", valid=valid)
    project = found(game, find).config.project_table
    if project is None:
        raise ScenarioError(f"{game} knows no such table", key="game", valid="[game_config]")
    screen({"game": out["game"]})
    table = validated(project, out.pop("game"), at=("game",))
    players = out.get("players", [])
    seated = [player for player in players if isinstance(player, dict)] if isinstance(players, list) else []
    translated = table.translated(seated)
    config = out.get("game_config", {})
    if isinstance(config, dict):
        translated["game_config"] = {**translated["game_config"], **config}
    return {**translated, **out, "game": game, "game_config": translated["game_config"]}


def _player(table: Any, index: int) -> Any:
    """A `[[players]]` table whose `player_type` and `memory_strategy` are said as `model` and `memory`."""
    if not isinstance(table, dict):
        return table
    out = dict(table)
    kind, strategy = out.get("player_type"), out.get("memory_strategy")
    if kind == "human" and strategy not in {None, "none"}:
        raise ScenarioError(
            f"a human player keeps everything, found {shown(strategy)}",
            key=dotted(("players", index, "memory_strategy")),
            valid='"none"; or model = "human" and memory = "summary"',
        )
    if isinstance(kind, str) and kind in _TYPES:
        del out["player_type"]
        if kind == "human":
            out["model"] = "human"
    if isinstance(strategy, str) and strategy in _MEMORIES and "memory" not in out:
        out["memory"] = _MEMORIES[out.pop("memory_strategy")]
    kwargs = out.get("client_kwargs")
    if isinstance(kwargs, dict) and "max_output_tokens" in kwargs and "max_tokens" not in kwargs:
        out["client_kwargs"] = {("max_tokens" if key == "max_output_tokens" else key): kwargs[key] for key in kwargs}
    return out
