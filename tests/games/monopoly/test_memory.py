"""What players remember: all of it is told in full until it stands in a summary, however much is said."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from agentsim import games
from agentsim.engine.event import Everyone, LoggedEvent
from agentsim.engine.simulate import simulate
from agentsim.games.monopoly.summarizing import Summarize, Summary, digested
from agentsim.games.monopoly.talk import EVERYBODY, MOST_SUMMED, THOUGHTS, Minutes, Spoke, Summarized, Thought
from agentsim.runs.forecast import wordy
from tests.games.monopoly.answers import ACCEPT, BUY, NO_TRADE, REJECT, manage, propose, side
from tests.games.monopoly.table import Game

MONOPOLY = games.find("monopoly")
PLAYERS = ["Shark", "Professor", "Hustler", "Turtle"]


class Table:
    """Talkative players, with words of their own at every decision, and a summarizer; what was said and where."""

    def __init__(self) -> None:
        self.said: list[tuple[str, int]] = []  # the first word of each speech, and its turn
        self.summed_up: list[str] = []
        self.lost: list[str] = []
        self.asked = 0

    def __call__(self, request: Any, rng: Any) -> Any:
        if isinstance(request, Summarize):
            self.summed_up += [told.said.split()[0] for told in request.told if told.said]
            return Summary(summary="Much was said.")
        self.asked += 1
        shown = [told.said.split()[0] for told in request.memory.told if told.said]
        known = {*shown, *self.summed_up}
        self.lost += [f"{word} of turn {turn} in {request.view.turn}" for word, turn in self.said if word not in known]
        self.said.append((f"word{len(self.said)}", request.view.turn))
        decision = MONOPOLY.bots[request.player.lower()](request, rng)
        return decision.model_copy(update={"public_speech": f"{self.said[-1][0]} {'and so on ' * 9}"})


@pytest.mark.parametrize("seed", range(20))
def test_nothing_falls_between_what_is_quoted_and_what_is_summed_up(seed: int) -> None:
    """At every question each speech of the game is quoted, or stood before the summarizer, once."""
    table, config = Table(), {"max_turns": 30, "auction_min_step": 10}
    played = simulate(MONOPOLY, config, PLAYERS, bot=table, seed=seed, staff=["summarizer"], check=False)
    assert table.asked > 80
    assert not table.lost
    spoken = [word for word in table.summed_up if word.startswith("word")]
    assert len(spoken) == len(set(spoken)) > 50
    summaries = played.events(Summarized)
    for one, following in pairwise(summaries):
        assert following.first in {one.last, one.last + 1}, "of a long turn each part is summed up by itself"


def minutes(chars: int = 300, turns: int = 3) -> Minutes:
    return Minutes(EVERYBODY, titles=[f"Turn {turn}: Ann" for turn in range(40)], turns=turns, chars=chars)


def say(to: Minutes, turn: int, words: str) -> None:
    to.hear(LoggedEvent(Spoke("A", "Ann", turn, words), Everyone, turn))


def test_quiet_turns_are_remembered_longer_than_talkative_ones() -> None:
    quiet, loud = minutes(), minutes()
    for turn in range(1, 9):
        say(quiet, turn, "no")
        say(loud, turn, "no " * 30)
        for each in (quiet, loud):
            while left := each.leaving():
                each.hear(LoggedEvent(Summarized(left[0].round, left[-1].round, "Much."), Everyone, turn))
    (older, newer) = (each.shown()[1][0].happened for each in (quiet, loud))
    assert (older, newer) == ("Turn 1, Ann:", "Turn 7, Ann:")


def test_no_more_than_so_many_turns_are_summed_up_at_once_and_half_of_the_room_is_freed() -> None:
    kept = minutes(chars=200, turns=3)
    for turn in range(1, 10):
        say(kept, turn, "no")
    assert [entry.round for entry in kept.leaving()] == [1, 2, 3]
    kept = minutes(chars=300)
    for turn in (1, 2, 3):
        say(kept, turn, "no " * 30)
    assert [entry.round for entry in kept.leaving()] == [1, 2]


def test_of_a_turn_that_is_too_long_the_older_part_is_summed_up() -> None:
    kept = minutes()
    for number in range(10):
        say(kept, 5, f"{number} " + "no " * 15)
    gone = kept.leaving()
    assert {entry.round for entry in gone} == {5}
    kept.hear(LoggedEvent(Summarized(5, 5, "Turn 5: Ann said no."), Everyone, 5))
    earlier, told = kept.shown()
    assert earlier == ("Turn 5: Ann said no.",)
    assert told[0].happened == "Turn 5, Ann:"
    assert len(told) - 1 + len(gone) == 10


def test_an_auction_that_never_ends_outgrows_no_prompt() -> None:
    """Two who raise each other by a dollar, and say as much as they may."""
    sizes = []

    def bidder(request: Any, rng: Any) -> Any:
        sizes.append(sum(told.size for told in request.memory.told))
        decision = MONOPOLY.bots["random"](request, rng)
        if request.kind == "auction_bid":
            decision = type(decision).model_validate({"action": {"bid": request.lot.least % 200}})
        return wordy(
            request, decision.model_copy(update={"action": "auction"} if request.kind == "buy_or_auction" else {})
        )

    simulate(MONOPOLY, {"max_turns": 2, "proposals_per_phase": 0}, ["A", "B"], bot=bidder, seed=2)
    assert len(sizes) > 150
    assert max(sizes) < 3400


def test_what_happened_on_the_board_is_told_in_one_line_each() -> None:
    game = Game(A="$900 1 3", B="$2000 6 8 9", chance="C15")
    game.table.rounds[1], game.table.latest = "Turn 1: A", {"A": 1}
    game.turn((3, 4), A=[propose("B", side(cash=5), side(6)), manage(build=[1, 3, 1, 3]), NO_TRADE], B=[REJECT])
    lines = [told.line for told in game.match.memory(1).told]
    assert lines == [
        "Turn 1, A:",
        'A offers B $5 for Oriental Avenue: "A fair one."',
        "B rejects it",
        "A builds up to: Mediterranean Avenue 2 houses, Baltic Avenue 2 houses",
        "A draws: Elected to the chair: pay every player $50.",
    ]


def test_a_summary_takes_the_place_of_what_it_sums_up_and_the_oldest_go_where_there_is_no_room() -> None:
    kept = minutes()
    for turn in range(1, 30):
        say(kept, turn, "no " * 40)
        while kept.leaving():
            kept.hear(LoggedEvent(Summarized(turn, turn, f"Turn {turn}: " + "x" * 250), Everyone, turn))
    earlier, _ = kept.shown()
    assert sum(map(len, earlier)) <= MOST_SUMMED
    assert len(earlier) == 3


def test_the_digest_names_what_changed_hands_and_who_refused_whom() -> None:
    game = Game(A="$900 1", B="$900 3 39")
    offer = propose("B", side(cash=50), side(3))
    game.turn((1, 5), A=[offer, offer, manage(build=[1]), BUY], B=[REJECT, ACCEPT])
    done = "A gave B $50 for Baltic Avenue; A bought Oriental Avenue; A built 1 on brown; B rejected 1 offer of A's."
    assert digested("Turn 1", [entry.event for entry in game.table.log]) == f"Turn 1: {done}"


def test_the_latest_thoughts_are_kept_as_far_as_there_is_room() -> None:
    game = Game(A="3")
    for number in range(6):
        game.match.tell(Thought("A", "A", 1, f"{number}" * 300), to=("A",), by=0)
    thoughts = game.match.memory(0).thoughts
    assert [thought.text[0] for thought in thoughts] == ["2", "3", "4", "5"]
    assert sum(len(thought.text) for thought in thoughts) <= (THOUGHTS.chars or 0)
    assert game.match.memory(1).thoughts == ()
