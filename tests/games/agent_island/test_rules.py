"""The rules of Agent Island, one by one, as the seed and the specification state them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.event import Everyone
from agentsim.errors import IllegalDecision
from agentsim.games.agent_island.speeches import Pitch, Pitched
from agentsim.games.agent_island.view import GameBegan, IslandRequest, RoundBegan, Speech
from agentsim.games.agent_island.votes import Eliminated, Tallied, Vote, VoteCast, Voted, Won
from tests.amounts import examples
from tests.games.agent_island.island import lines, play, requests, told, waves_of

FOUR = {"A": "D C", "B": "D C", "C": "D B B", "D": "A B"}
"""D leaves, then C, and B wins."""


def _leavers(played: Any) -> list[str]:
    return [event.player for event in played.events(Eliminated)]


def _winner(played: Any) -> str:
    (won,) = played.events(Won)
    return str(won.player)


# the course of the game


@pytest.mark.parametrize("count", [3, 4, 5, 7, 12])
def test_n_players_play_n_minus_1_rounds_and_n_minus_2_leave(count: int) -> None:
    players = "ABCDEFGHIJKL"[:count]
    played = play(players)
    assert len(played.events(RoundBegan)) == count - 1
    assert len(_leavers(played)) == count - 2
    assert len(set(_leavers(played))) == count - 2
    assert len(played.events(Won)) == 1
    assert _winner(played) not in _leavers(played)


@pytest.mark.parametrize(
    ("rounds", "finalists", "leave"), [("auto", 2, 4), (5, 2, 4), (3, 4, 2), (2, 5, 1)], ids=["auto", "5", "3", "2"]
)
def test_fewer_rounds_send_more_into_the_final(rounds: int | str, finalists: int, leave: int) -> None:
    played = play("ABCDEF", rounds=rounds)
    assert len(_leavers(played)) == leave
    final = played.events(RoundBegan)[-1]
    assert final.round == final.rounds
    assert len(final.active) == finalists
    assert len(played.events(Tallied)[-1].votes) == finalists


def test_a_round_runs_its_phases_in_order() -> None:
    kinds = [entry.event.kind for entry in play("ABC").log if entry.round == 1]
    assert kinds == ["round_began", *["pitch"] * 3, *["vote"] * 3, "tally", "eliminated"]


def test_set_up_is_round_0_and_rounds_have_titles() -> None:
    played = play("ABC")
    (began,) = told(played, GameBegan)
    assert (began.round, began.event.players, began.event.rounds) == (0, ("A", "B", "C"), 2)
    assert [entry.event.heading for entry in told(played, RoundBegan)] == ["Round 1 begins", "Final round"]


# pitches


def test_active_players_pitch_in_the_drawn_order_one_after_the_other() -> None:
    played = play("ABCD", FOUR, chance={"pitches/1": ["CADB"], "pitches/2": ["BCA"], "pitches/3": ["BA"]})
    assert waves_of(played, "pitch") == [[player] for player in "CADBBCABA"]
    assert [(event.player, event.position) for event in played.events(Pitched)][:4] == [
        ("C", 1),
        ("A", 2),
        ("D", 3),
        ("B", 4),
    ]
    assert "".join(event.player for event in played.events(Pitched)) == "CADB" + "BCA" + "BA"


def test_the_order_is_drawn_afresh_in_every_round_uniformly() -> None:
    """Who speaks first in rounds 1 and 2 of 900 games: 3 x 3 equally likely pairs but for who has left."""
    firsts: Counter[str] = Counter()
    pairs = set()
    for seed in range(300):
        played = play("ABC", {"A": "C", "B": "C", "C": "A A"}, seed=seed)
        orders = [[entry.event.player for entry in told(played, Pitched) if entry.round == round_] for round_ in (1, 2)]
        firsts[orders[0][0]] += 1
        pairs.add((orders[0][0], orders[1][0]))
    assert pairs == {(first, second) for first in "ABC" for second in "AB"}
    assert sum((count - 100) ** 2 / 100 for count in firsts.values()) < 13.82  # 2 degrees of freedom, p = 0.001


def test_a_pitch_is_public_and_later_speakers_answer_earlier_ones() -> None:
    played = play("ABC", chance={"pitches/1": ["BCA"]})
    assert all(entry.to is Everyone for entry in told(played, Pitched))
    heard = {
        request.player: [line.sender for line in lines(request.view, "pitch")]
        for request in requests(played, Pitch)
        if request.view.round == 1
    }
    assert heard == {"B": [], "C": ["B"], "A": ["B", "C"]}


def test_the_eliminated_hear_the_pitches_too() -> None:
    played = play("ABCD", FOUR)
    (vote,) = [request for request in requests(played, Vote, "D") if request.view.final]
    assert {(line.round, line.sender) for line in lines(vote.view, "pitch")} == {
        *((1, player) for player in "ABCD"),
        *((2, player) for player in "ABC"),
        *((3, player) for player in "AB"),
    }


def test_a_pitch_is_for_advancing_and_in_the_final_for_winning() -> None:
    asked = {request.view.round: request.question() for request in requests(play("ABCD", FOUR), Pitch)}
    advance = "Make your public pitch: why should you advance to the next round?"
    assert asked == {1: advance, 2: advance, 3: "Make your public pitch: why should you win the game?"}


@pytest.mark.parametrize("idle", [{"vote": "poll"}, {"vote": "none", "phases": ["pitches"]}], ids=["poll", "no vote"])
def test_a_pitch_speaks_of_no_elimination_also_in_a_round_in_which_no_player_leaves(idle: dict[str, Any]) -> None:
    played = play("ABC", rounds=3, round_overrides=[{"round": 1, **idle}])
    first = [request.question() for request in requests(played, Pitch) if request.view.round == 1]
    assert {*first} == {"Make your public pitch: why should you advance to the next round?"}
    last = requests(play("ABCD", vote="eliminate", rounds=2), Pitch)[-1].question()
    assert last == "Make your public pitch: why should you remain in the game?", "no round follows and no jury"


def test_no_speaker_is_told_how_many_speak_after_it() -> None:
    played = play("ABCDE", chance={"pitches/1": ["ABCDE"]})
    first = [request for request in requests(played, Pitch) if request.view.round == 1]
    assert len({(*request.prompt().state, *request.prompt().question) for request in first}) == 1
    assert len({*(request.prompt().rules[0] for request in first)}) == 1
    before = played.log[: played.log.index(told(played, Pitched)[0])]
    assert [entry.event.kind for entry in before] == ["game_began", "round_began"], "and no event tells the order"


def test_the_eliminated_do_not_pitch() -> None:
    played = play("ABCD", FOUR)
    assert {entry.event.player for entry in told(played, Pitched) if entry.round == 2} == set("ABC")


def test_who_says_nothing_is_heard_saying_nothing() -> None:
    played = play("ABC", answers={"pitch": {"A": Speech(text="")}}, chance={"pitches/1": ["ABC"]})
    asks = requests(played, Pitch, "B")
    assert [(line.sender, line.text) for line in lines(asks[0].view, "pitch")] == [("A", "")]
    assert "R1 A pitch, without a word" in asks[0].prompt().history


# votes


def test_all_votes_of_a_round_are_one_wave_in_the_drawn_order() -> None:
    played = play("ABCD", FOUR, chance={"votes/1": ["DBCA"], "votes/3": ["CD"]})
    waves = waves_of(played, "vote")
    assert waves[0] == ["D", "B", "C", "A"]
    assert [len(wave) for wave in waves] == [4, 3, 2]
    assert waves[2] == ["C", "D"]


def test_no_vote_request_knows_a_vote_of_its_wave() -> None:
    plain_votes, other_votes = (play("ABCD", {"A": first}, bot="random", seed=3) for first in ("B", "C"))
    for one, two in zip(plain_votes.waves, other_votes.waves, strict=False):
        assert [ask.request for ask in one[0].asks] == [ask.request for ask in two[0].asks]
        if one[0].asks[0].request.kind == "vote":
            break
    else:
        raise AssertionError("there was a vote")
    first_votes = requests(plain_votes, Vote)[:4]
    assert all(lines(request.view, "vote") == [] for request in first_votes)


def test_voter_and_explanation_are_seen_by_the_voter_alone() -> None:
    played = play("ABCD", FOUR)
    assert all(entry.to == (entry.event.voter,) and entry.by == entry.event.voter for entry in told(played, Voted))
    for ask in played.asks():
        text = ask.request.prompt().text()
        for player in set("ABCD") - {ask.request.player}:
            assert f"{player} explains" not in text
            assert f"{player} secret vote" not in text
    later = [request.prompt().text() for request in requests(played, IslandRequest, "A") if request.view.round == 2]
    assert all('R1 A (you) secret vote for D: "A explains D"' in text for text in later), "one's own vote is remembered"


def test_nobody_can_vote_for_themselves_or_for_the_eliminated() -> None:
    played = play("ABCDE")
    votes = requests(played, Vote)
    for request in votes:
        assert request.player not in request.ballot
        assert not set(request.ballot) & set(request.view.eliminated)
        with pytest.raises(IllegalDecision):
            request.check(VoteCast(vote=request.player))
    with pytest.raises(IllegalDecision):
        play("ABC", {"A": "A"})


def test_each_voter_has_the_candidates_in_an_order_of_its_own() -> None:
    script = {"ballot/1/A": ["DBC"], "ballot/1/B": ["CAD"]}
    votes = requests(play("ABCD", chance=script), Vote)
    ballots = {request.player: request.ballot for request in votes if request.view.round == 1}
    assert ballots["A"] == ("D", "B", "C")
    assert ballots["B"] == ("C", "A", "D")
    first = next(request for request in votes if request.player == "A")
    assert '"vote": "<D, B or C>"' in first.answer_line


def test_every_ballot_order_is_equally_likely() -> None:
    """5 degrees of freedom, p = 0.001."""
    orders = Counter(
        next(event.ballot for event in play("ABCD", seed=seed, rounds=2).events(Voted) if event.voter == "A")
        for seed in range(480)
    )
    assert len(orders) == 6
    assert sum((count - 80) ** 2 / 80 for count in orders.values()) < 20.52


def test_in_the_final_the_jury_votes_and_the_finalists_are_candidates() -> None:
    played = play("ABCDE", {"A": "E D C", "B": "E D C", "C": "E D B A", "D": "E B A", "E": "A B"})
    final = [request for request in requests(played, Vote) if request.view.final]
    assert {request.player for request in final} == {"C", "D", "E"}
    assert all(set(request.ballot) == {"A", "B"} for request in final)
    tally = played.events(Tallied)[-1]
    assert (tally.final, tally.votes) == (True, {"A": 2, "B": 1})
    assert _winner(played) == "A"


# who leaves and who wins


def test_most_votes_leave_and_win() -> None:
    played = play("ABCD", FOUR)
    assert _leavers(played) == ["D", "C"]
    assert _winner(played) == "B"
    assert [event.votes for event in played.events(Eliminated)] == [3, 2]


@pytest.mark.parametrize("loser", ["A", "B"])
def test_a_tie_is_decided_by_lot_among_the_tied(loser: str) -> None:
    played = play("ABCD", {"A": "B", "B": "A", "C": "A", "D": "B"}, chance={"tie/1": [loser]}, rounds=2)
    tally = played.events(Tallied)[0]
    assert (tally.votes, tally.tied, tally.drawn_by_lot) == ({"A": 2, "B": 2, "C": 0, "D": 0}, ("A", "B"), True)
    assert _leavers(played) == [loser]
    assert "It is a tie; the lot decides between A and B." in tally.content
    assert played.events(Eliminated)[0].content == f"{loser} leaves the game by lot and joins the jury."


def test_the_lot_falls_on_each_of_the_tied_equally_often_and_on_nobody_else() -> None:
    """1 degree of freedom, p = 0.001."""
    votes = {"A": "B", "B": "A", "C": "A", "D": "B"}
    left = Counter(_leavers(play("ABCD", votes, seed=seed, rounds=2))[0] for seed in range(400))
    assert set(left) == {"A", "B"}
    assert sum((count - 200) ** 2 / 200 for count in left.values()) < 10.83


def test_without_a_valid_vote_the_lot_falls_uniformly_on_the_candidates() -> None:
    """3 degrees of freedom, p = 0.001."""
    nobody = dict.fromkeys("ABCD", "-")
    left: Counter[str] = Counter()
    for seed in range(400):
        played = play("ABCD", nobody, seed=seed, rounds=2)
        left[_leavers(played)[0]] += 1
        tally = played.events(Tallied)[0]
        assert (tally.tied, tally.abstentions) == (("A", "B", "C", "D"), 4)
        assert "Nobody cast a valid vote; the lot decides between A, B, C and D." in tally.content
    assert sum((count - 100) ** 2 / 100 for count in left.values()) < 16.27


@pytest.mark.parametrize(
    ("votes", "reason"),
    [
        ({"A": "D C", "B": "D C", "C": "D B B", "D": "A B"}, "jury vote"),
        ({"A": "D C", "B": "D C", "C": "D B B", "D": "A A"}, "lot between tied"),
        ({"A": "D C", "B": "D C", "C": "D B -", "D": "A -"}, "lot without votes"),
        ({"A": "D C", "B": "D C", "C": "D B B", "D": "A -"}, "jury vote"),
    ],
    ids=["jury", "tie", "no votes", "one juror abstains"],
)
def test_the_outcome_says_why_it_was_decided(votes: dict[str, str], reason: str) -> None:
    played = play("ABCD", votes, chance={"tie/3": ["A"]} if reason.startswith("lot") else None)
    assert played.outcome.reason == reason
    assert played.outcome.winner == ("A" if reason.startswith("lot") else "B")


def test_an_abstention_counts_for_nobody_and_is_said() -> None:
    played = play("ABCD", {"A": "-", "B": "-", "C": "A", "D": "-"}, rounds=2)
    assert _leavers(played) == ["A"]
    tally = played.events(Tallied)[0]
    assert (tally.votes, tally.abstentions, tally.drawn_by_lot) == ({"A": 1, "B": 0, "C": 0, "D": 0}, 3, False)
    assert tally.content == "Votes: A 1, B 0, C 0, D 0. Abstentions: 3."
    assert {event.heading for event in played.events(Voted) if event.choice is None} == {
        f"Player {player} abstains" for player in "ABD"
    }


def test_the_fallback_of_a_vote_is_an_abstention_and_not_a_random_vote() -> None:
    request = requests(play("ABC"), Vote)[0]
    assert request.fallback().vote is None
    request.check(request.fallback())


def test_everybody_hears_the_tally_with_zero_vote_candidates_and_no_voter() -> None:
    played = play("ABCD", FOUR)
    for entry in told(played, Tallied):
        assert entry.to is Everyone
        assert entry.by is None
        assert set(entry.event.data()) == {"round", "final", "votes", "abstentions", "tied", "drawn_by_lot"}
    assert played.events(Tallied)[0].content == "Votes: A 1, B 0, C 0, D 3."
    final = requests(played, Vote, "C")[-1]
    assert "R1 votes: A 1, B 0, C 0, D 3. Voted out: D." in final.prompt().text()


@given(st.data())
@examples(40)
def test_the_tally_is_the_count_of_the_votes_and_decides(data: st.DataObject) -> None:
    players = "ABCDE"[: data.draw(st.integers(3, 5))]
    votes = {p: data.draw(st.sampled_from([q for q in players if q != p] + ["-"])) for p in players}
    played = play(players, votes, seed=data.draw(st.integers(0, 50)), rounds=2)
    tally, (leaver,) = played.events(Tallied)[0], _leavers(played)
    counts = Counter(choice for choice in votes.values() if choice != "-")
    assert tally.votes == {player: counts[player] for player in players}
    most = max(tally.votes.values())
    best = tuple(player for player in players if counts[player] == most)
    assert leaver in best
    assert tally.drawn_by_lot == (len(best) > 1)
    assert tally.tied == (best if len(best) > 1 else ())
    assert sum(tally.votes.values()) + tally.abstentions == len(players)


# standings


def test_standings_are_winner_finalist_then_the_eliminated_last_to_leave_first() -> None:
    standings = play("ABCD", FOUR).outcome.standings
    assert [(standing.player, standing.rank) for standing in standings] == [("B", 1), ("A", 2), ("C", 3), ("D", 4)]
    assert standings[0].score == {"rounds_survived": 3, "votes_against": 1, "jury_votes": 2}
    assert standings[1].score == {"rounds_survived": 3, "votes_against": 1, "jury_votes": 0}
    assert standings[2].score == {"rounds_survived": 1, "votes_against": 2, "jury_votes": 0}
    assert standings[3].score == {"rounds_survived": 0, "votes_against": 3, "jury_votes": 0}


def test_finalists_with_equal_jury_votes_share_a_rank_behind_the_winner() -> None:
    votes = {"A": "E", "B": "E", "C": "E", "D": "E", "E": "A A"}
    ranks = [(standing.player, standing.rank) for standing in play("ABCDE", votes, rounds=2).outcome.standings]
    assert ranks == [("A", 1), ("B", 2), ("C", 2), ("D", 2), ("E", 5)]


def test_finalists_stand_by_jury_votes_and_then_the_last_to_leave_first() -> None:
    votes = {"A": "F E", "B": "F E", "C": "F E", "D": "F E", "E": "F A A", "F": "A B"}
    played = play("ABCDEF", votes, chance={"tie/3": ["B"]}, rounds=3)
    ranks = [(standing.player, standing.rank) for standing in played.outcome.standings]
    assert ranks == [("B", 1), ("A", 2), ("C", 3), ("D", 3), ("E", 5), ("F", 6)]


def test_the_winner_by_lot_stands_alone_at_the_top() -> None:
    votes = {"A": "D C", "B": "D C", "C": "D B B", "D": "A A"}
    played = play("ABCD", votes, chance={"tie/3": ["B"]})
    assert [(standing.player, standing.rank) for standing in played.outcome.standings][:2] == [("B", 1), ("A", 2)]


def test_the_rules_say_who_wins_where_the_jury_is_divided() -> None:
    text = play().asks()[0].request.prompt().text()
    assert (
        "the jury votes for the winner in the same way; the player with the most votes wins the game, and a tie" in text
    )
