"""Rule sets: how a game's rules change while its old journals can still be played.

Each changed rule is a setting of the game's config. `Since` names the rule set that brought the setting, and the value
that plays as the rule sets before it did. A record of a run leaves a setting out where it has that value: so a journal
from before the setting is one that has it so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentsim.engine.game import Game, GameConfig


@dataclass(frozen=True, slots=True)
class Since:
    """Marks a field of a `GameConfig` that rule set `version` brought: `Annotated[bool, Since(2, before=False)]`.

    The field's default is the newest rule. `before` is the JSON value that plays as earlier rule sets do. Where the
    setting is `older` than that, and the rule set brought its default alone, every record holds it.
    """

    version: int
    before: Any
    older: bool = False


def versions(game: Game) -> range:
    """The rule sets that can be played, the newest last."""
    marks = game.config.marked(Since).values()
    return range(min((mark.version - 1 for mark in marks), default=game.rules_version), game.rules_version + 1)


def settings_of(config: type[GameConfig], version: int) -> dict[str, Any]:
    """The settings that a rule set has otherwise than the newest."""
    return {name: mark.before for name, mark in config.marked(Since).items() if mark.version > version}


def version_of(game: Game, config: GameConfig) -> int:
    """The rule set of a config: the earliest that has all its rules."""
    changed = config.model_dump(mode="json")
    since = (mark.version for name, mark in game.config.marked(Since).items() if changed[name] != mark.before)
    return max(since, default=versions(game)[0])


def earlier_rules(game: Game, config: GameConfig) -> dict[str, Any]:
    """The settings of a config that are those of earlier rule sets, though others of its rules are not.

    What the newest rules leave as it was, unless a config says otherwise, is no earlier rule.
    """
    values, version, marks = config.model_dump(mode="json"), version_of(game, config), game.config.marked(Since)
    newest = game.config.model_construct().model_dump(mode="json", include=set(marks), warnings=False)
    before = {name: mark.before for name, mark in marks.items() if mark.version <= version}
    return {name: value for name, value in before.items() if values[name] == value != newest[name]}


def recorded(config: GameConfig) -> dict[str, Any]:
    """A config as JSON values, for a record."""
    marks = config.marked(Since)
    values = config.model_dump(mode="json", by_alias=True)
    unsaid = {name for name, mark in marks.items() if values[name] == mark.before and not mark.older}
    return {name: value for name, value in values.items() if name not in unsaid}


def completed(config: type[GameConfig], record: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a record: `recorded` made it, or a version of the game that did not know them all."""
    return {**settings_of(config, 0), **record}
