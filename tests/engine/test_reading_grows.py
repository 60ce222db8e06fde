"""What a reply costs to read grows with its length, whatever it is and was asked: growth is looked at, and no clock.

A text is read, then one of its kind that is four times as long: a cost that grows with the square is sixteen times as
high. Below a floor a measurement says nothing; so texts double in length until they cost enough, or are long replies.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

import pytest

from agentsim.engine.reading.text import MAX_TEXT
from agentsim.engine.request import Request
from agentsim.engine.survey import Survey, SurveyQuestion
from agentsim.errors import DecisionError
from tests.amounts import amounts
from tests.replies.asked import ASKED, asked

FACTOR, MOST = 4, 9.0  # four times the text may cost nine times as much
TURNS = 3  # how often too much growth is measured before it is believed
FLOOR_S = 0.02
WORTH_S = 0.002  # what a text must cost to be the shorter one
SHORTEST, LONGEST = 500, 8_000

UNITS: dict[str, tuple[str, str, str]] = {
    # what stands before, what is repeated, what stands behind
    "functions that are called by FunctionGemma": ("", "call:a{a:<escape>", ""),
    "escapes": ("", ":<escape>", ""),
    "messages to functions": ("", "commentary to=functions.a <|constrain|>json<|message|>", '{"bid": 5}'),
    "messages to functions with objects": ("", 'to=functions.a json{"a": 1}', ""),
    "printed calls": ("", 'print(default_api.bid(bid="5"', ")"),
    "printed brackets": ("", "print(", 'bid(bid="5"))'),
    "messages with calls": ("", '{"content": "a", "tool_calls": [', ""),
    "opening braces": ("", "{", ""),
    "escaped signs that are not seen": ("", "a&#8203;", ""),
    "escaped signs in tags": ("", "<&amp;#x200b;a", ""),
    "names between bars": ("|/a|", "|a", ""),
    "tags between bars": ("", "|/a|", ""),
    "headers of calls": ("", "<|assistant|>a\n", "{"),
    "tags in square brackets": ("[a]", "[a", "[/a]"),
    "statements of code": ("", "a = return ", "a("),
    "statements on lines": ("", "\nawait a", "a("),
    "calls with arguments": ("a(a=", ")", ""),
    "headings between signs": ("<think>", "\n=== a", " ==="),
    "headings of the answer": ("<think>", "\n=== text ===", ""),
    "words on marks": ("[private] is written", " a", ""),
    "marks that are spoken of": ("", "what [private] means ", ""),
    "confidence": ("", ".\nconfidence: 1", " a"),
    "stray fences": ("```yaml\na: b\n", "```\n", "a"),
    "wide tags": ("", "＜a b", "＜/a＞"),
    "wide brackets": ("＜/a＞", "＜", ""),
    "wide comments": ("", "＜!--", "--＞"),
    "tags with attributes": ("", '<a b="', ""),
    "calls on lines": ("", "\naaa(b", ""),
    "speakers": ("", '{"speaker": "B", "text": "a"}', ""),
    "thinking objects": ("", '{"type": "thinking", "text": "a"}', ""),
    "transcripts": ("Human: a", "\nAssistant: a", ""),
    "escaped quotes of lines": ("", "&gt; a\n", ""),
    "headers of functions": ("", "<|start|>assistant to=functions.a<|channel|>", ""),
    "opening keys": ("", '{"', ""),
    "half objects": ("", '{"a":', ""),
    "members": ("{", '"a":"b",', ""),
    "broken objects": ("", '{"a"}', ""),
    "pairs of words": ('{"bid": 5} ', "{x}", '{"bid":'),
    "empty objects": ("", "{}", ""),
    "braces that close first": ("", "}{", ""),
    "braces and colons": ("", "{'::::", ""),
    "braces and brackets": ("", "{']]]", ""),
    "objects within each other": ("", "{'vote':'B',", ""),
    "objects nested": ('{"bid": 5, "reasoning": ', "[", ""),
    "half bids": ("", '{"bid": 150, ', ""),
    "bids": ("", '{"bid": 150}', ""),
    "mended bids": ("", '{"bid": 150,}', ""),
    "a bid and braces": ('{"bid": 150} ', "{", ""),
    "quotes and commas": ('{"bid": 5} {"bid":', ', "', ""),
    "escaped quotes": ('{"', '\\"', ""),
    "braces in a string": ("", '{"\\"{', ""),
    "thoughts that never end": ("", "<think>", ""),
    "ends of thoughts": ("{", "</think>", ""),
    "thoughts in a string": ('{"a": "', "<think>", '"}'),
    "thoughts in strings": ("", '{"a": "<think></think>"}', ""),
    "comments": ("", "<!--", ""),
    "channels": ("", "<|channel|>", ""),
    "headings": ("", "# Thinking\n", ""),
    "fences": ("", "```", ""),
    "fences with letters": ("", "```a", ""),
    "fences with dashes": ("", "```-", ""),
    "fences with blanks": ("", "``` ", ""),
    "commands of thinking": ("", "\\think{", ""),
    "environments of thinking": ("", "\\begin{think}", ""),
    "switches of thinking": ("", "/no_think ", "a"),
    "labels of an audience": ("", "[Private] ", "a"),
    "plans with an ally": ("Let's think: ", "let's think, ", "a"),
    "questions and answers": ("Q: a\n", "A: b\nQ: c\n", ""),
    "thoughts that are past": ("", "saya sudah ", "apa yang harus"),
    "duties of a player": ("I am player A ", "and must ", ""),
    "announcements": ("", "okay, i need to make a speech ", ""),
    "a fence and letters": ("```", "a", ""),
    "a fence and dashes": ("```", "-", ""),
    "a fence and blanks": ("```", " ", ""),
    "fences of half objects": ("", '```{"```', ""),
    "fences of braces": ("", "```{\n```", ""),
    "digits": ('{"bid":1', "0", "}"),
    "decimals": ('{"bid":1.', "0", "}"),
    "bare digits": ("", "9", ""),
    "full stops": ("150", ".", ""),
    "blanks": ("", " ", "150"),
    "blanks in an object": ('{"bid": 5} {', " ", '{"bid"'),
    "blanks in a tag": ("<", " ", ""),
    "tabs": ("", "\t", "x"),
    "marks": ("", "*", ""),
    "ticks": ("", "`", "150"),
    "quotes": ("", '"', ""),
    "round brackets": ("", "(", ""),
    "square brackets": ("", "[", ""),
    "brackets and votes": ("", "(" * 98 + "x vote: B", ""),
    "labels": ("", "vote: ", ""),
    "labels of a number": ("", "bid:", "150"),
    "quoted labels": ("", '"vote":', ""),
    "votes": ("", "vote: B\n", ""),
    "negations": ("", "not ", "vote: B"),
    "reasons": ("vote: B", " because", ""),
    "sentences": ("", "I vote for B. ", ""),
    "retractions": ("vote: B ", "wait ", ""),
    "ends of turns": ("", "<|im_end|>", ""),
    "headers": ("", "<|im_start|>assistant\n", "B"),
    "thinking messages": ("", "<|channel|>analysis<|message|>x<|end|><|start|>assistant", ""),
    "strikes": ("", "<s>a</s>", ""),
    "strikes that do not end": ("x ", "<s>", "</s>"),
    "strikes in each other": ("", "<s>", "</s>"),
    "ends of strikes": ("<s>B", "</s>", "C"),
    "strikes behind strikes": ("<s>B</s>", "<pad>", "C"),
    "strikes of Markdown": ("", "~~B~~\n", ""),
    "strikes of Markdown that do not end": ("", "~~B\n", ""),
    "tags that strike out": ("", "<del>\n", '{"vote": "B"}'),
    "comments of objects": ("", '// {"vote": "B"}\n', ""),
    "comments in a program": ("", "/*", ""),
    "crosses": ("", "B ❌\n", ""),
    "overlays": ("B", "\u0336", ""),
    "items": ("Vote:\n", "- B\n", ""),
    "items and blank lines": ("Vote:\n", "- B\n\n", ""),
    "values that it is not": ("Vote: B", ", not C", ""),
    "keys of another value": ('{"vote":"B",', '"final vote ', '":"C"}'),
    "denials": ("", "This is not the following.\n", "B"),
    "signs before a label": ("", "✅ ", "Vote: B"),
    "arguments": ("", '<parameter name="vote">B</parameter>', ""),
    "arguments that do not end": ("", '<parameter name="vote">', ""),
    "keys of arguments": ("", "<arg_key>vote</arg_key>", ""),
    "calls": ("", 'vote(vote="B") ', ""),
    "calls that do not end": ("", "vote(vote=", ""),
    "calls in each other": ("", 'vote("', ""),
    "triple quotes in a call": ('vote(vote="', '"""', ""),
    "names before objects": ("", 'functions.vote:0{"vote": "B"}', ""),
    "ends of turns in an object": ('{"explanation": "', "<|im_end|>", '", "vote": "B"}'),
    "objects in a string": ('{"vote": "', '{\\"vote\\": ', '"}'),
    "escaped lines": ("", "\\n\\n", ""),
    "DSML": ("", "<｜DSML｜invoke", ""),
    "namespaces": ("", "]<]minimax[>[ ", ""),
    "turns without tokens": ("W", "\nuser:\n", ""),
    "labels of turns": ("W", "\nUser: x", ""),
    "headers of a role": ("", "**Model:** ", "W"),
    "escaped tokens": ("W", "&lt;|im_end|&gt;", ""),
    "escapes in each other": ("W", "&#38;", "#60;|im_end|&#62;"),
    "escapes without tokens": ("W", "&lt;b&gt;", ""),
    "halves of tokens": ("", "im_end|", ">"),
    "other bars": ("<", "ǀ", "im_endǀ>"),
    "other bars of tokens": ("W ", "`<ǀim_endǀ>` ", ""),
    "tokens in quotes": ("W ", "`<|im_end|>` ", ""),
    "words with underscores": ("<", "a_", "think>"),
    "tags in a sentence": ("W", " and <plan> we", ""),
    "private tags": ('{"text": "', "<notes>", '</notes>"}'),
    "blank lines": ("W", "\n", "Human: x"),
    "headers without tokens": ("", "assistant\n", "B"),
    "sentences without an end": ("", "my vote is ", ""),
    "signs of less": ("", "<", ""),
    "words for an end": ("W", "[end ", ""),
    "words for an end of a turn": ("W", "[end of turn", ""),
    "ends in brackets": ("W ", "[[END", ""),
    "ends on lines": ("W", "\n[END] x", ""),
    "rules": ("W", "-", "END"),
    "rules on lines": ("W", "\n---END--- x", ""),
    "signs of numbers": ("W", "#", ""),
    "lines of another player": ("W", "\nB:", ""),
    "lines of another player in brackets": ("W", "\n[B] No.", ""),
    "a line that never speaks": ("W\nB (", "a", ""),
    "keys on lines": ("W:\n", "vote: x\n", ""),
    "keys of thinking on lines": ("w", "\nthinking: x", ""),
    "members on one line": ("text: W", "; thought: x", ""),
    "stage directions": ("W", "\n*B nods.* x", ""),
    "stage directions that do not end": ("W", "\n*B nods", ""),
    "participles of another player": ("W", "\nB (smiling) x", ""),
    "line ends of HTML": ("W", "<br>", "B: No."),
    "letters that look alike": ("W ", "<thіnk", ">"),
    "words that look alike": ("W", " аb", "<|im_еnd|>"),
    "letters in full width": ("W", "ａ", ""),
    "loops": ("", "Action: x\nAction Input:", ""),
    "blanks before an action": ("W", "\n \n", "Action: x"),
    "calls of one string": ('speak("', '\\"', '"'),
    "triple quotes of one string": ('speak("""', '"""', ""),
    "calls of other functions": ("", '{"name": "think", "arguments": {"text": "x"}}', ""),
    "notes to oneself": ("W", "\nnote to", ""),
    "answers that are put off": ("Let me think about it. ", "I'll answer ", ""),
    "lone quotes": ('"', "W", ""),
    "labels of the question": ("W", "\nPitch: x", ""),
    "observations": ("W", "\nObservation:", ""),
    "observations and blanks": ("W", "\nObservation: \n ", ""),
    "actions": ("W", "\nAction: a", ""),
    "tags of a role": ("W.", "<user>", ""),
    "comments on lines": ("", "//\n", "W"),
    "slashes": ("", "//", ""),
    "slashes and dots": ("//", "a.", ""),
    "blocks of comments": ("", "/**/", "W"),
    "blocks of comments that do not end": ("W", "\n/*", ""),
    "flowers": ("", "✿", ""),
    "flowers and calls": ("", "✿FUNCTION✿: vote\n✿ARGS✿: ", ""),
    "citations": ("", "<co: 0>", ""),
    "citations that end": ("", "<co: 0>W</co: 0>", ""),
    "brackets of other scripts": ("", "《", ""),
    "brackets of other scripts and bars": ("", "《|", ""),
    "names in brackets of other scripts": ("《", "a_", "》"),
    "thinking in brackets of other scripts": ("", "（思考）", ""),
    "thinking in braces": ("", "{think}{/think}", ""),
    "thinking aloud": ("Let's think step by step", " about this", ""),
    "hesitation": ("", "okay, ", ""),
    "steps": ("", "Step 1: x\n", "Final: W"),
    "escapes of addresses": ("W", "%3C", ""),
    "elements": ("", "<action>work</action>", ""),
    "elements that do not end": ("", "<action>", ""),
    "elements in each other": ("", "<vote>", "</vote>"),
    "attributes": ("<work", ' a="b"', "/>"),
    "lines of YAML": ("", "vote: C\n", ""),
    "lines of YAML in each other": ("", "a:\n ", ""),
    "blocks of YAML": ("", "text: |\n  W\n", ""),
    "blank lines of YAML": ("vote:", "\n", "C"),
    "objects in words": ('{"text": "', 'x {\\"text\\": 1} ', '"}'),
    "lines in a text": ('{"text": "W', "\\nB: x", '"}'),
    "observations in a text": ('{"text": "W', "\\nObservation: x", '"}'),
    "slashes in a text": ('{"text": "W', "\\n//x", '"}'),
    "tags that stand apart": ("", "a <b> ", "</b>"),
    "tags of other names": ("", "<a>x</b>", ""),
    "ends of tags in a sentence": ("", "the </a> tag ", ""),
    "names in brackets of any kind": ("", "《思", ""),
    "thinking in other languages": ("", "<denken>", ""),
    "asides in each other": ("(thinks: ", "(", ""),
    "asides that do not end": ("", "(thinks: ", ""),
    "thoughts in emphasis": ("", "**<think>a</think>**", ""),
    "fences that begin with thinking": ("", "```\nthinking\n", ""),
    "notes in brackets": ("W", "\n\n(note: a", ""),
    "notes on the words": ("W", "\n\nThis pitch ", ""),
    "headings of strategy": ("W", "\n\nstrategy", ""),
    "lines of a host": ("W", "\nHost: x", ""),
    "escaped words": ("", "don\\u2019t ", ""),
    "escaped entities": ("", "a&#39;b ", ""),
    "entities in each other": ("a&", "amp;", "#39;b"),
    "CDATA that does not end": (">", "<![CDATA[", ""),
    "CDATA": ("", "><![CDATA[a]]><", ""),
    "boxes in each other": ("", "\\boxed{", ""),
    "boxes": ("", "\\boxed{B}", ""),
    "an attribute and apostrophes": ('<pitch text="', "a'", '"/>'),
    "attributes that do not end": ("", '<pitch text="', ""),
    "a module and dots": ("<|python_tag|>", "vote.", "call(vote='B')"),
    "answers behind answers": ("W", "<|end|><|channel|>final<|message|>W", ""),
    "recipients of messages": ("", "to=a<|channel|>", ""),
    "thinking about what to say": ("", "okay, let me think ", "what to say"),
    "thinking in another language": ("", "我考虑", "如何发言"),
    "labels of a plan": ("goal: x\n", "plan: x\n", "\nW"),
    "headings of work": ("", "1. **Understand the Goal:** x\n", "W"),
    "a heading of work and words": ("**Understand", " the", " Goal:**"),
    "how to appear": ("", "I want to ", "appear loyal"),
    "rules around thinking": ("", "---\nthinking: x\n", ""),
    "thinking under one rule": ("---\n", "thinking: x\nvote: C\n", ""),
    "signs of a rule": ("-", "-", "\nthinking: x"),
    "quotes under thinking": ("Thinking...\n", "> x\n", "W"),
    "thinking above quotes": ("", "**Thinking:**\n> x\n", "W"),
    "lines that think": ("", "*Thinking...*\n", ""),
    "pictures": ("", "🧠", " Thinking: x"),
    "pictures on lines": ("", "🧠 **Thinking 🧠:** x\n", "W"),
    "one's own thoughts": ("", "A (internally): x\n", ""),
    "responses that are announced": ("W", "\nHere is my response: ", ""),
    "frames of a log": ("W", "\n[Round 2] x", ""),
    "frames that do not end": ("W", "\n[next player: x", ""),
    "names between rules": ("W", "\n--- B ---\nx", ""),
    "headers on the line of the words": ("W.", " User: x.", ""),
    "half objects in a text": ('{"text": "', '[{\\"a\\": ', '"}'),
    "digits of other scripts": ('{"bid":"', "１", '"}'),
    "items of a list": ("", "* a\n", ""),
}
KINDS = {(name.partition("/")[0], each.kind): name for name, each in ASKED.items()}


@contextmanager
def no_collection() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def text_of(unit: tuple[str, str, str], length: int, more: int = 0) -> str:
    before, repeated, behind = unit
    return before + repeated * (max(1, length // len(repeated)) + more) + behind


def cost(request: Request[Any], unit: tuple[str, str, str], length: int, times: int = 1) -> float:
    """The least processor time of some readings, in seconds; each is of another text, which no cache knows."""
    spent = []
    for turn in range(times):
        text = text_of(unit, length, turn)
        started = time.process_time()
        with suppress(DecisionError):
            request.parse(text)
        spent.append(time.process_time() - started)
    return min(spent)


def growth(request: Request[Any], unit: tuple[str, str, str]) -> float:
    """How many times as much a text costs that is `FACTOR` times as long; 0 where both cost next to nothing.

    The least of several measurements counts: another process can make one text dearer, and hardly each time the same.
    """
    length = SHORTEST
    with no_collection():
        while (short := cost(request, unit, length)) < WORTH_S and length < LONGEST:
            length *= 2
        long = cost(request, unit, FACTOR * length)
        if long < FLOOR_S or long < MOST / 2 * short:  # looked at once, which a busy machine makes more of
            return 0.0
        least = float("inf")
        for _ in range(TURNS):
            short, long = (cost(request, unit, each, times=5) for each in (length, FACTOR * length))
            least = min(least, long / short if long >= FLOOR_S else 0.0)
            if least <= MOST:
                break
    return least


@amounts("one_of", 27, 4)
@pytest.mark.parametrize("name", KINDS.values())
def test_what_a_reply_costs_grows_with_its_length_and_not_faster(name: str, one_of: int) -> None:
    """Each unit is put to one kind of question, or to one in four."""
    assert FACTOR * LONGEST <= MAX_TEXT
    request = asked(name).request
    cost(request, ("", "Hm.", ""), 1)  # the schema and the patterns are made before anything is measured
    units = islice(UNITS.items(), list(KINDS.values()).index(name) % one_of, None, one_of)
    faster = {unit: round(times, 1) for unit, parts in units if (times := growth(request, parts)) > MOST}
    assert not faster, f"{FACTOR} times the text, and so many times the cost: {faster}"


@pytest.mark.parametrize("unit", [", ", "a", "a: ", " a", "a: 1, ", ",\t", "; "])
def test_what_a_text_of_probabilities_costs_grows_with_its_length(unit: str) -> None:
    names = ("Ann", "Bea")
    question = SurveyQuestion(name="who", ask="Who?", options=names, probabilities=True)
    about = asked(next(iter(KINDS.values()))).request
    request = Survey(player="Ann", about=about, news=(), questions=(question,), interview=0, round=1)
    assert request.parse('{"who": "Ann: 60%, Bea: 40%"}').decision.answers == {"who": {"Ann": "60%", "Bea": "40%"}}
    assert growth(request, ('{"who": "', unit, '"}')) <= MOST


def test_growth_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that looks at every place from every place is found out."""
    monkeypatch.setitem(globals(), "TURNS", 1)  # growth that is there is there at once

    class Quadratic:
        def parse(self, text: str) -> None:
            sum(1 for _ in text for _ in text)

    quadratic: Any = Quadratic()
    # another process can make the short text dearer, though not each time
    assert any(growth(quadratic, UNITS["full stops"]) > MOST for _ in range(3))
