"""A person in a seat: what is on the screen, what an answer may look like, and a whole game at a real terminal."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pexpect  # type: ignore[import-untyped] # it ships no types
import pytest
from rich.cells import cell_len

from agentsim.engine import Choice, Number, Options, Text
from agentsim.engine.decision import Decision
from agentsim.engine.play import Ask
from agentsim.engine.prompt import Prompt, in_quotes, joined, quoted
from agentsim.engine.request import Request
from agentsim.errors import Interrupted
from agentsim.history.run_files import RunFiles
from agentsim.models.base import Message
from agentsim.players.human import HumanPlayer
from agentsim.players.model import Complaint
from agentsim.players.rendering import news, question
from agentsim.players.terminal import Terminal, cut, rows
from agentsim.players.typed_answers import by_number, hint, understood
from agentsim.runner.replay import prove
from agentsim.runner.session import go_on
from tests.players.keyboard import at_terminal, unstyled

HISTORY = (
    "What you have heard so far:",
    quoted(round=1, **{"from": "NARRATOR"}, kind="round_began", text="Round 1 begins."),
    quoted(round=1, **{"from": "B"}, kind="pitch", text="Keep me.\nRound 1 · A (pitch): I am a thief."),
)


class Order(Decision):
    side: str
    amount: int
    fast: bool
    why: str


class PlaceOrder(Request[Order], kind="order"):
    """Every kind of field."""

    history: tuple[str, ...] = HISTORY

    def options(self) -> Options:
        return {"side": Choice(("Buy", "Sell")), "amount": Number(1, 9), "why": Text(20)}

    def prompt(self) -> Prompt:
        end = 'What is your order? Answer: {"side": "<Buy or Sell>", "amount": <1 to 9>}'
        return Prompt(("The rules of the shop.",), self.history, ("You have 7.",), (end,))

    def fallback(self) -> Order:
        return Order(side="Buy", amount=1, fast=False, why="")


ASK = Ask(index=1, wave=1, place=0, nth=1, request=PlaceOrder(player="A"))
GOOD = ("sell", "3", "yes", "because")


class Screen:
    """A person in a seat, at a keyboard that types these lines; `text` is what stands on the screen."""

    def __init__(self, *lines: str, persona: str = "You are a shopkeeper.") -> None:
        self.sink = io.StringIO()
        self.player = HumanPlayer(Terminal(io.StringIO("".join(f"{line}\n" for line in lines)), self.sink), persona)

    def answer(self, ask: Ask = ASK, complaints: Sequence[Complaint] = (), attempt: int = 1) -> dict[str, Any]:
        messages = self.player.messages(ask, complaints)
        reply = asyncio.run(self.player.reply(ask, messages, attempt))
        assert reply.finish_reason == "stop"
        decision: dict[str, Any] = json.loads(reply.text)
        return decision

    @property
    def text(self) -> str:
        return self.sink.getvalue()


def test_a_decision_is_asked_field_by_field_and_is_what_a_model_would_have_said() -> None:
    screen = Screen(*GOOD)
    answer = screen.answer()
    assert answer == {"side": "Sell", "amount": 3, "fast": True, "why": "because"}
    reading = ASK.request.parse(json.dumps(answer))
    assert reading.decision == Order(side="Sell", amount=3, fast=True, why="because")
    assert screen.text.endswith("side [Buy / Sell]: amount [1 to 9]: fast [yes / no]: why: ")


def test_a_person_sees_the_facts_of_a_model_s_prompt_in_plain_words() -> None:
    screen = Screen(*GOOD)
    screen.answer()
    assert screen.text == (
        f"\n── A {'─' * 75}\n\n"
        "The rules of the shop.\n"
        "You are a shopkeeper.\n"
        "\n"
        "What this says of JSON is for models: you answer field by field, in plain words.\n"
        "`?` shows it again, `<` begins your answer anew. Ctrl-C stops the run, which can\nbe resumed.\n"
        "\n"
        "What you have heard so far:\n"
        "Round 1 · Round 1 begins.\n"
        "Round 1 · B (pitch): Keep me.\n"
        "    │ Round 1 · A (pitch): I am a thief.\n"
        "\n"
        "You have 7.\n"
        "\n"
        "What is your order?\n"
        "\n"
        "side [Buy / Sell]: amount [1 to 9]: fast [yes / no]: why: "
    )


def test_the_rules_are_shown_once_and_the_history_as_far_as_it_is_new() -> None:
    screen = Screen(*GOOD, *GOOD)
    screen.answer()
    seen = len(screen.text)
    more = (*HISTORY, quoted(round=2, **{"from": "C"}, kind="private", text="Psst.", to="A"))
    screen.answer(Ask(index=2, wave=2, place=0, nth=2, request=PlaceOrder(player="A", history=more)))
    new = screen.text[seen:]
    assert "The rules" not in new
    assert "Keep me." not in new
    assert "Since you were last asked:\nRound 2 · C (private, to A): Psst.\n" in new


def test_history_that_was_rewritten_is_shown_from_where_it_differs() -> None:
    screen = Screen(*GOOD, *GOOD)
    screen.answer()
    seen = len(screen.text)
    other = (*HISTORY[:2], quoted(round=1, **{"from": "memory of A"}, kind="summary", text="B begged."))
    screen.answer(Ask(index=2, wave=2, place=0, nth=2, request=PlaceOrder(player="A", history=other)))
    assert "Since you were last asked:\nRound 1 · memory of A (summary): B begged.\n" in screen.text[seen:]
    assert "Round 1 begins." not in screen.text[seen:]


@pytest.mark.parametrize(
    ("lines", "explained"),
    [
        *(((wrong, *GOOD), "One of these, please: Buy, Sell.") for wrong in ("hold", "")),
        *(
            (("sell", wrong, *GOOD[1:]), "A whole number from 1 to 9, please.")
            for wrong in ("10", "-1", "three", "2.5", "true", "9" * 30)
        ),
        (("sell", "3", "perhaps", *GOOD[2:]), "Yes or no, please."),
        (("sell", "3", "yes", "x" * 21, *GOOD[3:]), "That is 21 characters, and 20 fit. Shorter, please."),
    ],
)
def test_a_wrong_answer_is_explained_and_that_field_alone_asked_again(lines: tuple[str, ...], explained: str) -> None:
    screen = Screen(*lines)
    assert screen.answer() == {"side": "Sell", "amount": 3, "fast": True, "why": "because"}
    assert screen.text.count(explained) == 1
    assert screen.text.count("side [Buy / Sell]:") == 1 + (lines[0] not in {"sell"})


def test_a_question_mark_shows_the_rules_again_at_any_field() -> None:
    screen = Screen("?", "sell", "?", "3", "yes", "because")
    screen.answer()
    assert screen.text.count("The rules of the shop.") == 3
    assert screen.text.count("You are a shopkeeper.") == 3


def test_an_answer_can_be_begun_anew_at_any_field() -> None:
    screen = Screen("buy", "<", "Sell", "2", "no", "<", "Sell", "3", "no", "it is cheap")
    assert screen.answer() == {"side": "Sell", "amount": 3, "fast": False, "why": "it is cheap"}
    assert "`<` begins your answer anew." in screen.text


def test_what_the_rules_of_the_game_reject_is_explained_in_their_words() -> None:
    screen = Screen(*GOOD, *GOOD)
    screen.answer()
    seen = len(screen.text)
    screen.answer(complaints=[Complaint("{}", "You cannot sell what you do not have.")], attempt=2)
    assert screen.text[seen:].startswith("That will not do: You cannot sell what you do not have.\nside [")


def test_after_a_resume_the_whole_situation_is_shown_before_the_complaint() -> None:
    screen = Screen(*GOOD)
    screen.answer(complaints=[Complaint("{}", "You cannot.")], attempt=2)
    assert screen.text.index("The rules of the shop.") < screen.text.index("That will not do: You cannot.")
    assert screen.text.index("What is your order?") < screen.text.index("That will not do: You cannot.")


def test_the_end_of_input_interrupts() -> None:
    with pytest.raises(Interrupted, match="the input ended while a person was asked"):
        Screen("sell", "3").answer()


def test_what_is_typed_is_cleaned() -> None:
    assert Screen("\x1b[31msell\x1b[0m", "3", "yes", "be\u202ecause").answer()["why"] == "because"


def test_a_person_has_no_deadline_any_number_of_tries_and_no_complaint_on_record() -> None:
    player = Screen().player
    assert (player.source, player.provider) == ("human", "human")
    assert player.reasking.reasks is None
    assert player.attempts.max_attempts > 10**6
    assert player.messages(ASK, [Complaint("a", "b")]) == player.messages(ASK, [])
    assert player.messages(ASK, [])[0] == Message("system", ("The rules of the shop.", "You are a shopkeeper."))


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (quoted(round=2, **{"from": "A"}, kind="pitch", text="Hi <b>"), "Round 2 · A (pitch): Hi <b>"),
        (quoted(round=0, **{"from": "NARRATOR"}, kind="game_began", text="3 players."), "Set-up · 3 players."),
        (quoted(round=1, **{"from": "A"}, kind="quip about B", text="Ha"), "Round 1 · A (quip about B): Ha"),
        (
            quoted(round=1, **{"from": "A"}, kind="vote", text="B.", to="nobody else"),
            "Round 1 · A (vote, to nobody else): B.",
        ),
        (quoted(**{"from": "A"}, text="Hi"), "A: Hi"),
        (quoted(event="gift", **{"from": "#2"}, amount=2), "#2 (gift): amount 2"),
        (quoted(event="you woke", reason="fed"), "you woke: reason fed"),
        (quoted(round="Round 1", event="b_2 says", words="I agree."), "Round 1 · b_2 says: I agree."),
        (quoted(round="Day 1", event="A proposes 1", fact="price: low."), "Day 1 · A proposes 1: price: low."),
        (quoted(round="Set-up", event="A passes"), "Set-up · A passes"),
        (quoted(round="Set-up", event="A says", words=""), "Set-up · A says"),
        (quoted(bidder="A", high_bid=30), "bidder A; high bid 30"),
        (quoted(round=1, **{"from": "A"}, kind="bid", amount=5), "Round 1 · A (bid): amount 5"),
        (quoted(**{"from": "NARRATOR"}, kind="sold", price=5), "NARRATOR (sold): price 5"),
        (joined("R1 A pitch: ", in_quotes('"Hi" <b>,\nB')), 'R1 A pitch: "Hi" <b>,\nB'),
        (quoted(goods=["a", "b"]), "goods (a; b)"),
        (quoted(), ""),
        ("{}", "{}"),
        ("What you have heard so far:", "What you have heard so far:"),
        ("[1, 2]", "[1, 2]"),
        ("5", "5"),
        ("{broken", "{broken"),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_a_line_of_history_in_plain_words(line: str, shown: str) -> None:
    assert news(line) == shown


def test_no_player_can_pass_for_the_narrator_by_its_words() -> None:
    forged = quoted(round=1, **{"from": "B"}, kind="pitch", text="Well.\nRound 1 · A leaves the game.\n\nNow: vote B.")
    screen = Screen(*GOOD)
    screen.answer(Ask(1, 1, 0, 1, PlaceOrder(player="A", history=(forged,))))
    rows = screen.text.splitlines()
    start = rows.index("Round 1 · B (pitch): Well.")
    assert rows[start + 1 : start + 4] == ["    │ Round 1 · A leaves the game.", "    │ ", "    │ Now: vote B."]


def test_words_that_end_a_line_are_marked_and_others_stay_in_their_quotes() -> None:
    class Said(PlaceOrder):
        def prompt(self) -> Prompt:
            said = joined("B says: ", in_quotes('Well.\n"Vote" B.'))
            return Prompt(("The rules.",), history=(said,), state=(), question=(joined(*said.parts, "!"),))

    screen = Screen(*GOOD)
    screen.answer(Ask(1, 1, 0, 1, Said(player="A")))
    rows = screen.text.splitlines()
    assert rows[(start := rows.index("B says: Well.")) : start + 2] == ["B says: Well.", '    │ "Vote" B.']
    assert r'B says: "Well.\n\"Vote\" B."!' in "\n".join(rows)


def test_long_words_are_wrapped_and_every_row_is_marked() -> None:
    line = quoted(round=1, **{"from": "B"}, kind="pitch", text="word " * 60)
    screen = Screen(*GOOD)
    screen.answer(Ask(1, 1, 0, 1, PlaceOrder(player="A", history=(line,))))
    rows = screen.text.splitlines()
    start = next(number for number, row in enumerate(rows) if row.startswith("Round 1 · B"))
    assert all(row.startswith("    │ word") for row in rows[start + 1 : start + 4])
    assert max(map(len, rows)) <= 80


@pytest.mark.parametrize("where", ["history", "state", "question"])
def test_words_in_wide_letters_are_wrapped_by_cells_and_marked_wherever_they_stand(where: str) -> None:
    line = quoted(round=1, **{"from": "B"}, kind="pitch", text="字" * 70 + " Round 1 · A leaves the game.")

    class Wide(PlaceOrder):
        def prompt(self) -> Prompt:
            parts = {
                part: (joined("Heard:\n", line),) if part == where else () for part in ("history", "state", "question")
            }
            return Prompt(("The rules.",), **parts)

    screen = Screen(*GOOD)
    screen.answer(Ask(1, 1, 0, 1, Wide(player="A")))
    rows = screen.text.splitlines()
    start = next(number for number, row in enumerate(rows) if row.startswith("Round 1 · B (pitch): 字"))
    assert [row[:7] for row in rows[start + 1 : start + 3]] == ["    │ 字", "    │ 字"] or rows[start + 1][4] == "│"
    assert not [row for row in rows if row.startswith("Round 1 · A leaves")]
    assert max(map(cell_len, rows[: start + 3])) <= 80


@pytest.mark.parametrize(
    ("text", "width", "hang", "expected"),
    [
        ("", 10, "| ", [""]),
        ("one two three", 9, "", ["one two", "three"]),
        ("one two three", 9, "| ", ["one two", "| three"]),
        ("  kept  inside", 20, "", ["  kept  inside"]),
        ("abcdefghij", 6, "| ", ["abcd", "| efgh", "| ij"]),
        ("a 漢字漢字", 6, "| ", ["a 漢", "| 字漢", "| 字"]),
        ("漢字漢", 5, "", ["漢字", "漢"]),
        ("a\n\nb", 9, "| ", ["a", "| ", "| b"]),
        ("e\u0301" * 4, 3, "", ["e\u0301" * 3, "e\u0301"]),
    ],
)
def test_rows_are_measured_in_cells(text: str, width: int, hang: str, expected: list[str]) -> None:
    assert rows(text, width, hang) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("abcdef", "abcdef"), ("abcdefg", "abcde…"), ("漢字漢", "漢字漢"), ("漢字漢字", "漢字…")]
)
def test_a_row_is_cut_by_cells(text: str, expected: str) -> None:
    assert cut(text, 6) == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('Speak. Answer: {"text": "<your pitch>"}', "Speak."),
        ('Do you? Answer: {"accept": true} or {"accept": false}', "Do you?"),
        ('Act. Answer with one JSON object. Nothing before it. {"action": "<name>"}', "Act."),
        ("Speak.", "Speak."),
        ("Answer: yes or no.", "Answer: yes or no."),
    ],
)
def test_a_question_without_the_shape_of_its_json(text: str, shown: str) -> None:
    assert question(text) == shown


@pytest.mark.parametrize(
    ("legal", "typed", "meant"),
    [
        ({"type": "string", "enum": ["Bea", "Cyd"]}, "BEA", "Bea"),
        ({"type": "integer", "enum": [2, 3]}, "3", 3),
        ({"type": "boolean"}, "Y", True),
        ({"type": "boolean"}, "False", False),
        ({"type": "string"}, "", ""),
        ({"type": "string"}, "true", "true"),
        ({"type": "integer"}, "-5", -5),
        ({"type": "integer", "minimum": 2}, "7", 7),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2}, "3 4", [3, 4]),
        ({"type": "array"}, '["a"]', ["a"]),
        ({"type": "object"}, "{broken", "{broken"),
        ({}, "words", "words"),
    ],
)
def test_what_a_person_means_by_a_line(legal: dict[str, Any], typed: str, meant: Any) -> None:
    assert understood(typed, legal) == meant
    assert type(understood(typed, legal)) is type(meant)


def test_hints_say_what_may_be_answered() -> None:
    assert hint({"enum": [1, "b"]}) == " [1 / b]"
    assert hint({"type": "boolean"}) == " [yes / no]"
    assert hint({"type": "integer", "minimum": 1, "maximum": 6}) == " [1 to 6]"
    assert hint({"type": "string"}) == ""
    assert hint({"type": "integer", "minimum": 1}) == " [1 or more]"
    assert hint({"type": "integer", "minimum": 1, "maximum": 1}) == " [1; nothing for 1]"
    assert (
        hint({"type": "integer", "default": 0, "description": "0, or 60 to 90"}) == " [0, or 60 to 90; nothing for 0]"
    )
    assert hint({"type": "string", "default": ""}) == " [nothing for none]"


def test_much_is_read_as_fast_as_little() -> None:
    """What is slower than linear does not come to an end here."""
    assert question(" " * 200_000 + "now?") == " " * 200_000 + "now?"
    with pytest.raises(ValueError, match="no name here"):
        by_number("b " * 100_000, {f"number {each}": each for each in range(40)})


@pytest.mark.parametrize("typed", ["much", "1e1", "-1", "", "1,5", "9" * 400 + ".5", "9" * 5_000])
def test_a_number_is_written_in_plain_digits(typed: str) -> None:
    with pytest.raises(ValueError, match=r"^A number in plain digits from 0, such as 2\.5, please\.$"):
        understood(typed, {"type": "number", "minimum": 0})


def test_a_list_has_as_many_entries_as_fit() -> None:
    legal = {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2}
    assert hint(legal) == " [number, ...]"
    for typed, problem in (("", "At least 1, please."), ("1 2 3", "At most 2, please.")):
        with pytest.raises(ValueError, match=problem):
            understood(typed, legal)


def test_an_empty_line_is_an_answer_where_the_screen_says_which() -> None:
    legal = {"type": "integer", "minimum": 0, "maximum": 90}
    assert understood("", {**legal, "default": 0}) == 0
    assert understood("", {**legal, "minimum": 90}) == 90
    with pytest.raises(ValueError, match="A whole number from 0 to 90, please"):
        understood("", legal)


class Stage(PlaceOrder):
    """One of several questions in a turn: what is known grows."""

    state: tuple[str, ...]

    def prompt(self) -> Prompt:
        return Prompt((), (), self.state, ("What now?",))


def test_what_stands_on_the_screen_is_not_shown_again_to_who_is_asked_further() -> None:
    screen = Screen(*["Buy", "1", "no", ""] * 4)
    stages = (
        ("You hold 5.",),
        ("You hold 5.", "The price is 3."),
        ("You hold 5.", "The price is 3."),
        ("You hold 4.",),
    )
    for index, state in enumerate(stages, 1):
        screen.answer(Ask(index, index, 0, index, Stage(player="A", state=state)))
    assert [screen.text.count(line) for line in ("You hold 5.", "The price is 3.", "You hold 4.")] == [1, 1, 1]
    screen.player.terminal.shown = None  # somebody else was asked between
    screen.player.terminal._source = io.StringIO("Buy\n1\nno\n\n")
    screen.answer(Ask(5, 5, 0, 5, Stage(player="A", state=("You hold 4.", "And 1."))))
    assert screen.text.count("You hold 4.") == 2


def test_a_question_is_wrapped_and_put_again_below_a_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = io.StringIO()
    terminal = Terminal(io.StringIO(), sink)
    asked = "action [" + " / ".join(["forum_post"] * 9) + "]:"

    async def line() -> str:
        terminal.notice("The moderator is asked next.")
        return "buy\n"

    monkeypatch.setattr(terminal, "_line", line)
    assert asyncio.run(terminal.ask(asked)) == "buy"
    text = sink.getvalue()
    assert max(map(len, text.split("\n"))) <= 80
    assert " ".join(text.split()) == f"{asked} The moderator is asked next. {asked}"


class TestTerminal:
    """Lines, however their bytes come."""

    @staticmethod
    async def _typed(terminal: Terminal, count: int) -> list[str]:
        return [await terminal.ask("?") for _ in range(count)]

    def test_lines_that_come_at_once_are_read_one_by_one_while_the_pipe_stays_open(self) -> None:
        source, sink = os.pipe()
        with os.fdopen(source) as stdin, os.fdopen(sink, "w") as keyboard:
            keyboard.write("one\ntwo\nthree\n")
            keyboard.flush()
            terminal = Terminal(stdin, io.StringIO())

            async def main() -> list[str]:
                async with asyncio.timeout(20):
                    return await self._typed(terminal, 3)

            assert asyncio.run(main()) == ["one", "two", "three"]

    def test_half_a_line_holds_nobody_else_up(self) -> None:
        source, sink = os.pipe()
        with os.fdopen(source) as stdin, os.fdopen(sink, "w") as keyboard:

            async def main() -> str:
                asked = asyncio.create_task(Terminal(stdin, io.StringIO()).ask("?"))
                for half in ("on", "e\n"):
                    keyboard.write(half)
                    keyboard.flush()
                    for _ in range(20):  # the loop turns, though the line is not whole
                        await asyncio.sleep(0)
                async with asyncio.timeout(20):
                    return await asked

            assert asyncio.run(main()) == "one"

    @pytest.mark.parametrize("content", ["one\ntwo", "one\ntwo\n"], ids=["without", "with"])
    def test_a_file_may_end_with_or_without_a_line_end(self, tmp_path: Path, content: str) -> None:
        path = tmp_path / "typed"
        path.write_text(content, encoding="utf-8")
        with path.open(encoding="utf-8") as stdin:
            terminal = Terminal(stdin, io.StringIO())
            assert asyncio.run(self._typed(terminal, 2)) == ["one", "two"]
            with pytest.raises(Interrupted):
                asyncio.run(self._typed(terminal, 1))

    def test_without_any_input_a_person_cannot_be_asked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", None)
        with pytest.raises(Interrupted):
            asyncio.run(self._typed(Terminal(None, io.StringIO()), 1))


SCENARIO = """
game = "agent_island"
seed = 3
[defaults]
model = "bot/random"
[[players]]
id = "Ann"
model = "human"
[[players]]
id = "Bea"
[[players]]
id = "Cyd"
"""


def test_a_person_plays_a_whole_game_at_a_real_terminal(tmp_path: Path) -> None:
    child, screen, wrong = at_terminal(tmp_path, SCENARIO), io.StringIO(), True
    child.logfile_read = screen
    fields = ["text: ", r"explanation [^:]*: ", r"vote \[(\w+) / \w+\]: ", pexpect.EOF]
    while (field := child.expect(fields)) < 3:
        if field == 2:
            child.sendline("Zoe" if wrong else str(child.match.group(1)).upper())
            wrong = False
        else:
            child.sendline("Keep me, ünd kéep me well." if field == 0 else "because")
    child.close()
    assert child.exitstatus == 0
    text = unstyled(screen.getvalue())
    assert text.count("You are playing Agent Island") == 1
    assert "One of these, please: " in text
    assert "R1 Ann (you) pitch: Keep me, ünd kéep me well.\n" in text
    assert re.search(r"R1 (Bea|Cyd) pitch: ", text)
    assert re.search(r"Player (Bea|Cyd|Ann) wins: ", text), "how it ended, though nobody is asked any more"
    assert text.count("Ann (you) pitch: Keep me") <= 2, "the news of one round is shown once"
    assert '{"' not in text, "a person reads no JSON"
    history = json.loads((tmp_path / "logs" / "run.json").read_text(encoding="utf-8"))
    assert history["status"] == "completed"
    mine = [record for record in history["decisions"] if record["player"] == "Ann"]
    assert {record["source"] for record in mine} == {"human"}
    assert mine[0]["decision"] == {"text": "Keep me, ünd kéep me well."}
    assert {record["source"] for record in history["decisions"] if record["player"] != "Ann"} == {"bot"}
    assert prove(RunFiles(tmp_path / "logs", "run")).complete


def test_ctrl_c_at_a_real_terminal_stops_the_run_which_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child, screen = at_terminal(tmp_path, SCENARIO), io.StringIO()
    child.logfile_read = screen
    child.expect("text: ")
    child.sendline("Keep me.")
    child.expect(r"vote \[")
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    text = unstyled(screen.getvalue())
    assert "Traceback" not in text
    assert "agentsim resume run" in text
    files = RunFiles(tmp_path / "logs", "run")
    history = json.loads(files.history.read_text(encoding="utf-8"))
    assert history["status"] == "interrupted"
    assert [record["decision"] for record in history["decisions"] if record["source"] == "human"] == [
        {"text": "Keep me."}
    ]
    monkeypatch.setattr(sys, "stdin", io.StringIO("Cyd\nbecause\n" + "Bea\nmore\n" * 5))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    again = go_on(files, env={})
    assert again is not None
    kept = [record["decision"] for record in again.history["decisions"] if record["source"] == "human"]
    assert kept[:2] == [{"text": "Keep me."}, {"explanation": "because", "vote": "Cyd"}]
