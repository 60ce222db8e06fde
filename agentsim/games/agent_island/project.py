"""The `[game]` table of the Agent Island project's files, and its translation into `game_config`.

Keys and their meaning are those of that project. `config` documents the settings of a round.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from agentsim.engine.game import ProjectTable
from agentsim.engine.wording import by_count, counted
from agentsim.errors import ScenarioError

Phase: TypeAlias = Literal["pitches", "votes", "elimination", "sidebars", "consolidate_memory", "opponent_quips"]
RoundType: TypeAlias = Literal["elimination", "final"]
Few: TypeAlias = Annotated[int, Field(ge=1, le=20)]

LONGEST = 20_000
"""The longest limit of a text, in characters. That project has no limits."""

_OURS = {"consolidate_memory": "summaries", "opponent_quips": "quips"}
_LIMITS = ("pitch_chars", "explanation_chars", "message_chars", "quip_chars", "summary_chars")


class Sidebars(ProjectTable):
    """`[game.phase_config.sidebars]`."""

    num_exchanges: Few = 1
    messages_per_exchange: Few = 2


class PhaseConfig(ProjectTable):
    """`[game.phase_config]`: the one phase that has settings."""

    sidebars: Sidebars | None = None


class RoundTable(ProjectTable):
    """`[[game.round_overrides]]`."""

    round: Annotated[int, Field(ge=1)]
    phases: tuple[Phase, ...]
    round_type: RoundType | None = None
    phase_config: PhaseConfig | None = None


class GameTable(ProjectTable):
    """The table `[game]`. `logs_dir` and `log_prefix` name the project's logs, and do not affect the game."""

    num_players: int
    num_rounds: Annotated[int, Field(ge=1, le=1_000)]
    phases: tuple[Phase, ...]
    rules_prompt: Annotated[str, Field(min_length=1)]
    round_type: RoundType = "elimination"
    phase_config: PhaseConfig = PhaseConfig()
    round_overrides: tuple[RoundTable, ...] = ()
    game_id: str | None = None
    logs_dir: str | None = None
    log_prefix: str | None = None

    def translated(self, players: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return `game_config`, and a `seed` if there is a `game_id`. `players` are the tables of the players.

        Raises `ScenarioError` if the table makes no valid game.
        """
        if len(players) != self.num_players:
            raise ScenarioError(
                f"is {self.num_players}, but there are {counted(len(players), 'player')}",
                key="game.num_players",
                valid="as many [[players]] tables, here or in the file of --game-config",
            )
        models = [player.get("model") for player in players]
        quippers = [player.get("id", player.get("player_id")) for player in players if player.get("model") != "human"]
        first, *others = rounds = [self._round(index) for index in range(1, self.num_rounds + 1)]
        self._check(rounds)
        config = {
            **first,
            "rounds": self.num_rounds,
            "rules": self.rules_prompt,
            **dict.fromkeys(_LIMITS, LONGEST),
            "vote_first": True,
            "summaries": "phases",
            "quips_by": quippers if "human" in models else "all",
            "quips_in_turn": True,
            "partners": "any",
            "may_decline": False,
            "secret_pairs": True,
            "round_overrides": [
                {"round": index, **changed}
                for index, played in enumerate(others, start=2)
                if (changed := _changed(played, first))
            ],
        }
        return {"game_config": config, **({"seed": _seed(self.game_id)} if self.game_id else {})}

    def _round(self, index: int) -> dict[str, Any]:
        """Return one round as our settings. If several overrides name it, the last one wins."""
        phases, kind, sidebars = self.phases, self.round_type, self.phase_config.sidebars
        for place, table in enumerate(self.round_overrides):
            if table.round > self.num_rounds:
                at = f"game.round_overrides.{place}.round"
                raise ScenarioError(f"there is no round {table.round}", key=at, valid=f"1 to {self.num_rounds}")
            if table.round == index:
                phases, kind = table.phases, table.round_type or kind
                sidebars = (table.phase_config and table.phase_config.sidebars) or sidebars
        sidebars = sidebars or Sidebars()
        return {
            **_played(index, index == self.num_rounds, phases, kind),
            "exchanges": sidebars.num_exchanges,
            "messages_per_exchange": sidebars.messages_per_exchange,
        }

    def _check(self, rounds: Sequence[Mapping[str, Any]]) -> None:
        leaving = sum(played["vote"] == "eliminate" for played in rounds)
        left = self.num_players - leaving
        least = 2 if rounds[-1]["vote"] == "win" else 1
        if left < least:
            raise ScenarioError(
                f"{leaving} of {counted(self.num_players, 'player')} {by_count(leaving, 'is', 'are')} eliminated, and "
                f"{left} would be left at the end",
                key="game.num_rounds",
                valid=f"rounds that eliminate {self.num_players - least} at most",
            )
        if rounds[-1]["vote"] == "win" and not leaving:
            raise ScenarioError(
                'no round before the final has an "elimination" phase, so its jury would be empty', key="game.phases"
            )


def _played(index: int, last: bool, phases: Sequence[Phase], kind: RoundType) -> dict[str, Any]:
    """Return the phases of a round and the effect of its vote. Raises `ScenarioError` if they do not fit."""
    if kind == "final" and not last:
        raise ScenarioError(
            f'round {index} is "final", but more rounds follow',
            key="game.round_overrides",
            valid='round_type = "final" in the last round alone',
        )
    if kind == "final" and "elimination" in phases:
        raise ScenarioError(
            f'round {index} is "final" and has an "elimination" phase: one of the two', key="game.round_overrides"
        )
    if phases.count("votes") > 1 or phases.count("elimination") > 1:
        raise ScenarioError(f"round {index} has more than one vote, which takes a round each here", key="game.phases")
    leaves = {"votes", "elimination"} <= {*phases} and phases.index("votes") < phases.index("elimination")
    ours = [_OURS.get(phase, phase) for phase in phases if phase != "elimination" or leaves]
    if "votes" not in phases:
        return {"vote": "none", "phases": ours}
    return {"vote": "win" if kind == "final" else "eliminate" if leaves else "poll", "phases": ours}


def _changed(played: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in which a round differs from the first. The phases and the vote are given together."""
    changed = {key for key in played if played[key] != first[key]}
    if changed & {"vote", "phases"}:
        changed |= {"vote", "phases"}
    return {key: value for key, value in played.items() if key in changed}


def _seed(game_id: str) -> int:
    """Return a seed that is the same for the same id. The project's own draws differ."""
    return int.from_bytes(hashlib.sha256(game_id.encode()).digest()[:8], "big") >> 1
