"""Own maker's preference, in worlds whose truth is known: merit is no preference, and a planted one is found."""

from __future__ import annotations

import numpy as np
import pytest

from agentsim.analysis.finished_games import GameRecord, Vote
from agentsim.analysis.intervals import FEWEST
from agentsim.analysis.preference import OwnMaker, own_makers
from agentsim.analysis.standings import standings
from agentsim.engine.panel import DataTable
from agentsim.studies.report_tables import panels
from benchmarks.inference_worlds import Jury, elimination_votes, entrants, jury_votes


def voted(votes: list[tuple[str, str, str]], makers: str, games: int) -> list[GameRecord]:
    """The same game several times: players A, B, C and so on, their makers, and (voter, choice, ballot)."""
    seated = entrants(makers, players="ABCDEFG"[: len(makers)])
    cast = tuple(Vote(voter, choice, tuple(ballot), True, 1) for voter, choice, ballot in votes)
    return [GameRecord(f"g{number}", "any", number, seated, cast, 0.0) for number in range(games)]


def together(games: list[GameRecord]) -> OwnMaker:
    (found,) = [each for each in own_makers(games) if each.maker is None]
    return found


def test_a_strong_maker_is_no_preference_of_its_voters() -> None:
    """In 150 games jurors take the better pitch with 0.85, and one maker's is always the better one."""
    found = own_makers(jury_votes(np.random.default_rng(3), Jury(games=150)))
    assert {each.maker for each in found} >= {None, "a"}
    for each in found:
        assert each.points.low is not None
        assert each.points.high is not None
        assert each.points.low < 0 < each.points.high


def test_ten_planted_points_are_found() -> None:
    found = together(jury_votes(np.random.default_rng(4), Jury(games=600, bonus=0.10)))
    assert found.points.value == pytest.approx(0.10, abs=0.04)
    assert found.points.low is not None
    assert found.points.low > 0


def test_planted_log_odds_are_found_where_voters_have_ballots_of_their_own() -> None:
    """Each of six players votes one of the others out, and spares its own maker's with log odds of -0.8."""
    games = elimination_votes(np.random.default_rng(5), games=400, log_odds=-0.8)
    found = together(games)
    assert (found.final, found.games) == (False, 400)
    assert found.log_odds.value == pytest.approx(-0.8, abs=0.15)


def test_what_all_voters_of_a_ballot_choose_says_nothing_of_their_makers() -> None:
    """A and B are of the makers a and b; each of the three jurors takes the same one, of whatever maker it is."""
    for choice in "AB":
        found = together(voted([(juror, choice, "AB") for juror in "CDE"], "ababc", games=8))
        assert (found.points.value, found.games, found.votes) == (0, 8, 24)


def test_votes_for_own_finalists_alone_are_50_points_more_than_even() -> None:
    found = together(voted([("C", "A", "AB"), ("D", "B", "AB")], "abab", games=8))
    assert found.points.value == pytest.approx(0.5)
    assert found.log_odds.value > 1


def test_of_two_makers_only_what_they_have_in_common_is_known() -> None:
    """Each voter is of one finalist's maker or the other's: to favour the one is to slight the other."""
    games = jury_votes(np.random.default_rng(6), Jury(games=60, makers=("a", "a", "a", "b", "b", "b")))
    assert [each.maker for each in own_makers(games)] == [None]


def test_only_voters_whose_makers_could_differ_are_counted() -> None:
    """D votes for a player who is on no other ballot; where all jurors are of one maker none can be compared."""
    found = together(voted([("C", "A", "AB"), ("E", "B", "AB"), ("D", "F", "ABF")], "ababca", games=8))
    assert found.votes == 16
    assert own_makers(voted([("C", "A", "AB"), ("D", "B", "AB")], "abaa", games=8)) == []


def test_a_makers_votes_are_those_that_could_fall_on_its_own() -> None:
    """C and F have finalists of their own makers; E has none, and is what they are compared with."""
    cast = [("C", "A", "AB"), ("F", "B", "AB"), ("E", "B", "AB")]
    found = {each.maker: each.votes for each in own_makers(voted(cast, "abaacb", games=6))}
    assert found == {None: 18, "a": 6, "b": 6}


def test_few_games_have_an_estimate_and_no_interval() -> None:
    cast = [("C", "A", "AB"), ("D", "B", "AB"), ("E", "A", "AB")]
    assert together(voted(cast, "ababc", games=FEWEST - 1)).log_odds.low is None
    assert together(voted(cast, "ababc", games=FEWEST)).log_odds.low is not None
    assert together(voted(cast, "ababc", games=FEWEST)).points.low is None, "games that are all alike do not vary"


def test_games_of_one_seed_are_one_piece_of_evidence() -> None:
    games = jury_votes(np.random.default_rng(9), Jury(games=30))
    again = [*games, *games]
    assert together(again).points.low == pytest.approx(together(games).points.low)
    assert together(again).votes == 2 * together(games).votes


def test_models_of_one_maker_have_no_other_to_prefer_them_to() -> None:
    assert own_makers(jury_votes(np.random.default_rng(10), Jury(games=20, makers=("a",) * 7))) == []


def test_the_report_says_points_and_n_and_nothing_of_blind_votes() -> None:
    games = jury_votes(np.random.default_rng(11), Jury(games=40))
    found = own_makers(games)
    (shown,) = [panel for panel in panels(standings(games), found) if panel.title == "Votes for the own maker"]
    assert isinstance(shown, DataTable)
    assert shown.columns == ("maker", "vote", "games", "votes", "points", "log odds")
    assert shown.rows[0][:4] == ("all", "final", found[0].games, found[0].votes)
