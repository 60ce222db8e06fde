"""What players remember: ten turns of talk word for word however much is said, ten turns of offers, all summaries."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from agentsim import games
from agentsim.engine.event import Everyone, LoggedEvent
from agentsim.engine.simulate import Simulation, simulate
from agentsim.engine.wording import Restated
from agentsim.games.monopoly.question import MonopolyRequest, TradeRequest
from agentsim.games.monopoly.summarizing import Summarize, Summary, digested
from agentsim.games.monopoly.talk import ASIDE_CHARS, ASIDES, EVERYBODY, Minutes, Spoke, Summarized, Thought
from agentsim.games.monopoly.trade import AnswerTrade, React, TradeAccepted, TradeProposed, TradeRejected
from tests.amounts import one_in
from tests.games.monopoly.answers import ACCEPT, BUY, NO_TRADE, REJECT, manage, offers, propose, side
from tests.games.monopoly.table import Game

MONOPOLY = games.find("monopoly")
PLAYERS = ["Shark", "Professor", "Hustler", "Turtle"]
TURNS = 10


@cache
def talked(words: int, turns: int = 60, seed: int = 3, **config: Any) -> Simulation:
    """A game of the four personalities, who say so many words of their own at every decision, and a summarizer."""
    said = 0

    def bot(request: Any, rng: Any) -> Any:
        nonlocal said
        if isinstance(request, Summarize):
            return Summary(summary=f"Much was said in {request.turns.lower()}.")
        said += 1
        decision = MONOPOLY.bots[request.player.lower()](request, rng)
        return decision.model_copy(update={"public_speech": f"speech{said}: " + "word " * (words - 1)})

    config = {"max_turns": turns, "auction_min_step": 10, "questions": "separate", **config}
    return simulate(MONOPOLY, config, PLAYERS, bot=bot, seed=seed, staff=["summarizer"])


def asked(played: Simulation) -> list[tuple[MonopolyRequest[Any], list[LoggedEvent]]]:
    """Every request to a player, with the words, offers, answers and summaries that had been told before it."""
    kinds = (Spoke, TradeProposed, TradeAccepted, TradeRejected, Summarized)
    log = [entry for entry in played.log if isinstance(entry.event, kinds)]
    found = []
    for ask in played.asks():
        request = ask.request
        if isinstance(request, MonopolyRequest):
            upto = [each for each in log if (each.decision or 0) < ask.index and each.round <= request.view.turn]
            found.append((request, upto))
    return found


def recent(request: MonopolyRequest[Any], told: Sequence[LoggedEvent]) -> list[LoggedEvent]:
    return [entry for entry in told if entry.round >= request.view.turn - TURNS]


# -- the talk of the last ten turns


@pytest.mark.parametrize("words", [8, 22, 30])
@one_in(3)
def test_the_talk_of_the_last_ten_turns_stands_word_for_word_however_much_is_said(words: int) -> None:
    found = asked(talked(words))
    assert len(found) > 200
    for request, told in found:
        text = "\n".join(request.prompt().history)
        for entry in recent(request, told):
            event = entry.event
            if isinstance(event, Spoke):
                kept_short = event.asked in ASIDES and entry.round < request.view.turn
                assert (event.text[: ASIDE_CHARS - 10] if kept_short else event.text) in text
            elif isinstance(event, TradeProposed):
                assert event.pitch in text


def test_from_ten_to_nineteen_turns_before_the_current_one_stand_and_ten_leave_at_a_time() -> None:
    played = talked(22)
    for request, _ in asked(played):
        now, titles = request.view.turn, [told.happened for told in request.memory.told if told.happened[:5] == "Turn "]
        before = sorted({int(title.split()[1].strip(",")) for title in titles} - {now})
        assert before == list(range(before[0], now)) if before else now == 1
        assert len(before) == now - 1 if now <= 2 * TURNS else TURNS <= len(before) <= 2 * TURNS - 1
    assert [(each.first, each.last) for each in played.events(Summarized)] == [(1, 10), (11, 20), (21, 30), (31, 40)]


def test_words_with_a_bid_or_a_purchase_are_kept_to_80_characters_once_the_turn_is_over() -> None:
    whole = short = 0
    for request, told in asked(talked(22)):
        shown = {line.said for line in request.memory.told}
        for entry in recent(request, told):
            if isinstance(entry.event, Spoke) and entry.event.asked in {"auction_bid", "buy_or_auction"}:
                if entry.round == request.view.turn:
                    whole += 1
                    assert entry.event.text in shown
                else:
                    short += 1
                    assert entry.event.text not in shown
                    assert len([line for line in shown if line and line.startswith(entry.event.text[:60])]) == 1
        assert all(len(line) <= ASIDE_CHARS for line in shown if line and line.endswith("[cut]"))
    assert min(whole, short) > 100


def test_a_person_at_the_table_does_not_read_again_what_is_kept_short() -> None:
    kept = minutes()
    say(kept, 1, "no " * 40, asked="auction_bid")
    whole, short = (kept.shown(now)[1][-1].line for now in (1, 2))
    assert not isinstance(whole, Restated)
    assert isinstance(short, Restated)
    assert len(short) < len(whole)


def minutes(chars: int = 24_000, turns: int = 3) -> Minutes:
    return Minutes(EVERYBODY, titles=[f"Turn {turn}: Ann" for turn in range(80)], turns=turns, chars=chars)


def say(to: Minutes, turn: int, words: str, asked: str = "phase_action") -> None:
    to.hear(LoggedEvent(Spoke("A", "Ann", turn, words, asked), Everyone, turn))


def test_where_there_is_more_than_talk_chars_words_before_those_turns_are_kept_short_the_oldest_first() -> None:
    room = minutes(chars=1500)
    for turn in range(1, 7):
        say(room, turn, f"{turn} {'no ' * 99}".strip())
    told = [line for line in room.shown(6)[1] if line.said]
    assert [len(line.said or "") <= ASIDE_CHARS for line in told] == [True, False, False, False, False, False]
    tight = minutes(chars=200)
    for turn in range(1, 7):
        say(tight, turn, f"{turn} {'no ' * 99}".strip())
    assert [len(line.said or "") for line in tight.shown(6)[1] if line.said][2:] == [298] * 4, "never the last three"


@pytest.mark.parametrize("talk_chars", [200, 24_000])
def test_no_room_is_too_small_for_the_last_ten_turns(talk_chars: int) -> None:
    for request, told in asked(talked(30, talk_chars=talk_chars)):
        said = {line.said for line in request.memory.told}
        spoken = [entry.event for entry in recent(request, told) if isinstance(entry.event, Spoke)]
        assert {event.text for event in spoken if event.asked not in ASIDES} <= said


# -- older turns, in summaries


@pytest.mark.slow
def test_all_summaries_stay_one_for_each_ten_turns() -> None:
    played = talked(14, turns=230)
    told = played.events(Summarized)
    assert [each.last for each in told] == list(range(10, 10 * len(told) + 1, 10))
    for request, _ in asked(played):
        assert len(request.memory.earlier) == max(0, (request.view.turn - 1) // TURNS - 1)
        assert list(request.memory.earlier) == [each.text for each in told[: len(request.memory.earlier)]]
        assert all(summary in request.prompt().text() for summary in request.memory.earlier)


@pytest.mark.parametrize("seed", range(6))
def test_nothing_falls_between_what_is_quoted_and_what_is_summed_up(seed: int) -> None:
    """At every question each speech of the game is quoted, or stood before the summarizer, once."""
    played = talked(10, turns=50, seed=seed)
    summed_up = [
        told.said.split()[0]
        for ask in played.asks()
        if isinstance(ask.request, Summarize)
        for told in ask.request.told
        if told.said
    ]
    for request, told in asked(played):
        known = {*summed_up, *(line.said.split()[0] for line in request.memory.told if line.said)}
        assert {entry.event.text.split()[0] for entry in told if isinstance(entry.event, Spoke)} <= known
    spoken = [word for word in summed_up if word.startswith("speech")]
    assert len(spoken) == len(set(spoken)) > 50
    for one, following in pairwise(played.events(Summarized)):
        assert following.first == one.last + 1


# -- the offers of the last ten turns


def test_every_question_of_a_phase_and_of_a_trade_lists_the_offers_of_the_last_ten_turns_with_their_answers() -> None:
    listed = 0
    for request, told in asked(talked(22)):
        if not isinstance(request, TradeRequest):
            continue
        answers = {e.event.number: e.event for e in told if isinstance(e.event, TradeAccepted | TradeRejected)}
        wanted = [
            f"- turn {entry.round}, {event.proposer_name} to {event.target_name}: {event.offer} for {event.request}; "
            f"{'accepted' if answers[event.number].accepted else 'rejected'}"
            for entry in recent(request, told)
            if isinstance(event := entry.event, TradeProposed) and event.number in answers
        ]
        state = list(request.prompt().state)
        place = state.index(
            f"Trades proposed since turn {max(1, request.view.turn - TURNS)}{':' if wanted else ': none.'}"
        )
        assert state[place + 1 : place + 1 + len(wanted)] == wanted
        assert len(request.offers) == len(wanted)
        listed += len(wanted)
    assert listed > 500


def test_which_questions_list_offers() -> None:
    trading = {kind.kind for kind in MONOPOLY.requests if issubclass(kind, TradeRequest)}
    assert trading == {"phase_action", "propose_trade", "manage_estate", "answer_trade", "react", "raise_cash"}


def test_an_offer_is_listed_once_it_is_answered() -> None:
    game = Game("AB", A="1 5", B="3", together=True)
    game.turn((4, 6), A=[offers("B", side(1), side(3)), offers("B", side(5), side(3))], B=[REJECT, ACCEPT])
    first, second = game.requests(AnswerTrade)
    assert first.offers == ()
    assert [offer.line for offer in second.offers] == [
        "- turn 1, A to B: Mediterranean Avenue for Baltic Avenue; rejected"
    ]
    (thanks,) = game.requests(React)
    assert [offer.accepted for offer in thanks.offers] == [False, True]


# -- in a line


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


def test_the_digest_names_what_changed_hands_and_who_refused_whom() -> None:
    game = Game(A="$900 1", B="$900 3 39")
    offer = propose("B", side(cash=50), side(3))
    game.turn((1, 5), A=[offer, offer, manage(build=[1]), BUY], B=[REJECT, ACCEPT])
    done = "A gave B $50 for Baltic Avenue; A bought Oriental Avenue; A built 1 on brown; B rejected 1 offer of A's."
    assert digested("Turn 1", [entry.event for entry in game.table.log]) == f"Turn 1: {done}"


def test_the_last_five_thoughts_stand_whole_at_600_characters_each() -> None:
    game = Game(A="3")
    for number in range(6):
        game.match.tell(Thought("A", "A", 1, f"{number}" * 600), to=("A",), by=0)
    thoughts = game.match.memory(0).thoughts
    assert [thought.text for thought in thoughts] == [f"{number}" * 600 for number in range(1, 6)]
    assert game.match.memory(1).thoughts == ()


def test_a_memory_that_is_read_when_the_game_is_over_is_that_of_its_question() -> None:
    def reading(request: Any, rng: Any) -> Any:
        assert request.memory == request.memory, "reading it makes it"
        return MONOPOLY.bots[request.player.lower()](request, rng)

    def silent(request: Any, rng: Any) -> Any:
        return MONOPOLY.bots[request.player.lower()](request, rng)

    read, later = (simulate(MONOPOLY, {"max_turns": 30}, PLAYERS, bot=bot, seed=3).asks() for bot in (reading, silent))
    assert len(read) == len(later) > 100
    assert any(ask.request.to_json()["memory"]["told"] for ask in read)
    for one, other in reversed(list(zip(read, later, strict=True))):
        assert one.request.to_json() == other.request.to_json()
