"""Estimators beside those of well-kept libraries: choix for Plackett-Luce, statsmodels for conditional logit and t.

They are imported by their tests, since that takes longer than all other imports of the tests together.
"""

from __future__ import annotations

import numpy as np
import pytest

from agentsim.analysis.arms import branches_needed
from agentsim.analysis.finished_games import vendor
from agentsim.analysis.intervals import paired_intervals
from agentsim.analysis.posterior import choice_sets, posterior
from agentsim.analysis.preference import own_makers
from benchmarks.inference_worlds import Jury, jury_votes


@pytest.mark.slow
def test_strengths_are_those_of_choix_where_games_are_many() -> None:
    import choix

    generator = np.random.default_rng(8)
    logs = generator.normal(size=6)
    rankings = []
    for _ in range(1_500):
        seated = generator.choice(6, size=4, replace=False)
        rankings.append(tuple(map(int, seated[np.argsort(-(logs[seated] + generator.gumbel(size=4)))])))
    theirs = choix.opt_rankings(6, rankings)
    games = [choice_sets([1.0, 2.0, 3.0, 4.0], ranking, 6) for ranking in rankings]
    drawn = posterior(games, 6).logs.mean(axis=0)
    assert drawn - drawn.mean() == pytest.approx(theirs - theirs.mean(), abs=0.03)


@pytest.mark.filterwarnings("ignore:Dropped")  # ballots on which all voted alike say nothing, there and here
def test_a_makers_preference_is_that_of_a_conditional_logit() -> None:
    """With two finalists all that is conditioned on is how many votes each got: one group a ballot."""
    from statsmodels.discrete.conditional_models import ConditionalLogit

    games = jury_votes(np.random.default_rng(5), Jury(games=400, log_odds=0.8))
    chosen, same, ballots = [], [], []
    for number, game in enumerate(games):
        maker = {entrant.player: vendor(entrant.model) for entrant in game.entrants}
        for vote in game.votes:
            one, other = sorted(vote.ballot)
            chosen.append(vote.choice == one)
            same.append([float(maker[vote.voter] == maker[one]) - float(maker[vote.voter] == maker[other])])
            ballots.append(number)
    theirs = ConditionalLogit(np.array(chosen, dtype=float), np.array(same), groups=np.array(ballots)).fit(disp=False)
    ours = next(each for each in own_makers(games) if each.maker is None)
    assert ours.log_odds.value == pytest.approx(float(theirs.params[0]), abs=0.05)
    assert ours.log_odds.low is not None
    assert ours.log_odds.low < float(theirs.params[0]) < float(ours.log_odds.high or 0.0)


def test_intervals_of_pairs_and_their_power_are_those_of_the_t_test() -> None:
    from statsmodels.stats.power import TTestPower
    from statsmodels.stats.weightstats import DescrStatsW

    differences = np.random.default_rng(3).normal(0.4, 1.0, size=(30, 2))
    theirs = DescrStatsW(differences).tconfint_mean()
    _, low, high, _, _ = paired_intervals(differences)
    assert low == pytest.approx(theirs[0])
    assert high == pytest.approx(theirs[1])
    for effect in (0.2, 0.5, 0.9):
        needed = TTestPower().solve_power(effect_size=effect, alpha=0.05, power=0.8)
        assert branches_needed(effect, 1.0) == int(np.ceil(needed))
