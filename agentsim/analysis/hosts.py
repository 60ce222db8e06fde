"""Hosts: results of the answers of each model by who served them, in finished games.

A router such as OpenRouter serves one model from several hosts, by turns. Which one answered is what the answer says.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from agentsim.analysis.finished_games import Entrant, GameRecord
from agentsim.lazy import dataclass


@dataclass(frozen=True, slots=True)
class HostLine:
    """The answers of one model from one host.

    `unusable` are answers that no decision was made from, and `failed` calls whose error names the host. `win_rate` and
    `mean_rank` are means over the players of the model, each weighted by the share of its answers from this host; None
    if the games rank no player or the host gave no answer.
    """

    model: str
    host: str
    games: int
    answers: int
    unusable: int
    failed: int
    win_rate: float | None
    mean_rank: float | None


def host_lines(games: Sequence[GameRecord]) -> tuple[HostLine, ...]:
    """Return the lines of every model whose answers or errors name a host, by model, then by the number of answers."""
    answers, unusable, failed = (Counter[tuple[str, str]]() for _ in range(3))
    weights: defaultdict[tuple[str, str], float] = defaultdict(float)
    wins, ranks = weights.copy(), weights.copy()
    there: dict[tuple[str, str], set[str]] = {}
    for game in games:
        for entrant, won in zip(game.entrants, game.wins, strict=True):
            for key, (count, bad, lost) in entrant.hosts.items():
                answers[key] += count
                unusable[key] += bad
                failed[key] += lost
                there.setdefault(key, set()).add(game.name)
                if game.ranked and count:
                    weight = count / _answers(entrant)
                    weights[key] += weight
                    wins[key] += weight * won
                    ranks[key] += weight * entrant.rank
    return tuple(
        HostLine(
            *key,
            len(there[key]),
            answers[key],
            unusable[key],
            failed[key],
            *((sums[key] / weights[key] if weights[key] else None) for sums in (wins, ranks)),
        )
        for key in sorted(answers, key=lambda key: (key[0], -answers[key], key[1]))
    )


def _answers(entrant: Entrant) -> int:
    return sum(count for count, _, _ in entrant.hosts.values())


def differ(lines: Sequence[HostLine]) -> bool:
    """Return whether one of the models has answers or failures from several hosts."""
    return len({line.model for line in lines}) < len(lines)
