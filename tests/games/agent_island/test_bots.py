"""Bots: whom they vote for, and that what they say really happened."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.chance import Chance
from agentsim.games.agent_island import GAME
from agentsim.games.agent_island.bots import ally, loudest, pitch, suspects
from agentsim.games.agent_island.sidebars import AnswerApproach, Approach, Whispered
from agentsim.games.agent_island.speeches import Pitch, Pitched
from agentsim.games.agent_island.state import Tally
from agentsim.games.agent_island.view import IslandRequest, Line, View
from agentsim.games.agent_island.votes import Vote, VoteCast, Voted
from tests.amounts import each_row, examples
from tests.engine.small import Say
from tests.games.agent_island.island import play, requests


def _view(*tallies: Tally, lines: tuple[Line, ...] = (), active: str = "ABCD", rounds: int = 4) -> View:
    return View(tuple("ABCDE"), len(tallies) + 1, rounds, tuple(active), tallies, lines)


def _tally(round_: int, chosen: str, tied: str = "", abstentions: int = 0, **votes: int) -> Tally:
    return Tally(round_, False, tuple(votes.items()), abstentions, chosen, tuple(tied))


def _pitch(player: str, words: int, round_: int = 1) -> Line:
    return Line(round_, player, "pitch", "x" * words)


def _own_vote(me: str, choice: str, round_: int = 1) -> Line:
    return Line(round_, me, f"secret vote for {choice}", "Because.")


def _vote(policy: str, view: View, me: str, ballot: str, nth: int = 1) -> str:
    request = Vote(player=me, view=view, ballot=tuple(ballot), limit=100)
    decision = GAME.bots[policy](request, Chance(1).once(f"bot/{me}/vote/{nth}"))
    assert isinstance(decision, VoteCast)
    request.check(decision)
    assert decision.explanation
    return str(decision.vote)


@pytest.mark.parametrize("policy", sorted(GAME.bots))
def test_a_bot_is_a_function_of_the_request_and_its_luck(policy: str) -> None:
    played = play("ABCDE", bot=policy, phases=["pitches", "sidebars", "quips", "votes"], memory="summary")
    bot = GAME.bots[policy]
    for wave, decisions in played.waves:
        for ask, decision in zip(wave.asks, decisions, strict=True):
            name = f"bot/{ask.request.player}/{ask.request.kind}/{ask.nth}"
            again = type(ask.request).restore(ask.request.to_json())
            assert bot(again, Chance(1).once(name)) == decision


@pytest.mark.parametrize("policy", sorted(GAME.bots))
def test_two_games_of_the_same_seed_are_the_same(policy: str) -> None:
    one, two, other = (play("ABCDE", bot=policy, seed=seed).log for seed in (5, 5, 6))
    assert one == two
    assert one != other


def test_random_votes_uniformly() -> None:
    """2 degrees of freedom, p = 0.001."""
    counts = Counter(_vote("random", _view(), "A", "BCD", nth) for nth in range(900))
    assert sum((count - 300) ** 2 / 300 for count in counts.values()) < 13.82


# grudge


@each_row(
    "tally, own, expected",
    [
        (_tally(1, "A", A=3, B=0, C=0, D=1), "D", "BCD"),
        (_tally(1, "A", A=3, B=1, C=0, D=0), None, "B"),
        (_tally(1, "B", A=2, B=2, C=0, D=0), None, "B"),
        (_tally(1, "B", A=1, B=2, C=1, D=0), "B", ""),
        (_tally(1, "B", A=1, B=3, C=0, D=0), "B", "B"),
        (_tally(1, "B", A=0, B=3, C=1, D=0), None, ""),
        (_tally(1, "B", A=2, B=1, C=0, D=0, abstentions=1), None, ""),
    ],
)
def test_grudge_suspects_whom_the_tally_proves(tally: Tally, own: str | None, expected: str) -> None:
    view = _view(tally, lines=(_own_vote("A", own),) if own else ())
    assert suspects(view, "A") == frozenset(expected)


@given(st.integers(0, 2_000), st.integers(3, 6))
@examples(60)
def test_a_suspect_has_always_really_voted_against_the_bot(seed: int, count: int) -> None:
    played = play("ABCDEF"[:count], bot="random", seed=seed)
    guilty = {(event.choice, event.voter) for event in played.events(Voted)}
    for request in requests(played, IslandRequest):
        for suspect in suspects(request.view, request.player):
            assert (request.player, suspect) in guilty


def test_grudge_pays_back_what_is_proven() -> None:
    view = _view(_tally(1, "E", A=3, B=1, C=0, D=0, E=0), lines=(_pitch("C", 900), _pitch("B", 10)))
    assert suspects(view, "A") == {"B"}
    assert _vote("grudge", view, "A", "CBD") == "B"


def test_grudge_pays_back_the_loudest_of_several() -> None:
    tally = _tally(1, "E", A=3, B=0, C=0, D=1, E=0)
    view = _view(tally, lines=(_own_vote("A", "D"), _pitch("C", 50), _pitch("D", 40)))
    assert _vote("grudge", view, "A", "BDC") == "C"


def test_grudge_without_proof_votes_for_the_loudest() -> None:
    view = _view(lines=(_pitch("B", 10), _pitch("C", 500), _pitch("D", 100)))
    assert _vote("grudge", view, "A", "BCD") == "C"
    assert loudest(view, ("D", "B")) == "D"
    assert loudest(_view(), ("D", "B")) == "D", "the earliest on the ballot where nobody has spoken"


def test_grudge_on_the_jury_does_not_reward_whom_it_suspects() -> None:
    tally = _tally(1, "A", A=3, B=1, C=0, D=0, E=0)
    view = _view(tally, lines=(_pitch("C", 500),), active="BC", rounds=2)
    assert view.final
    assert _vote("grudge", view, "A", "BC") == "C"


def test_grudge_refuses_whom_it_suspects() -> None:
    view = _view(_tally(1, "E", A=3, B=1, C=0, D=0, E=0))
    rng = Chance(1).once("x")
    answers = {
        by: GAME.bots["grudge"](AnswerApproach(player="A", view=view, by=by), rng).model_dump()["accept"] for by in "BC"
    }
    assert answers == {"B": False, "C": True}


# loyal


@given(st.integers(0, 2_000), st.integers(3, 6))
@examples(40)
def test_loyal_never_votes_for_its_ally_while_others_remain(seed: int, count: int) -> None:
    played = play("ABCDEF"[:count], bot="loyal", seed=seed)
    for wave, decisions in played.waves:
        for ask, decision in zip(wave.asks, decisions, strict=True):
            request = ask.request
            if isinstance(request, Vote) and not request.view.final:
                friend = ally(request.view, request.player, request.view.active)
                assert friend in request.ballot
                assert decision.model_dump()["vote"] != friend or len(request.ballot) == 1


@pytest.mark.parametrize(
    ("me", "among", "friend"),
    [("A", "BCD", "B"), ("A", "CD", "C"), ("E", "ABC", "A"), ("C", "AB", "A"), ("A", "", None)],
    ids=["next", "next but one", "round the table", "behind", "nobody left"],
)
def test_the_ally_is_the_next_in_seat_order_who_is_there(me: str, among: str, friend: str | None) -> None:
    assert ally(_view(), me, among) == friend


def test_loyal_votes_for_its_ally_in_the_final() -> None:
    view = _view(*(_tally(n, "X", X=1) for n in (1, 2, 3)), active="BD")
    assert {_vote("loyal", view, "A", "DB", nth) for nth in range(10)} == {"B"}


def test_loyal_seeks_and_accepts_its_allies_alone() -> None:
    view, rng, bot = _view(active="ABCDE"), Chance(1).once("x"), GAME.bots["loyal"]
    assert bot(Approach(player="A", view=view, free=("C", "B")), rng).model_dump() == {"partner": "B"}
    assert bot(Approach(player="A", view=view, free=("C",)), rng).model_dump() == {"partner": "nobody"}
    accepts = {by: bot(AnswerApproach(player="B", view=view, by=by), rng).model_dump()["accept"] for by in "ACDE"}
    assert accepts == {"A": True, "C": True, "D": False, "E": False}


# patter

HISTORY = (
    _tally(1, "E", A=2, B=0, C=1, D=0, E=3),
    _tally(2, "C", "AC", abstentions=1, A=2, B=0, C=2, D=1),
)


def _said(view: View, me: str) -> str:
    return "\n".join(pitch(view, me, Chance(seed).once("x")) for seed in range(300))


def test_pitches_speak_of_what_happened() -> None:
    said = _said(_view(*HISTORY, lines=(_pitch("B", 400),), active="ABD"), "A")
    for fact in (
        "E left in round 1 with 3 votes against.",
        "I had 2 votes against me in round 1, and I am still here.",
        "In round 2 only the lot parted A and C, and C had to go.",
        "The lot spared me in round 2, and I have not forgotten how close it was.",
        "In round 2 I counted 1 empty ballot.",
        "After 2 rounds my name has been on 4 ballots.",
        "So far B's name has been on no ballot.",
        "So far D's name has been on 1 ballot.",
        "D had 1 vote in round 2 and survived.",
        "B has talked a good deal.",
        "D has said little so far.",
    ):
        assert fact in said


def test_pitches_speak_of_nothing_that_did_not_happen() -> None:
    said = _said(_view(*HISTORY, active="ABD"), "B")
    assert "In round 1 not one of you named me." in said
    assert "against me" not in said
    assert "After 2 rounds my name has been on no ballot." in said
    assert "In round 2 A was spared by nothing but the lot." in said
    for line in said.splitlines():
        assert {int(number) for number in re.findall(r"round (\d+)", line)} <= {1, 2}
        assert set(re.findall(r"\b[A-E]\b", line)) <= set("ACDE")


def test_the_first_pitch_has_nothing_to_look_back_on() -> None:
    said = _said(_view(active="ABCDE"), "A")
    assert "There are 5 of us and nobody has done anything wrong yet." in said
    assert "round" not in said.replace("one more round", "")


def test_the_vote_that_ends_the_game_sends_nobody_home() -> None:
    final = Tally(2, True, (("A", 1), ("B", 0)), 0, "A")
    view = View(("A", "B", "C"), 2, 2, ("A", "B"), (_tally(1, "C", A=0, B=1, C=2), final), ())
    assert "round 2" not in _said(view, "B")


def test_finalists_speak_to_the_jury() -> None:
    said = _said(_view(*HISTORY, active="AB", rounds=3), "A")
    assert "record" in said
    assert "Keep me" not in said
    assert "has said little" not in said


@given(st.integers(0, 5_000), st.sampled_from(["random", "grudge", "loyal"]))
@examples(30)
def test_every_number_of_votes_a_bot_mentions_stands_in_a_tally(seed: int, policy: str) -> None:
    played = play("ABCDE", bot=policy, seed=seed)
    for request, event in zip(requests(played, Pitch), played.events(Pitched), strict=True):
        votes = {(tally.round, count) for tally in request.view.tallies for _, count in tally.votes}
        for count, round_ in re.findall(r"had (\d+) votes? (?:against me )?in round (\d+)", event.text):
            assert (int(round_), int(count)) in votes
        for player, round_ in re.findall(r"(\w) left in round (\d+)", event.text):
            assert request.view.tallies[int(round_) - 1].chosen == player
        assert "  " not in event.text
        assert event.text.endswith((".", "?"))


def test_bots_have_more_than_one_thing_to_say() -> None:
    texts = Counter(
        event.text for seed in range(40) for event in play("ABCDE", bot="random", seed=seed).events(Pitched)
    )
    assert len(texts) > 0.8 * texts.total()


def test_whispers_speak_of_a_third_player() -> None:
    played = play("ABCD", bot="random", seed=3, phases=["sidebars", "votes"], rounds=2)
    for event in played.events(Whispered):
        assert not re.search(rf"\b({event.speaker}|{event.listener})\b", event.text.replace("I ", ""))


def test_there_are_three_policies_and_none_answers_what_the_game_does_not_ask() -> None:
    assert set(GAME.bots) == {"random", "grudge", "loyal"}
    with pytest.raises(AssertionError, match="no policy for say"):
        GAME.bots["random"](Say(player="A"), Chance(1).once("x"))
