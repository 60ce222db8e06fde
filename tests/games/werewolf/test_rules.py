"""The rules of Werewolf, one by one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from agentsim.engine.event import Everyone
from agentsim.engine.simulate import simulate
from agentsim.errors import IllegalDecision, ScenarioError
from agentsim.games.werewolf import GAME
from agentsim.games.werewolf.game import WerewolfConfig
from agentsim.games.werewolf.words import Dealt, Inspected, Named, Said, Unmasked, Voted
from tests.games.werewolf.village import VILLAGE, asked, deaths, each, heard, kinds, play, quiet, winners

# the deal


def test_roles_are_dealt_by_lot_as_many_as_the_config_says() -> None:
    short = {"werewolves": 2, "max_days": 1, "speeches": 0, "whispers": 0}
    dealt = [simulate(GAME, short, list("ABCDEFG"), bot=quiet, seed=seed).events(Dealt) for seed in range(60)]
    for roles in dealt:
        counts = Counter(event.role for event in roles)
        assert counts == {"werewolf": 2, "seer": 1, "doctor": 1, "villager": 3}
    assert {event.player for roles in dealt for event in roles if event.role == "seer"} == set("ABCDEFG")


@pytest.mark.parametrize(
    ("players", "config", "least", "most"),
    [
        (4, {"werewolves": 2}, 5, 1),
        (2, {"werewolves": 1}, 3, 0),
        (6, {"werewolves": 3}, 7, 2),
        (8, {"werewolves": 4}, 9, 3),
        (2, {"werewolves": 1, "seer": False}, 3, 0),
    ],
)
def test_a_village_begins_with_fewer_werewolves_than_others(
    players: int, config: dict[str, Any], least: int, most: int
) -> None:
    """Where fewer werewolves could play, it is said how many; else how many players it takes."""
    with pytest.raises(ScenarioError, match=f"too many of {players} players, and need {least}|for 3 or more") as error:
        GAME.admit(WerewolfConfig(**config), "ABCDEFGHI"[:players])
    said = ("game_config.werewolves", f"at most {most}") if most else ("players", f"{least} or more")
    assert (error.value.key, error.value.valid) == said
    GAME.admit(WerewolfConfig(**config), "ABCDEFGHI"[:least])
    if most:
        GAME.admit(WerewolfConfig(**{**config, "werewolves": most}), "ABCDEFGHI"[:players])


def test_a_player_cannot_be_called_nobody() -> None:
    with pytest.raises(ScenarioError, match="nobody"):
        GAME.admit(WerewolfConfig(), ["A", "B", "C", "D", "nobody"])


# night


def test_the_night_is_whispers_in_turn_and_then_one_choice_of_all_at_the_same_moment() -> None:
    played = play(chance={"whispers": [["B", "A"], ["A", "B"]]}, whispers=2, speeches=0)
    assert kinds(played)[:5] == [
        *(["B whisper"], ["A whisper"], ["A whisper"], ["B whisper"]),
        ["A hunt", "B hunt", "C inspect", "D protect"],
    ]


@pytest.mark.parametrize(("seats", "whispers"), [(VILLAGE, 0), ({**VILLAGE, "B": "v"}, 3)])
def test_there_are_no_whispers_where_the_config_has_none_or_a_werewolf_is_alone(seats: Any, whispers: int) -> None:
    assert not asked(play(seats=seats, whispers=whispers), "whisper")


@pytest.mark.parametrize(
    ("votes", "lot", "dead"),
    [
        ({"A": ["C"], "B": ["C"]}, [], "C"),
        ({"A": ["C"], "B": ["nobody"]}, [], "C"),
        ({"A": ["E"], "B": ["C"]}, ["C"], "C"),
        ({"A": ["E"], "B": ["C"]}, ["E"], "E"),
        ({"A": ["nobody"], "B": ["nobody"]}, [], None),
    ],
    ids=["agreed", "one abstains", "tie one way", "tie the other way", "both abstain"],
)
def test_most_of_the_werewolves_votes_kill_and_a_tie_is_broken_by_lot(
    votes: Any, lot: list[str], dead: str | None
) -> None:
    assert deaths(play({"hunt": votes}, chance={"hunt": lot}))[0] == ("night", dead)


def test_werewolves_hunt_no_werewolf() -> None:
    assert [request.targets for request in asked(play(), "hunt")] == [("C", "D", "E", "F", "G")] * 2


@pytest.mark.parametrize(("target", "werewolf"), [("A", True), ("B", True), ("D", False), ("E", False)])
def test_the_seer_learns_whether_a_player_is_a_werewolf(target: str, werewolf: bool) -> None:
    assert play({"inspect": {"C": [target]}}).events(Inspected) == [Inspected("C", target, werewolf)]


def test_the_seer_does_not_inspect_itself_and_learns_even_on_the_night_of_its_death() -> None:
    played = play({"inspect": {"C": ["A"]}, "hunt": each("AB", "C")})
    assert deaths(played)[0] == ("night", "C")
    assert heard(played, "C", Inspected) == [Inspected("C", "A", werewolf=True)]
    assert "C" not in asked(played, "inspect")[0].targets


@pytest.mark.parametrize(("protected", "dead"), [("C", None), ("D", "C"), ("nobody", "C")])
def test_a_player_whom_the_doctor_protects_lives(protected: str, dead: str | None) -> None:
    assert deaths(play({"hunt": each("AB", "C"), "protect": {"D": [protected]}}))[0] == ("night", dead)


def test_the_doctor_can_protect_itself() -> None:
    assert deaths(play({"hunt": each("AB", "D"), "protect": {"D": ["D"]}}))[0] == ("night", None)


def test_the_doctor_never_protects_the_same_player_twice_in_a_row() -> None:
    played = play({"protect": {"D": ["E", "F", "E"]}}, max_days=3)
    first, second, third = asked(played, "protect")
    assert ["E" in request.targets for request in (first, second, third)] == [True, False, True]
    with pytest.raises(IllegalDecision, match="target must be one of"):
        second.check(Named(thought="", target="E"))


def test_after_a_night_without_a_choice_the_doctor_can_protect_any_player() -> None:
    played = play({"protect": {"D": ["E", "nobody", "E"]}}, max_days=3)
    assert "E" in asked(played, "protect")[2].targets


def test_the_dead_do_nothing() -> None:
    played = play({"hunt": each("AB", "C")}, max_days=3)
    assert [ask for wave in kinds(played) for ask in wave if ask.startswith("C ")] == ["C inspect"]
    assert all("C" not in request.targets for request in asked(played, "vote"))


# day


def test_the_living_speak_one_by_one_in_a_drawn_order_and_then_vote_at_the_same_moment() -> None:
    played = play({"hunt": each("AB", "C")}, chance={"speeches": [list("GFEDBA")]})
    assert kinds(played)[3:9] == [[f"{player} speak"] for player in "GFEDBA"]
    assert kinds(played)[9:] == [[f"{player} vote" for player in "ABDEFG"]]


@pytest.mark.parametrize(
    ("votes", "hanged"),
    [
        ({"C": ["A"], "D": ["A"], "E": ["B"]}, "A"),
        ({"C": ["A"], "D": ["B"]}, None),
        ({"C": ["A"]}, "A"),
        ({}, None),
        ({"A": ["C"], "B": ["C"], "C": ["A"], "D": ["A"], "E": ["B"], "F": ["B"], "G": ["nobody"]}, None),
    ],
    ids=["most votes", "tie", "one vote", "no vote", "tie of three"],
)
def test_the_player_with_the_most_votes_hangs_and_in_a_tie_no_player(votes: Any, hanged: str | None) -> None:
    assert deaths(play({"vote": votes}))[1] == ("day", hanged)


def test_no_player_votes_for_itself() -> None:
    assert all(request.player not in request.targets for request in asked(play(), "vote"))


def test_all_learn_the_votes_of_the_day_and_what_a_dead_player_was() -> None:
    played = play({"hunt": each("AB", "C"), "vote": each("DEF", "A")})
    public = [told.event for told in played.log if told.to is Everyone]
    (voted,) = [event for event in public if isinstance(event, Voted)]
    assert voted.votes == {"A": "nobody", "B": "nobody", "D": "A", "E": "A", "F": "A", "G": "nobody"}
    headings = [f"{event.heading}: {event.content}" for event in public if not isinstance(event, Said | Voted)]
    assert headings[:2] == ["C was killed in the night: Role: seer.", "A is hanged: Role: werewolf."]


# the end


def test_the_village_wins_when_no_werewolf_lives() -> None:
    played = play({"vote": {player: ["A", "B"] for player in "CDE"}}, max_days=9)
    assert (winners(played), deaths(played)[-1]) == ("village", ("day", "B"))


def test_the_werewolves_win_as_soon_as_they_are_as_many_as_the_others() -> None:
    hunted = {"A": ["C", "E", "F"], "B": ["C", "E", "F"]}
    played = play({"hunt": hunted}, max_days=9)
    assert (winners(played), deaths(played)[-1]) == ("werewolves", ("night", "F"))
    assert kinds(played)[-1] == ["A hunt", "B hunt", "D protect"], "and no day follows"


def test_no_team_wins_when_the_days_are_over() -> None:
    played = play(max_days=3)
    assert (winners(played), played.outcome.reason) == (None, "No team won")
    assert {standing.rank for standing in played.outcome.standings} == {1}
    assert len(asked(played, "vote")) == 21


def test_a_team_shares_its_rank_the_dead_too_and_there_is_no_single_winner() -> None:
    played = play({"hunt": {"A": ["C"]}, "vote": {"D": ["A", "B"], "E": ["A", "B"]}}, max_days=9)
    ranks = {standing.player: standing.rank for standing in played.outcome.standings}
    assert ranks == {**dict.fromkeys("CDEFG", 1), **dict.fromkeys("AB", 6)}
    scores = {standing.player: dict(standing.score) for standing in played.outcome.standings}
    assert (scores["C"], scores["D"]) == ({"won": 1, "survived": 0}, {"won": 1, "survived": 1})
    assert played.outcome.winner is None


def test_all_roles_are_told_at_the_end() -> None:
    last = play().log[-1]
    assert last.to is Everyone
    assert isinstance(last.event, Unmasked)
    assert set(last.event.roles) == set(VILLAGE)
