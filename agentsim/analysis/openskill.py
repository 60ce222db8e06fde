"""OpenSkill: OpenSkill ratings, game after game in the order of their names. The rating itself is the library's."""

from __future__ import annotations

from collections.abc import Sequence

from openskill.models import PlackettLuce

from agentsim.analysis.record import GameRecord

__all__ = ["ratings"]


def ratings(games: Sequence[GameRecord], labels: Sequence[str]) -> list[tuple[float, float]]:
    """(mu, sigma) of each label; where several of one label play, its rating is the mean of what each would have."""
    model = PlackettLuce()
    held = {label: model.rating(name=label) for label in labels}
    for game in games:
        if len({entrant.label for entrant in game.entrants}) < 2:
            continue
        teams = [[model.create_rating([held[e.label].mu, held[e.label].sigma])] for e in game.entrants]
        rated = model.rate(teams, ranks=[entrant.rank for entrant in game.entrants])
        for label in {entrant.label for entrant in game.entrants}:
            own = [team[0] for team, e in zip(rated, game.entrants, strict=True) if e.label == label]
            mu, sigma = sum(each.mu for each in own) / len(own), sum(each.sigma for each in own) / len(own)
            held[label] = model.create_rating([mu, sigma], name=label)
    return [(held[label].mu, held[label].sigma) for label in labels]
