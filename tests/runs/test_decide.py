"""One decision: the replies that become decisions, re-asks and their prompts, and fallbacks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import pytest

from agentsim.engine import Choice, Options
from agentsim.engine.decision import Decision
from agentsim.engine.request import Ask, Request
from agentsim.engine.wording import Prompt
from agentsim.errors import (
    AgentsimError,
    BudgetReached,
    ModelError,
    ProviderRejected,
    ProviderStopped,
    RateLimited,
    RequestRefused,
    TransportFailed,
)
from agentsim.models.base import MOST_TEXT, Attempt, Call, Completion, Message, Sampling, Usage
from agentsim.models.pacing import RetryPolicy
from agentsim.players.base import Player, ReaskPolicy
from agentsim.players.human import HumanPlayer
from agentsim.players.model import ModelPlayer
from agentsim.players.terminal import Terminal
from agentsim.runs.decide import DecisionResult, decision_record_of, reach_decision

GOOD, UNREADABLE, ILLEGAL = '{"pick": "left"}', "Well, left or right?", '{"pick": "up"}'
AMBIGUOUS = '{"pick": "left", "pick": "right"}'
TWO = 'The reply says "left" and "right" for pick. Decide for exactly one.'
FORM = 'Answer only: {"pick": "<left or right>"}'


class Picked(Decision):
    pick: str


class Pick(Request[Picked]):
    """Left or right?"""

    def options(self) -> Options:
        return {"pick": Choice(("left", "right"))}

    def prompt(self) -> Prompt:
        return Prompt(rules=("Pick a side.",), history=("Nothing yet.",), state=(), question=("Left or right?",))

    def fallback(self) -> Picked:
        return Picked(pick="right")


ASK = Ask(index=7, wave=4, place=2, nth=1, request=Pick(player="A"))
POLICY = RetryPolicy(retries=1, max_attempts=3, retry_wait_s=0.0, rate_limit_wait_s=0.0)
REASKING = ReaskPolicy()
Said: TypeAlias = "str | Completion | AgentsimError | asyncio.CancelledError"


class NoModel:
    """A model that must not be called, since the test's own `call` stands in for it."""

    name = provider = "fake/none"
    limiter = None

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        raise AssertionError("only the attempt calls a model")

    async def aclose(self) -> None:
        pass


@dataclass
class ScriptedCalls:
    """The attempts of one decision: `says` are replies or errors; the other fields record calls and attempts."""

    says: Sequence[Said]
    attempts: RetryPolicy = POLICY
    reasking: ReaskPolicy = REASKING
    asked: list[tuple[Message, ...]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    kept: list[Attempt] = field(default_factory=list)
    kept_before: list[int] = field(default_factory=list)
    ask: Ask = ASK

    def reach_decision(self, earlier: Sequence[Attempt] = (), player: Player | None = None) -> DecisionResult:
        self._said = iter(self.says)
        seat = player or ModelPlayer(NoModel(), Sampling(), "Be brief.", self.attempts, self.reasking)
        self.order: Sequence[int] = range(len(seat.chain))
        result = asyncio.run(reach_decision(self.ask, seat, self, earlier))
        assert next(self._said, None) is None, "an answer was never asked for"
        return result

    async def call(self, messages: tuple[Message, ...], number: int, link: int) -> Completion:
        self.asked.append(messages)
        self.numbers.append(number)
        self.kept_before.append(len(self.kept))
        answer = next(self._said)
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, Completion) else Completion(answer, finish_reason="stop")

    def failed(self, attempt: Attempt, error: ModelError, model_index: int) -> None:
        pass

    def journal_attempt(self, attempt: Attempt) -> None:
        self.kept.append(attempt)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass
class PatientCourt(ScriptedCalls):
    """A calls that records the waits between attempts in place of waiting."""

    rested: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.rested.append(seconds)


def timeout() -> TransportFailed:
    return TransportFailed("fake/none: no answer", code="timeout")


def bad_attempt(reply: str = UNREADABLE) -> Attempt:
    return Attempt(
        (Message("system", ("Pick a side.",)),), "unreadable", "whatever it said then", completion=Completion(reply)
    )


def codes(result: DecisionResult) -> list[str | None]:
    return [attempt.code for attempt in result.attempts]


def test_a_good_reply_is_the_decision() -> None:
    calls = ScriptedCalls([GOOD])
    result = calls.reach_decision()
    assert (result.decision, result.source, result.fallback_reason) == (Picked(pick="left"), "model", None)
    assert codes(result) == [None]
    assert [message.role for message in calls.asked[0]] == ["system", "user"]
    assert calls.kept == [], "the decision itself is kept by whoever asked for it"
    entry = decision_record_of(ASK, result)
    assert (entry.index, entry.wave, entry.place, entry.player, entry.kind) == (7, 4, 2, "A", "pick")
    assert entry.decision == {"pick": "left"}
    assert entry.fingerprint == ASK.request.fingerprint
    assert entry.parse is not None
    assert (entry.parse.stage, entry.parse.candidates, entry.parse.repaired) == ("json", 1, False)


BAD = [
    pytest.param(UNREADABLE, "unreadable", "There is no decision in the reply.", id="prose"),
    pytest.param("", "empty", "The reply is empty.", id="empty"),
    pytest.param('{"side": "left"}', "unreadable", "The JSON object lacks pick.", id="other key"),
    pytest.param('{"pick": "left', "unreadable", "There is no complete JSON object in the reply.", id="cut off"),
    pytest.param("pick: left\npick: right", "ambiguous", TWO, id="two answers"),
    pytest.param(AMBIGUOUS, "ambiguous", "The key 'pick' stands twice with different values.", id="two values"),
    pytest.param(ILLEGAL, "illegal", "'up' cannot be chosen.", id="no option"),
]


@pytest.mark.parametrize(("reply", "code", "reason"), BAD)
def test_a_bad_reply_is_put_to_the_player_once_with_the_reason(reply: str, code: str, reason: str) -> None:
    calls = ScriptedCalls([reply, GOOD])
    result = calls.reach_decision()
    first, second = calls.asked
    assert second[: len(first)] == first, "what a provider has cached stays as it was"
    assert [message.role for message in second[len(first) :]] == ["assistant", "user"]
    assert second[-2].text == (reply or "(empty)")
    assert second[-1].text == f"That reply could not be used. {reason} {FORM}"
    assert (result.decision, result.source, result.fallback_reason) == (Picked(pick="left"), "model", None)
    assert codes(result) == [code, None]
    assert [attempt.error for attempt in result.attempts] == [reason, None]


@pytest.mark.parametrize(("reply", "code", "reason"), BAD)
def test_a_second_bad_reply_ends_in_the_fallback_with_its_reason(reply: str, code: str, reason: str) -> None:
    result = ScriptedCalls([UNREADABLE, reply]).reach_decision()
    assert (result.decision, result.source, result.fallback_reason) == (Picked(pick="right"), "fallback", code)
    assert codes(result) == ["unreadable", code]
    assert result.reading is None


@pytest.mark.parametrize(
    "thinking",
    [
        Completion("", "So, left: " + GOOD, "stop"),
        Completion("", finish_reason="length"),
        Completion(f"<think>{GOOD}", finish_reason="length"),
        Completion(" ", finish_reason="stop", usage=Usage(reasoning_tokens=9)),
    ],
)
def test_a_decision_is_never_read_from_thinking(thinking: Completion) -> None:
    calls = ScriptedCalls([thinking, thinking])
    result = calls.reach_decision()
    assert (result.source, result.fallback_reason) == ("fallback", "empty_reasoning")
    assert codes(result) == ["empty_reasoning"] * 2
    assert "think less" in calls.asked[1][-1].text


def test_a_reply_of_which_only_a_part_was_kept_is_no_decision() -> None:
    result = ScriptedCalls([Completion(GOOD + "x" * MOST_TEXT), GOOD]).reach_decision()
    assert codes(result) == ["unreadable", None]
    assert "longer than 65,536 bytes" in str(result.attempts[0].error)


@pytest.mark.parametrize("code", ["refusal", "content_filter"])
def test_a_refusal_is_final_and_keeps_what_was_said(code: str) -> None:
    refused = Completion(GOOD, refusal=code)
    result = ScriptedCalls([refused]).reach_decision()
    assert (result.source, result.fallback_reason) == ("fallback", code)
    assert [attempt.completion for attempt in result.attempts] == [refused]
    again = ScriptedCalls([]).reach_decision(earlier=result.attempts)
    assert (again.source, again.fallback_reason, again.attempts) == ("fallback", code, result.attempts)


@pytest.mark.parametrize(
    ("on", "reply", "code"),
    [
        ({"ambiguous", "illegal"}, UNREADABLE, "unreadable"),
        ({"unreadable", "illegal"}, AMBIGUOUS, "ambiguous"),
        ({"unreadable", "ambiguous"}, ILLEGAL, "illegal"),
    ],
    ids=["unreadable", "ambiguous", "illegal"],
)
def test_a_kind_of_bad_reply_that_reask_on_leaves_out_falls_back_at_once(on: set[str], reply: str, code: str) -> None:
    result = ScriptedCalls([reply], reasking=ReaskPolicy(on=frozenset(on))).reach_decision()
    assert (result.source, result.fallback_reason) == ("fallback", code)


@pytest.mark.parametrize("how", ["reason", "same"])
@pytest.mark.parametrize("reasks", [0, 1, 2, 4])
def test_as_many_reasks_as_the_policy_says(reasks: int, how: Literal["reason", "same"]) -> None:
    calls = ScriptedCalls(
        [UNREADABLE] * (reasks + 1), RetryPolicy(max_attempts=9, retry_wait_s=0), ReaskPolicy(reasks, how=how)
    )
    assert calls.reach_decision().fallback_reason == "unreadable"
    more = 2 * reasks if how == "reason" else 0
    assert len(calls.asked[-1]) == 2 + more, "every complaint follows the reply it is about, or the prompt is the same"


@pytest.mark.parametrize(("reply", "told"), [('{"pick": "le', True), (ILLEGAL, False)], ids=["unreadable", "illegal"])
def test_only_what_cannot_be_read_is_blamed_on_the_length(reply: str, told: bool) -> None:
    calls = ScriptedCalls([Completion(reply, finish_reason="length"), GOOD])
    assert calls.reach_decision().source == "model"
    assert ("cut off at its longest allowed length: be shorter." in calls.asked[1][-1].text) is told


def test_a_whole_decision_in_a_reply_that_was_cut_off_counts() -> None:
    result = ScriptedCalls([Completion(f"{GOOD}\nReason: because I have al", finish_reason="length")]).reach_decision()
    assert (result.source, result.decision) == ("model", Picked(pick="left"))


def test_a_long_bad_reply_is_quoted_in_part() -> None:
    calls = ScriptedCalls(["x" * 50_000, GOOD])
    calls.reach_decision()
    assert calls.asked[1][-2].text == "x" * 4_000


@pytest.mark.parametrize("then", [GOOD, timeout()], ids=["answered", "failed again"])
def test_a_transport_fault_is_tried_again_with_the_same_prompt_as_often_as_retries_say(then: Said) -> None:
    calls = ScriptedCalls([timeout(), then])
    result = calls.reach_decision()
    assert calls.asked[0] == calls.asked[1]
    assert calls.numbers == [1, 2]
    ended = ("model", None, ["timeout", None]) if then == GOOD else ("fallback", "timeout", ["timeout", "timeout"])
    assert (result.source, result.fallback_reason, codes(result)) == ended


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        ([timeout(), UNREADABLE, UNREADABLE], "unreadable"),
        ([UNREADABLE, timeout(), UNREADABLE], "unreadable"),
        ([UNREADABLE, UNREADABLE, timeout()], "timeout"),
    ],
    ids=["fault first", "fault between", "fault last"],
)
def test_max_attempts_counts_retries_and_reasks_together(says: list[Said], reason: str) -> None:
    policy = RetryPolicy(retries=5, max_attempts=3, retry_wait_s=0.0)
    result = ScriptedCalls(says, policy, ReaskPolicy(5)).reach_decision()
    assert result.fallback_reason == reason
    assert len(result.attempts) == 3


def test_a_rate_limit_is_a_wait_and_no_attempt() -> None:
    limited = RateLimited("slow down", retry_after=0.0)
    policy = RetryPolicy(retries=0, max_attempts=1, rate_limit_patience_s=300)
    result = ScriptedCalls([limited, limited, limited, GOOD], policy).reach_decision()
    assert (result.source, codes(result)) == ("model", ["rate_limited"] * 3 + [None])


def test_a_rate_limit_beyond_all_patience_ends_in_the_fallback() -> None:
    policy = RetryPolicy(rate_limit_patience_s=5)
    result = ScriptedCalls([RateLimited("come back tomorrow", retry_after=86_400)], policy).reach_decision()
    assert (result.source, result.fallback_reason) == ("fallback", "rate_limited")


@pytest.mark.parametrize(
    "error",
    [
        ProviderRejected("no such key", code="bad_key", status=401),
        ProviderStopped("gone"),
        BudgetReached("no more"),
        AgentsimError("no space left"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("before", [[], [UNREADABLE]], ids=["at first", "after a bad reply"])
def test_what_must_stop_the_run_goes_through(error: AgentsimError, before: list[Said]) -> None:
    with pytest.raises(type(error)) as caught:
        ScriptedCalls([*before, error]).reach_decision()
    assert caught.value is error


def test_cancelling_goes_through() -> None:
    with pytest.raises(asyncio.CancelledError):
        ScriptedCalls([asyncio.CancelledError()]).reach_decision()


def test_tries_are_kept_before_the_next_question_in_order_and_once() -> None:
    policy = RetryPolicy(retries=9, max_attempts=9, retry_wait_s=0.0)
    calls = ScriptedCalls([timeout(), UNREADABLE, timeout(), ILLEGAL, GOOD], policy, ReaskPolicy(5))
    result = calls.reach_decision()
    assert [attempt.code for attempt in calls.kept] == ["timeout", "unreadable", "timeout", "illegal"]
    assert calls.kept_before == [0, 1, 2, 3, 4], "on disk before the next call is made"
    assert calls.kept == list(result.attempts[:-1])


@pytest.mark.parametrize(
    "last",
    [UNREADABLE, Completion("", refusal="refusal"), RequestRefused("no", code="moderation"), RateLimited("slow down")],
    ids=["unreadable", "refusal", "moderation", "rate limited"],
)
def test_a_last_bad_try_is_kept_before_the_fallback_which_may_have_to_wait_for_others(last: Said) -> None:
    policy = RetryPolicy(rate_limit_wait_s=9.0, rate_limit_patience_s=1.0)
    calls = ScriptedCalls([UNREADABLE, last], policy)
    result = calls.reach_decision()
    assert calls.kept == list(result.attempts)
    again = ScriptedCalls([], policy).reach_decision(earlier=calls.kept)
    assert again == result, "and nobody is asked again"


def test_a_bad_try_of_an_earlier_process_is_not_made_again_and_its_complaint_is_in_the_next_prompt() -> None:
    fresh = ScriptedCalls([UNREADABLE, GOOD])
    fresh.reach_decision()
    calls = ScriptedCalls([GOOD])
    result = calls.reach_decision(earlier=fresh.kept)
    assert calls.asked == [fresh.asked[1]], "the prompt is the one an undisturbed process would have sent"
    assert calls.numbers == [2]
    assert codes(result) == ["unreadable", None]
    assert calls.kept == [], "what is on disk is not written twice"


def test_tries_of_an_earlier_process_count() -> None:
    calls = ScriptedCalls([])
    result = calls.reach_decision(earlier=[bad_attempt(), bad_attempt(ILLEGAL)])
    assert (result.source, result.fallback_reason) == ("fallback", "illegal")
    assert codes(result) == ["unreadable", "illegal"]
    faults = [Attempt((), "timeout", "no answer"), bad_attempt()]
    assert codes(ScriptedCalls([GOOD], RetryPolicy(retries=1, max_attempts=3)).reach_decision(faults)) == [
        "timeout",
        "unreadable",
        None,
    ]
    limited = ScriptedCalls([GOOD], RetryPolicy(max_attempts=2, retry_wait_s=0.0))
    assert limited.reach_decision([Attempt((), "rate_limited", "slow down"), bad_attempt()]).source == "model"
    spent = ScriptedCalls([timeout()], RetryPolicy(retries=1, max_attempts=9, retry_wait_s=0.0))
    assert spent.reach_decision(faults).fallback_reason == "timeout", "the only retry was used before"


def test_a_model_that_took_over_in_an_earlier_process_has_attempts_of_its_own() -> None:
    """The failed call before the takeover may be missing: it was void if the provider had stopped the run."""

    class Other(NoModel):
        name = provider = "fake/other"

    reasking = ReaskPolicy(reasks=9)
    backup = ModelPlayer(Other(), Sampling(), "", POLICY, reasking)
    seat = ModelPlayer(NoModel(), Sampling(), "", POLICY, reasking, backup=backup)
    earlier = [replace(bad_attempt(), model=name) for name in ("fake/none", "fake/none", "fake/other", "fake/other")]
    result = ScriptedCalls([GOOD]).reach_decision(earlier, seat)
    assert codes(result) == ["unreadable"] * 4 + [None], "the other one had one of three left"


def test_a_person_is_asked_again_without_end() -> None:
    calls = ScriptedCalls([ILLEGAL] * 50 + [GOOD])
    result = calls.reach_decision(player=HumanPlayer(Terminal()))
    assert (result.source, result.decision, len(result.attempts)) == ("human", Picked(pick="left"), 51)
    assert len(set(calls.asked)) == 1, "complaints are shown to a person, not recorded as messages"


def test_a_fallback_that_the_rules_do_not_allow_is_our_mistake() -> None:
    class Broken(Pick):
        def options(self) -> Options:
            return {"pick": Choice(("left",))}

    ask = Ask(index=1, wave=1, place=0, nth=1, request=Broken(player="A"))
    with pytest.raises(AgentsimError, match="pick must be one of: left"):
        ScriptedCalls([RequestRefused("no", code="refusal")], ask=ask).reach_decision()


@pytest.mark.parametrize("bad", [UNREADABLE, timeout()], ids=["unreadable", "failed"])
def test_an_unreadable_reply_that_is_asked_for_again_unchanged_waits_as_a_failed_call_does(bad: Said) -> None:
    calls = PatientCourt([bad, GOOD], RetryPolicy(retry_wait_s=(2,)), ReaskPolicy(how="same"))
    result = calls.reach_decision()
    assert calls.rested == [2]
    assert [attempt.wait_s for attempt in result.attempts] == [2, 0]
    assert calls.asked[0] == calls.asked[1]


def test_a_reply_that_is_explained_is_asked_for_again_at_once() -> None:
    calls = PatientCourt([UNREADABLE, GOOD], RetryPolicy(retry_wait_s=(2,)), REASKING)
    calls.reach_decision()
    assert calls.rested == []
