"""The bots, and what holds in every game that they play."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.event import Everyone
from agentsim.engine.simulate import Simulation, simulate
from agentsim.games.werewolf import GAME
from agentsim.games.werewolf.words import Died, Protected, Said, Unmasked, Voted
from tests.amounts import examples
from tests.games.werewolf.village import asked, deaths, play, winners


def test_a_candid_seer_tells_what_it_has_seen_and_the_village_follows() -> None:
    played = play(
        {"inspect": {"C": ["A"]}, "hunt": {"A": ["E"], "B": ["E"]}, "protect": {"D": ["F"]}},
        bot="candid",
        chance={"speeches": [list("CABDFG")]},
    )
    (claim,) = [said for said in played.events(Said) if said.seen]
    assert (claim.speaker, claim.seen, claim.werewolf) == ("C", "A", True)
    votes = played.events(Voted)[-1].votes
    assert [votes[player] for player in "CDFG"] == ["A"] * 4
    assert deaths(played)[1] == ("day", "A")


@pytest.mark.parametrize("seed", range(10))
def test_candid_werewolves_never_vote_for_werewolves_and_pass_for_villagers(seed: int) -> None:
    played = simulate(GAME, {"max_days": 9}, list("ABCDEFGH"), bot="candid", seed=seed)
    roles = played.events(Unmasked)[0].roles
    pack = {player for player, role in roles.items() if role == "werewolf"}
    assert all(voted.votes[wolf] not in pack for voted in played.events(Voted) for wolf in pack & set(voted.votes))
    assert {said.claim for said in played.events(Said) if not said.pack and said.speaker in pack} == {"villager"}


def test_candid_werewolves_hunt_and_the_candid_doctor_protects_who_claims_to_be_the_seer() -> None:
    played = play({"inspect": {"C": ["E"]}, "hunt": {"A": ["F"], "B": ["F"]}}, bot="candid", max_days=2)
    assert played.events(Voted)[2].votes == {"A": "C", "B": "C"}
    assert deaths(played)[2] == ("night", None)


games = st.builds(
    lambda players, seed, bot, **config: (players, seed, bot, config),
    st.integers(7, 12),
    st.integers(0, 10**6),
    st.sampled_from(["random", "candid"]),
    werewolves=st.integers(1, 3),
    seer=st.booleans(),
    doctor=st.booleans(),
    whispers=st.integers(0, 2),
    speeches=st.integers(0, 2),
    max_days=st.integers(1, 5),
)


@given(games)
@examples(30)
def test_in_every_game_the_dead_stay_dead_and_the_end_follows_from_who_lives(game: tuple[int, int, str, Any]) -> None:
    players, seed, bot, config = game
    names = [f"P{number}" for number in range(players)]
    played: Simulation = simulate(GAME, config, names, bot=bot, seed=seed)
    roles = played.events(Unmasked)[0].roles
    living, protected, last = set(names), None, ""
    for told in played.log:
        event = told.event
        match event:
            case Died():
                assert event.victim is None or event.role == roles[event.victim]
                assert event.at == "day" or event.victim is None or event.victim != protected
                assert {event.victim} <= {None, *living}
                living.discard(event.victim or "")
                protected = None
            case Protected():
                assert event.target == "nobody" or event.target != last
                protected = last = event.target
            case Said() if not event.pack:
                assert event.speaker in living
            case Voted():
                assert set(event.votes) == {p for p in living if event.at == "day" or roles[p] == "werewolf"}
                assert {*event.votes.values()} <= {*living, "nobody"}
                assert (told.to is Everyone) == (event.at == "day")
    wolves = sum(roles[player] == "werewolf" for player in living)
    expected = "village" if not wolves else "werewolves" if 2 * wolves >= len(living) else None
    assert winners(played) == expected
    first = {standing.player for standing in played.outcome.standings if standing.rank == 1}
    team = {player for player in names if (roles[player] == "werewolf") == (expected == "werewolves")}
    assert first == (set(names) if expected is None else team)


def test_a_whisper_can_be_plain_prose() -> None:
    (request, *_) = asked(play(), "whisper")
    assert request.parse("We eat E.").decision.text == "We eat E."
