"""Siblings of markup: ends of turns, lines of other players, notes to oneself, XML, YAML, schemas and calls.

And what people say that only looks so.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from agentsim.engine.reading.reader import thoughts_in
from agentsim.errors import DecisionError, UnreadableReply
from tests.amounts import each_row
from tests.replies.asked import asked

WORDS = "Keep me and I keep you."
PITCH, VOTE, BID, ACT = "agent_island/pitch", "agent_island/vote", "auction/bid", "society/act"
ACTION, QUERY = "market/action", "market/query"


def decided(name: str, text: str) -> Any:
    """What a reply decides, or the code of its error."""
    try:
        return asked(name).request.parse(text).decision.model_dump(mode="json")
    except DecisionError as error:
        return error.code


def said(text: str) -> str:
    """The words of a pitch, or "" if it is asked again."""
    outcome = decided(PITCH, text)
    return "" if isinstance(outcome, str) else str(outcome["text"])


def both(text: str) -> tuple[str, str]:
    """The same in prose and as the string of an object."""
    return text, json.dumps({"text": text}, ensure_ascii=False)


# -- ends of turns

ENDS = (
    *(
        "<END>",
        "<end>",
        "<stop>",
        "<STOP>",
        "<eom>",
        "<DONE>",
        "<_end>",
        "<_user>MADE UP",
        "<user>MADE UP",
        "</assistant>",
        "<<END>>",
        " <<<END>>>MADE UP",
        "<endofturn>MADE UP",
        "<_assistant>MADE UP",
    ),
    *(
        "[end of turn]",
        "[END OF TURN]",
        "(end of message)",
        " [END]",
        "\n---END---",
        "\n*** End of speech ***",
        "[end_of_turn]",
        "【END】",
        "\n\n[End]",
        "\n(end)",
        "\n\nEND",
        "\nEOF",
        "\nEND OF TURN",
        "###END###",
        "\n### END",
        " TERMINATE",
        "|end|",
    ),
    *(
        "|im_end|",
        "|im_end|MADE UP",
        "|eot_id|\nMADE UP",
        "[im_end]",
        "{im_end}",
        "[|im_end|]",
        "(|im_end|)",
        "<im_end|",
    ),
    *(
        "《|im_end|》",
        "【|im_end|】MADE UP",
        "〈|im_end|〉",
        "⟨|eot_id|⟩",
        "《im_end》",
        "《／|im_end|》",
        "</|im_end|>",
    ),
    *("&lt;/s&gt;", "&lt;/s&gt;MADE UP", "%3C|im_end|%3E", "&lt;im_end&gt;", "&#60;/s&#62;"),
    *("\n✿RESULT✿: MADE UP", "<im_patch>", "<image>", "【4:0†source】", "<co: 0>", "<_bot>MADE UP"),
)


@each_row("end", ENDS)
def test_what_ends_a_turn_and_what_follows_it_is_never_said(end: str) -> None:
    for reply in both(f"{WORDS}{end}"):
        assert said(reply) in (WORDS, "")


CUT = tuple(
    end
    for end in ENDS
    if end not in {"<_assistant>MADE UP", "<im_patch>", "<image>", "【4:0†source】", "<co: 0>"} and "／" not in end
)


@each_row("end", CUT)
def test_words_before_an_end_of_a_turn_are_said(end: str) -> None:
    for reply in both(f"{WORDS}{end}"):
        assert said(reply) == WORDS


RESULTS = (
    '<tool_response>\n{"vote": "B"}\n</tool_response>',
    '<|tool_response>{"vote": "B"}<tool_response|>',
    '[TOOL_RESULTS]{"vote": "B"}[/TOOL_RESULTS]',
    '<function_results>{"vote": "B"}</function_results>',
    "<tool_result>B</tool_result>",
    '<|START_TOOL_RESULT|>{"vote": "B"}',
)


@each_row("result", RESULTS)
def test_a_result_of_a_tool_is_another_turn_and_decides_nothing(result: str) -> None:
    assert decided(VOTE, result) == "unreadable"
    assert decided(VOTE, f'{{"vote": "C"}}\n{result}')["vote"] == "C"
    assert said(f"{WORDS}{result}") == WORDS


@pytest.mark.parametrize("to", ["python code", "assistant", "functions.vote"])
def test_analysis_is_thinking_whoever_it_calls(to: str) -> None:
    analysis = f'<|channel|>analysis to={to}<|message|>{{"vote": "B"}}<|call|>'
    assert decided(VOTE, analysis) == "unreadable"
    assert said(f"<|start|>assistant<|channel|>analysis to={to}<|message|>SECRET<|call|>") == ""


@pytest.mark.parametrize("tag", ["answer", "response", "output", "message", "result"])
def test_words_behind_the_end_of_an_answer_without_a_beginning_are_asked_again(tag: str) -> None:
    for text in both(f"{WORDS}</{tag}>MADE UP"):
        assert said(text) == ""
    assert said(f"<{tag}>{WORDS}</{tag}>") == WORDS
    assert said(f"{WORDS}</{tag}>") == WORDS


def test_a_tag_of_thinking_that_is_empty_hides_nothing() -> None:
    for tag in ("<think/>", "<think />", "<Thinking/>"):
        assert said(f"{tag}{WORDS}") == WORDS


LINE_ENDS = ("\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029")


@pytest.mark.parametrize("end", LINE_ENDS)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_line_begins_behind_every_separator_of_lines(end: str, ascii_only: bool) -> None:
    for text in (f"{WORDS}{end}B: I vote C.", f"thought{end}SECRET{end}{end}{WORDS}", f"{WORDS}{end}**B**{end}Never."):
        assert said(json.dumps({"text": text}, ensure_ascii=ascii_only)) == "", text
    verse = f"Keep me.{end}Keep B."
    assert said(json.dumps({"text": verse}, ensure_ascii=ascii_only)) == "Keep me.\nKeep B."


def test_invisible_characters_hide_no_turn_and_no_thinking() -> None:
    for text in (f"{WORDS}\nUs\x07er: M", f"tho\x00ught\nSECRET\n\n{WORDS}", f"{WORDS}\nB\x08: M"):
        assert said(json.dumps({"text": text})) == "", text


@pytest.mark.parametrize(
    "call",
    [
        "W <parameter=vote>C</parameter>",
        "<function=vote><parameter=vote>C</parameter></function> W",
        'W <invoke name="vote"><parameter name="vote">C</parameter></invoke>',
        "W \ufffc\ufffc",
    ],
)
def test_words_never_hold_what_stands_for_a_call(call: str) -> None:
    for reply in both(call.replace("W", WORDS)):
        assert said(reply) in {WORDS, ""}


@pytest.mark.parametrize("end", ["\\n", "\\u000a", "\\u000A", "\u2028"])
def test_a_line_of_another_player_is_found_however_its_line_end_is_written(end: str) -> None:
    assert said(f'{{"text": "{WORDS}{end}B: I agree with all of it."}}') == ""


@each_row("role", ["AI", "Chatbot", "Пользователь", "Usuario", "사용자", "Benutzer"])
def test_a_line_of_a_role_in_any_language_is_asked_again(role: str) -> None:
    assert said(f"{WORDS}\n{role}: MADE UP") == ""


def test_what_is_cited_is_said_without_the_marks_of_the_citation() -> None:
    for reply in both(f"<co: 0>{WORDS}</co: 0>"):
        assert said(reply) == WORDS
    assert said("<co: 0>Keep me</co: 0,1> and <co>I keep you</co: 0>.") == WORDS


# -- lines that others speak

LINES = (
    *(
        "\nB: No way.",
        "\n\nB: No way.\nC: Me neither.",
        "\n**B:** No way.",
        "\n**B**: No way.",
        "\nPlayer B: No way.",
        "\n[B]: No way.",
    ),
    *(
        "\n[B] No way.",
        "\nB> No way.",
        '\n"B": No way.',
        "\nb: No way.",
        "\nB (to A): No way.",
        "\nB says: No way.",
        "\n<B> No way.",
        "\nB：No way.",
        "\nModerator: No way.",
        "\nNarrator: No way.",
    ),
    *("\nAction: pitch\nAction Input: No way.", "\n@B: No way.", "\nAction: pitch", "\nFinal Answer: No way."),
    # other separators, and none
    *(
        "\nB - No way.",
        "\n\nB — No way.",
        "\nB—No way.",
        "\nB | No way.",
        "\nB = No way.",
        "\nB → No way.",
        "\nB\tNo way.",
    ),
    *("\nB∶ No way.", "\nB﹕No way.", "\nPlayer B - No way.", "\n**B** - No way.", "\n**B** No way.", "\n(B) No way."),
    # a name on a line of its own
    *("\n**B**\nNo way.", "\n\n**B**\n\nNo way.", "\nB\nNo way.", "\n# B\nNo way.", "\n[B]\nNo way.", "\n_B_\nNo way."),
    # signs and words before the name
    *("\n- B: No way.", "\n1. B: No way.", "\n* **B:** No way.", "\n> B: No way.", "\n🗣 B: No way.", "\n\tB: No way."),
    *("\n[12:00] B: No way.", "\nTurn 2 - B: No way.", "\nFrom B: No way.", "\nB -> A: No way.", "\nB and C: No way."),
    # a tag with the name, and speakers without one
    *("\n<B>No way.</B>", "\n<B>\nNo way.\n</B>", "\nEveryone: No way.", "\nAll: No way.", "\nThe others: No way."),
    *("\nQ: No way.", "\n\nQ: No way?\nA: MADE UP", "\nYou: No way."),
)


@each_row("line", LINES)
def test_a_line_that_another_player_speaks_behind_the_words_is_never_said(line: str) -> None:
    for reply in both(f"{WORDS}{line}"):
        assert said(reply) == ""


@each_row(
    "made_up",
    [
        *(
            "\nA: MADE UP",
            "\nB: No way.\nA: MADE UP",
            "\n\n**B:** No.\n\n**A:** MADE UP",
            "\nPlayer B: No.\nPlayer A: MADE UP",
        ),
        *(
            "\nObservation: MADE UP",
            "\n\nObservation: MADE UP\nThought: MADE UP",
            "\n**Observation:** MADE UP",
            "\nTool result: MADE UP",
        ),
    ],
)
def test_a_made_up_dialogue_is_never_said(made_up: str) -> None:
    for reply in both(f"{WORDS}{made_up}"):
        assert said(reply) == ""


DIALOGUES = (
    *("B: Yes.\nC: No.", "B: Sounds good.\nC: Deal.", "B: Agreed.\nC: Never.", "B: Why should we?\nC: Because M."),
    *("B: You lied to us.\nC: You are the wolf.", "B: Hello everyone!\n\nC: Hi!", "B: Liar!\n\nC: Traitor!"),
    *("B: *laughs* Sure.\n\nC: *nods* Yes.", "B: C is the wolf.\n\nC: B is the wolf.", "B: Vote D out.\nC: Fine."),
    *("B: Loyal as ever, M.\nC: Snake.", "B: Round two starts.\n\nC: Good luck everyone.", "**B:** Well.\n**C:** So."),
)


@pytest.mark.parametrize("lines", DIALOGUES)
def test_a_dialogue_of_others_is_no_list_of_players(lines: str) -> None:
    for above in (WORDS, "I see us as one."):
        for reply in both(f"{above}\n\n{lines}"):
            assert said(reply) == ""


NOTES_ON_PLAYERS = (
    "I watch all of us.\n\nB: Strong player.\nC: Wild card.",
    "I watch all of us.\nB: Never lied to me.\nC: Nobody's friend.\nD: No threat at all.",
    "My read.\nB: Strong.\nC: Wild.",
    "Let me go around the table.\n\n**B**: You've been loyal.\n\n**C**: You've been quiet.",
    "Votes last round.\nB: Two against, one for.\nC: None so far.",
    "我看大家。\nB：忠诚。\nC：危险。",
)


@each_row("words", NOTES_ON_PLAYERS)
def test_notes_on_players_are_said_in_the_structure_asked_for(words: str) -> None:
    assert said(json.dumps({"text": words})) == words


def test_lines_of_numbered_agents_are_no_posts() -> None:
    for line in (
        *("\nagent2: No way.", "\nAgent #2: No way.", "\nAgent 3 says: No way.", "\nagent2: No.\nagent1: MADE UP"),
    ):
        assert decided(ACT, f"{WORDS}{line}")["action"]["action"] == "rejected"


def test_a_line_of_a_player_about_whom_a_field_is_is_never_said() -> None:
    for line in ("\nC: No way.", "\nC - No way.", "\n**C**\nNo way."):
        outcome = decided("agent_island/quips", json.dumps({"B": f"{WORDS}{line}", "C": WORDS, "D": WORDS}))
        assert outcome == "unreadable", line


def test_a_dialogue_with_players_who_are_named_as_roles_is_never_said() -> None:
    whisper: Any = asked("agent_island/whisper").request
    request = replace(whisper, player="Model", partner="User")
    with pytest.raises(UnreadableReply):
        request.parse(f"{WORDS}\nUser: Not you.\nModel: Nor you.")


SPEECH = (
    *("I vote B: she is honest", "A: yes, B: no", "I see it so:\nB: liar.\nC: honest.", "B: you lie.\nC: you too."),
    *(f"{WORDS}\n- B: you lie.\n- C: you do not.", f"{WORDS}\nPlan B: we go.", f"{WORDS}\nBecause: you know me."),
    *(
        "I love you all <3",
        "My observation: B lies.",
        "Fact: B lies.\nObservation: B smiles.",
        "Observation: B lies. So I vote B.",
    ),
    *("An observation or two: B lies.", 'She said: "B: never!"', "B's word: no. C's word: yes."),
    *("See https://example.com/a//b and vote.", "//example.com/me is my page.", "Write `a // b`, or a /* b */ c."),
    *(
        "It is the end of the turn for us.",
        "The end.",
        "Stop! (Please stop.)",
        "Keep [him] and {her}; 1 < 2.",
        "I (thinking of you) vote C.",
    ),
    *(
        "Let's go with C.",
        "Let us work together, B!",
        "I will think about it.",
        "Let me think of you as a friend.",
        "Think step by step, friends: who lied?",
    ),
    *(
        "Step 1: we vote C.\nStep 2: we win.",
        "我说「思考」很重要。",
        "《红楼梦》是好书。",
        "Three things: |x| and |y|.",
        "Text me: |\nor not.",
    ),
    *(
        "100% of you; 5%3 is 2.",
        "Use & and &lt; in HTML.",
        "(private) words for you.",
        "x = {a_b} and [c_d]",
        "I keep [my_word].",
    ),
    *("<video> and <audio> are tags.", "✿ flowers ✿ for you", "Well, hello [B]!"),
)


@each_row("words", SPEECH)
def test_speech_that_only_looks_like_markup_is_said(words: str) -> None:
    for reply in both(words):
        assert said(reply) == words


@pytest.mark.parametrize("brackets", ["⟨⟩", "《》", "〈〉", "‹›", "【】", "＜＞", "<>"])
def test_a_role_in_any_brackets_begins_a_turn(brackets: str) -> None:
    role = f"{brackets[0]}user{brackets[1]}"
    for made_up in (f"{role}MADE UP", f" {role} MADE UP", f"\n{role}\nMADE UP"):
        for reply in both(f"{WORDS}{made_up}"):
            assert said(reply) == WORDS


def test_a_tag_that_is_formatting_and_a_name_is_the_name_if_it_is_spelled_so() -> None:
    for reply in both(f"<B>No way.</B>\n{WORDS}"):
        assert said(reply) == ""
    for reply in both(f"{WORDS}\n<b>No way.</b>"):
        assert said(reply) == f"{WORDS}\n<b>No way.</b>"


# -- what is framed apart from the words

FRAMED = (
    # a tag that does not end
    *("<ponder>SECRET", f"<ponder>SECRET\n\n{WORDS}", f"{WORDS}\n<ponder>SECRET", f"{WORDS} <ponder>SECRET"),
    *(
        f"<musing>\nSECRET\n{WORDS}",
        f"＜ponder＞SECRET\n{WORDS}",
        f"⟨ponder⟩SECRET\n{WORDS}",
        "Keep me, <ponder>SECRET",
    ),
    # what is hidden until a reader clicks
    *(
        f"||SECRET|| {WORDS}",
        f"{WORDS} ||SECRET||",
        f"{WORDS}\n||A SECRET||",
        f">!SECRET!< {WORDS}",
        f"{WORDS} %%SECRET%%",
    ),
)
HEADED = (
    # a note on a line of its own
    *(f"Note: SECRET\n{WORDS}", f"Note: SECRET\n\n{WORDS}", f"{WORDS}\nNote: SECRET", f"{WORDS}\n\nNotes: SECRET"),
    *(f"Plan: SECRET\n\n{WORDS}", f"Strategy: SECRET\n{WORDS}", f"Analysis: SECRET\n{WORDS}"),
    *(f"{WORDS}\nStrategy: SECRET", f"{WORDS}\n\nP.S. (private): SECRET"),
    # words beyond a rule
    *(f"{WORDS}\n---\nSECRET", f"{WORDS}\n\n***\n\nSECRET", f"{WORDS}\n___\nSECRET", f"{WORDS}\n======\nSECRET"),
    *(f"{WORDS}\n* * *\nSECRET", f"{WORDS}\n—————\nSECRET", f"{WORDS}\n⸻\nSECRET", f"SECRET\n\n---\n\n{WORDS}"),
    # a heading of strategy
    *(
        f"{WORDS}\n\n**Strategy:** S",
        f"{WORDS}\n\n### Strategy\nS",
        f"{WORDS}\n\n策略：S",
        f"**Strategy:** S\n\n{WORDS}",
    ),
    *(f"{WORDS}\n\n**Why this works:** S", f"{WORDS}\n\n**Rationale:** S"),
)


@each_row("text", FRAMED)
def test_what_stands_apart_from_the_words_is_never_said(text: str) -> None:
    for reply in both(text):
        assert said(reply) in {"", WORDS}


@each_row("text", HEADED)
def test_a_heading_or_a_rule_is_speech_in_the_structure_asked_for_and_doubtful_beside_nothing(text: str) -> None:
    assert said(text) in {"", WORDS}
    assert said(json.dumps({"text": text}, ensure_ascii=False)) == text


@pytest.mark.parametrize("end", ["Final thought: trust is earned.", "**Thinking:** S", "My reasoning: B lies."])
def test_a_heading_of_thinking_below_bare_words_is_asked_again_and_never_cut(end: str) -> None:
    assert said(f"{WORDS}\n\n{end}") == ""


HTML = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</title></textarea></pre><iframe srcdoc='<script>alert(1)</script>'>",
    "<style>p { color: red }</style> is what I mean.",
)


@pytest.mark.parametrize("words", HTML)
def test_elements_of_html_are_words_in_the_structure_asked_for_and_doubtful_beside_nothing(words: str) -> None:
    assert said(json.dumps({"text": words})) == words
    assert said(words) == ""
    escaped = words.replace("<", "&lt;").replace(">", "&gt;")
    assert said(json.dumps({"text": escaped})) in {words, escaped}
    assert said(json.dumps({"text": f"<ponder>SECRET</ponder>{words}"})) == ""


# -- notes to oneself

NOTES = (
    *(
        "《think》SECRET《/think》W",
        "（思考）SECRET（/思考）W",
        "〔think〕SECRET〔/think〕W",
        "「思考」SECRET「/思考」W",
        "《thinking》SECRET《／thinking》W",
        "«think»SECRET«/think»W",
        "<thinking: SECRET>W",
    ),
    *(
        r"\think{SECRET} W",
        r"\thinking{a {SECRET} b}W",
        r"\thought {SECRET}W",
        r"\reasoning{SECRET}W",
        "\think{SECRET} W",
        r"\begin{think}SECRET\end{think}W",
    ),
    *(
        "{think}SECRET{/think}W",
        "[[thinking]]SECRET[[/thinking]]W",
        "(思考)SECRET(/思考)W",
        "{{think}}SECRET{{/think}}W",
    ),
    # parts of a reply that is nothing but words, and doubtful in the words of an object
    *("// SECRET\nW", "/* SECRET */\nW", "/* SECRET\nSECRET */ W", "W\n// SECRET", "W /* SECRET */", "//SECRET\nW"),
)
ALOUD = (
    *(
        "（思考）SECRET\n\nW",
        "(thinking) SECRET\n\nW",
        "《思考》SECRET\nW",
        "Let's think step by step. SECRET\n\nW",
        "Step 1: SECRET\nStep 2: SECRET\nFinal: W",
        "The user wants me to write a pitch. SECRET\n\nW",
        "Okay, so the user is asking for a vote. SECRET\n\nW",
        "I must produce a short pitch. SECRET\n\nW",
        "I need to output valid JSON. SECRET",
        "逐步思考：SECRET\n\nW",
        "ステップバイステップで考えましょう。SECRET\n\nW",
        "Let me think. SECRET",
    ),
    *(
        "Okay, let's think about this. SECRET\n\nW",
        "First, let me think out loud: SECRET",
        "Thinking step by step: SECRET",
        "让我们一步一步思考。SECRET\n\nW",
    ),
    *(
        "Hmm, let me think this through. SECRET\n\nW",
        "Lass uns Schritt für Schritt nachdenken. SECRET",
        "Pensemos paso a paso. SECRET",
    ),
)


@each_row("text", NOTES)
def test_notes_to_oneself_are_thinking_and_the_words_beside_them_are_said(text: str) -> None:
    is_comment = "//" in text or "/*" in text
    for reply in both(text.replace("W", WORDS)):
        if is_comment and reply.startswith("{"):
            assert said(reply) == ""
            continue
        assert said(reply) == WORDS
        assert "SECRET" in "\n".join(thoughts_in(asked(PITCH).request, reply))


@each_row("text", ALOUD)
def test_thinking_aloud_without_an_end_is_asked_again(text: str) -> None:
    for reply in both(text.replace("W", WORDS)):
        assert said(reply) == ""


@pytest.mark.parametrize(
    "text",
    [
        *("Let's think step by step.\nSECRET\n\nText: W", "Let me think step by step.\nSECRET\n\nFinal answer: W"),
    ],
)
def test_thinking_aloud_ends_with_a_heading_of_the_answer(text: str) -> None:
    prose, in_object = both(text.replace("W", WORDS))
    assert said(prose) == WORDS
    assert said(in_object) == ""


def test_comments_around_an_object_that_decides_are_asked_again() -> None:
    for reply in (
        '{"vote": "C"} // not really',
        '{"vote": "C" /* B */}',
        '/* {"vote": "B"} */ {"vote": "C"}',
        "C\n// not really",
    ):
        assert isinstance(decided(VOTE, reply), str)


def test_thinking_aloud_in_words_that_no_one_hears_is_no_fault() -> None:
    assert decided(VOTE, json.dumps({"explanation": "Let's think step by step. B lies.", "vote": "C"}))["vote"] == "C"
    memory = {"action": "skip", "action_parameters": {}, "working_memory": "Let me think. Wheat is dear. // sell"}
    assert decided(ACTION, json.dumps(memory)) == memory


# -- calls of Qwen-Agent


def test_the_calls_of_qwen_agent_are_read() -> None:
    call = f"✿FUNCTION✿: pitch\n✿ARGS✿: {json.dumps({'text': WORDS})}"
    assert said(call) == WORDS
    assert said(f"{call}\n✿RESULT✿: MADE UP\n✿RETURN✿: MADE UP") == WORDS
    assert decided(VOTE, 'C talks too much.\n✿FUNCTION✿: vote\n✿ARGS✿: {"vote": "C"}')["vote"] == "C"
    work = {"work_type": "generate", "hours": 2}
    assert decided(ACT, f"✿FUNCTION✿: work\n✿ARGS✿: {json.dumps(work)}")["action"] == {"action": "work", **work}
    assert said(f"✿FUNCTION✿: pitch ✿ARGS✿: {WORDS}") == ""
    assert said(f"{WORDS}\n✿FUNCTION✿: pitch") == ""


# -- values of schemas, and fences in arguments


@pytest.mark.parametrize("key", ["const", "value", "default", "example"])
def test_a_schema_that_holds_the_value_is_read(key: str) -> None:
    for node in (
        {key: WORDS},
        {"type": "string", key: WORDS},
        {"type": "string", "description": "Your pitch", key: WORDS},
    ):
        assert said(json.dumps({"properties": {"text": node}})) == WORDS
        assert said(json.dumps({"text": node})) == WORDS
    assert decided(VOTE, json.dumps({"type": "object", "properties": {"vote": {key: "C"}}}))["vote"] == "C"
    assert decided(BID, json.dumps({"bid": {"type": "integer", "minimum": 0, key: 150}}))["bid"] == 150


def test_a_schema_of_one_value_is_that_value_and_one_of_several_is_none() -> None:
    for key in ("enum", "examples"):
        assert said(json.dumps({"properties": {"text": {key: [WORDS]}}})) == WORDS
        assert decided(VOTE, json.dumps({"properties": {"vote": {"type": "string", key: ["C"]}}}))["vote"] == "C"
        assert isinstance(decided(VOTE, json.dumps({"properties": {"vote": {key: ["C", "B"]}}})), str)
    assert isinstance(decided(PITCH, json.dumps({"text": {"const": WORDS, "default": "No."}})), str)
    assert isinstance(decided(PITCH, json.dumps({"text": {"type": "string", "description": WORDS}})), str)
    assert isinstance(decided(BID, json.dumps({"bid": {"minimum": 0, "maximum": 1000}})), str)


def test_the_words_of_an_object_in_their_own_field_are_said() -> None:
    for inner in ({"text": WORDS}, {"content": WORDS}, {"type": "text", "text": WORDS}):
        assert said(json.dumps({"text": inner})) == WORDS
    assert isinstance(decided(PITCH, json.dumps({"text": [WORDS]})), str)


def test_a_fence_in_the_arguments_of_a_call_is_read() -> None:
    fenced = f"```json\n{json.dumps({'text': WORDS})}\n```"
    for reply in (
        {"name": "pitch", "arguments": fenced},
        {"function": {"name": "pitch", "arguments": fenced}},
        {"text": fenced},
        {"text": f"```json\n{json.dumps({'name': 'pitch', 'arguments': {'text': WORDS}})}\n```"},
        {"text": json.dumps({"name": "pitch", "arguments": json.dumps({"text": WORDS})})},
    ):
        assert said(json.dumps(reply)) == WORDS
    assert decided(VOTE, json.dumps({"name": "vote", "arguments": '```\n{"vote": "C"}\n```'}))["vote"] == "C"


def test_words_that_hold_an_object_are_asked_again() -> None:
    for words in (
        f"pitch {json.dumps({'text': WORDS})}",
        f"pitch\n{json.dumps({'text': WORDS})}",
        f"So: {json.dumps({'name': 'x', 'arguments': {}})} ok",
    ):
        assert isinstance(decided(PITCH, json.dumps({"text": words})), str)
    assert said(json.dumps({"text": "I wrote {a: 1} on the wall."})) == "I wrote {a: 1} on the wall."


def test_words_in_the_xml_or_yaml_of_a_text_are_said() -> None:
    for words in (f"<pitch><text>{WORDS}</text></pitch>", f"text: |\n  {WORDS}", f"<text>{WORDS}</text>"):
        assert said(json.dumps({"text": words})) == WORDS


# -- a choice with parameters as a call

SKIP = {"action": "skip", "action_parameters": {}, "working_memory": ""}
BUY = {"good": "wheat", "price": 5, "quantity": 1}


@each_row(
    "reply",
    [
        {"name": "skip", "arguments": {}},
        {"action": {"type": "skip"}},
        {"action": {"name": "skip", "arguments": {}}},
        {"type": "skip"},
        {"skip": {}},
        {"function": {"name": "skip", "arguments": "{}"}},
        {"name": "action", "arguments": {"type": "skip"}},
    ],
)
def test_a_call_of_an_action_of_a_market_is_read(reply: Any) -> None:
    assert decided(ACTION, json.dumps(reply)) == SKIP
    assert decided(ACTION, f"<tool_call>{json.dumps(reply)}</tool_call>") == SKIP


@pytest.mark.parametrize(
    "reply",
    [
        {"name": "buy", "arguments": BUY},
        {"action": {"type": "buy", **BUY}},
        {"action": {"buy": BUY}},
        {"action": {"name": "buy", "parameters": BUY}},
        {"tool": "buy", "args": BUY},
    ],
    ids=json.dumps,
)
def test_a_call_of_an_action_of_a_market_has_its_parameters(reply: Any) -> None:
    assert decided(ACTION, json.dumps(reply)) == {"action": "buy", "action_parameters": BUY, "working_memory": ""}
    reply = {**reply, "working_memory": "m"}
    if "action" in reply:
        assert decided(ACTION, json.dumps(reply))["working_memory"] == "m"


def test_a_query_of_a_market_is_read_from_a_call() -> None:
    book = {"query": "order_book", "query_parameters": {"good": "wheat"}}
    for reply in (
        {"name": "order_book", "arguments": {"good": "wheat"}},
        {"query": {"type": "order_book", "good": "wheat"}},
    ):
        assert decided(QUERY, json.dumps(reply)) == book
    assert decided(QUERY, 'order_book(good="wheat")') == book
    assert decided(QUERY, '{"name": "none", "arguments": {}}')["query"] == "none"


def test_an_object_of_a_market_that_lacks_its_fields_and_is_no_call_is_asked_again() -> None:
    assert decided(ACTION, '{"action": "skip"}') == "unreadable"
    assert decided(ACTION, '{"name": "steal", "arguments": {}}') == "unreadable"


# -- XML and YAML

WORK = {"action": "work", "work_type": "generate", "hours": 2}


@each_row(
    "reply",
    [
        "<action>work</action><work_type>generate</work_type><hours>2</hours>",
        "<action>work</action>\n<work_type>generate</work_type>\n<hours>2</hours>\n",
        "<act><action>work</action><work_type>generate</work_type><hours>2</hours></act>",
        "<response>\n<action>work</action><work_type>generate</work_type><hours>2</hours>\n</response>",
        "<action><type>work</type><work_type>generate</work_type><hours>2</hours></action>",
        "<work><work_type>generate</work_type><hours>2</hours></work>",
        '<work work_type="generate" hours="2"/>',
        "```xml\n<action>work</action><work_type>generate</work_type><hours>2</hours>\n```",
        "action: work\nwork_type: generate\nhours: 2",
        "action:\n  type: work\n  work_type: generate\n  hours: 2",
        "work:\n  work_type: generate\n  hours: 2",
        "```yaml\naction: work\nwork_type: generate\nhours: 2\n```",
        "---\naction: 'work'\nwork_type: \"generate\"\nhours: 2\n---",
    ],
)
def test_an_act_in_xml_or_yaml_is_read(reply: str) -> None:
    assert decided(ACT, reply)["action"] == WORK


@each_row(
    "reply",
    [
        *(
            "<action>work</action>",
            "<act>work</act>",
            "<work/>",
            '<action name="work"/>',
            '<action type="work">generate</action>',
        ),
        *(
            "[action]work[/action]",
            "Hello!\n<action>work</action>",
            "<action>work",
            "<action>work</action> and so on",
            "Action: work",
        ),
        *("forum_post: Hello", "**direct_message**: Hello", "forum_post = Hello"),
        *("**Action:** work", "work", "work()", "`work`", "/work", "<forum_post>hello</forum_post>", "action=work"),
    ],
)
def test_half_an_act_is_no_post(reply: str) -> None:
    assert decided(ACT, reply)["action"]["action"] == "rejected"


@each_row(
    "reply",
    [
        "I work today.",
        "XML like <config/> is dull.",
        "I like <b>bold</b> <vote> talk",
        "<3 you",
        "Vote: no on 3",
        "Title: my plan\nWe build.",
    ],
)
def test_words_are_a_post_still(reply: str) -> None:
    assert decided(ACT, reply)["action"] == {"action": "forum_post", "content": reply}


def test_a_post_in_xml_says_its_signs() -> None:
    reply = "<action>forum_post</action><content>Hello &lt;3 &amp; bye</content>"
    assert decided(ACT, reply)["action"] == {"action": "forum_post", "content": "Hello <3 & bye"}


@each_row(
    "text",
    [
        "text: |\n W",
        "text: >\n  W",
        "text: |-\n  W\n",
        "text: >-\n  Keep me\n  and I keep you.",
        "```yaml\ntext: |\n  W\n```",
        "---\ntext: W\n---",
    ],
)
def test_a_block_of_yaml_is_the_words_in_it(text: str) -> None:
    assert said(text.replace("W", WORDS)) == WORDS


def test_a_block_of_yaml_beside_a_decision_is_its_explanation() -> None:
    for reply in ("explanation: |\n  So.\nvote: C", "vote: |\n  C\nexplanation: So.", "vote: C\nexplanation: >\n  So."):
        assert decided(VOTE, reply) == {"explanation": "So.", "vote": "C"}
    assert isinstance(decided(VOTE, "explanation: |\n  So.\nvote: C\n\nNo!"), str)


def test_an_action_of_a_market_in_xml_or_yaml_is_read() -> None:
    whole = {"action": "buy", "action_parameters": BUY, "working_memory": "m"}
    parts = "".join(f"<{key}>{value}</{key}>" for key, value in BUY.items())
    xml = f"<action>buy</action><action_parameters>{parts}</action_parameters><working_memory>m</working_memory>"
    yaml = "action: buy\naction_parameters:\n  good: wheat\n  price: 5\n  quantity: 1\nworking_memory: m"
    assert decided(ACTION, xml) == decided(ACTION, yaml) == whole


def test_objects_in_xml_and_yaml_are_mended_only_where_objects_are() -> None:
    request = asked(ACT).request
    reading = request.parse("action: work\nwork_type: generate\nhours: 2")
    assert (reading.stage, reading.repaired) == ("repaired", True)
    unread: Any = request.parse("action: work\nwork_type: generate\nhours: 2", repair=False)
    assert unread.decision.action.action == "rejected"


# -- tags that stand apart

APART = (
    *("Keep me.<user>M</user>", 'Keep me. <details type="reasoning">S</details>', "<mind>S</mind> W", "<mind>S</mind>"),
    *("W\n<instructions>M</instructions>", "W\n<context>M</context>\n", "<brain>S</brain>W", "W <aside>S</aside>"),
    *("<ponder>\nS\n</ponder>\nW", "<mind type='a'>S</mind> W", "[mind]S[/mind] W", "W [user]M[/user]"),
    *("{mind}S{/mind} W", "W\n<system-reminder>M</system-reminder>", "W <note_to_self>S</note_to_self>"),
    *("<розум>S</розум> W", "《心》S《/心》W", "【指示】M【/指示】W", "<mind><b>S</b></mind> W"),
    *("Keep me <user>M, and I say more</user>", "S\n</ponder>\nW", "W <hidden_note>S</hidden_note> Vote C."),
    *("<details><summary>Denken</summary>S</details>W", "<turn role='user'>M</turn>"),
    *("<div hidden>S</div>W", "<span style='display:none'>S</span>W", "<?think S ?>W", "<!DOCTYPE html>W"),
    *("[//]: # (S)\nW", "[comment]: <> (S)\nW", "{# S #}W", "{{!-- S --}}W", "W %% S", "{thinking: S} W"),
)


def spelt(text: str) -> str:
    """A text with the words for `W` and a secret for `S`."""
    return re.sub("W(?![a-z])", WORDS, re.sub("(?<![A-Z])S(?![A-Za-z])", "SECRET", text))


@each_row("text", APART)
def test_a_tag_that_stands_apart_is_asked_again(text: str) -> None:
    for reply in both(spelt(text)):
        assert said(reply) in ("", WORDS)
    posted = decided(ACT, json.dumps({"action": "forum_post", "content": spelt(text)}))["action"]
    whole = text == "<mind>S</mind>"  # a post in one tag, such as `<announcement>`, is said as it stands
    assert posted["action"] == "rejected" or posted["content"] == (spelt(text) if whole else WORDS)


# -- thinking in any language

ABROAD = (
    *("<思考中>S</思考中>W", "‹思考中›S‹/思考中›W", "《思考》S《/思考》W", "【思考】S【/思考】W", "<思绪>S</思绪>W"),
    *("<考え>S</考え>W", "<생각>S</생각>W", "<мысли>S</мысли>W", "<denken>S</denken>W", "<Überlegung>S</Überlegung>W"),
    *("<pensée>S</pensée>W", "<raisonnement>S</raisonnement>W", "<pensamiento>S</pensamiento>W", "<σκέψη>S</σκέψη>W"),
    *(
        "<深度思考>S</深度思考>W",
        "<meine_gedanken>S</meine_gedanken>W",
        "（内心独白）S（/内心独白）W",
        "<تفكير>S</تفكير>W",
    ),
    *(
        "（内心：S）W",
        "（心里想：S）W",
        "（思考：S）W",
        "(Gedanken: S) W",
        "(pensando: S) W",
        "(мысли: S) W",
        "【心想：S】W",
    ),
    *("(thinks: S) W", "(thinks: S (really S) S) W", "[thinks: S [and S] S] W", "(aside: S) W", "(OOC: S) W"),
    *("```thinking\nS\n```\nW", "```\nthinking\nS\n```\nW", "```text\n# Thinking\nS\n```\nW", "~~~thinking\nS\n~~~\nW"),
    *("```\nThought process:\nS\n```\nW", "~~~thinking\nS ``` S\n~~~\nW", ":::thinking\nS\n:::\nW"),
    *("Thinking...\nS\n...done thinking.\nW", "Thinking…\nS\n…done thinking.\nW", "S\n...done thinking.\n\nW"),
    *("**<think>**S**</think>**W", "_<think>_S_</think>_W", "```<think>S</think>```W", "*(inner thoughts: S)* W"),
)


@each_row("text", ABROAD)
def test_thinking_in_any_language_and_dress_is_hidden_and_the_words_behind_it_are_said(text: str) -> None:
    for reply in both(spelt(text)):
        assert said(reply) == WORDS
        assert "SECRET" in "\n".join(thoughts_in(asked(PITCH).request, reply))


@pytest.mark.parametrize(
    "text", ["<思考中>B</思考中>\nC", "Thinking…\nB\n…done thinking.\nC", "```\nthinking\nB\n```\nC", "（内心：B）\nC"]
)
def test_thinking_in_any_language_decides_nothing(text: str) -> None:
    assert decided(VOTE, text)["vote"] == "C"


MUSED = (
    # the task, and that words will be written
    *("Okay, so I need to give a pitch. S", "I need to give a pitch. S", "Alright, I have to give a speech now. S"),
    *("I'll write a pitch that hides my plan: S", "Let me write my pitch.\n\nW", "Let me draft a response.\n\nW"),
    *("I will now write my pitch.\n\nW", "Let me craft a message that sounds sincere.\n\nW", "Let's craft a reply. S"),
    *("The prompt asks for a pitch. S", "The task is to write a pitch. S", "The system prompt says that I should lie."),
    *(
        "We are asked to write a pitch. S",
        "I am asked to give a pitch. S",
        "Hmm, I'm player A. S",
    ),
    *("Okay, I should figure out who lies. S", "As player A, I need to craft a pitch. S"),
    *("Given the instructions, I should lie.", "We need to respond as A. S"),
    *(
        "(thinking) S\n\nW",
        "*thinks* S\n\nW",
        "*(to myself)* S\n\nW",
        "Thought for 5 seconds\nS\n\nW",
        "> Thinking\n> S",
    ),
    *("W\n\nthought\nS", "W\nthinking\nS", "W\n思考\nS"),
    # in other languages
    *(
        "好的，用户让我发言。S",
        "好的，用户希望我写一段演讲。S\n\nW",
        "首先，我需要写一段发言。S",
        "嗯，用户要我投票。S",
    ),
    *("ユーザーはスピーチを求めている。S", "사용자는 연설을 원한다. S", "El usuario quiere un discurso. S"),
    *(
        "Der Nutzer möchte, dass ich rede. S",
        "Ich muss jetzt eine kurze Rede schreiben. S",
        "De gebruiker wil een rede. S",
    ),
    *("L'utilisateur demande un discours. S", "Je dois écrire un discours. S", "O usuário pede um discurso. S"),
    *("Пользователь просит меня написать речь. S", "Мне нужно написать речь. S", "Użytkownik prosi o mowę. S"),
    # notes on the words
    *(
        "W\n\n[Strategy: S]",
        "W\n\n(Note: I lie)",
        "W\n\nThis pitch works because S",
        "W\n\n---\n\nThis pitch hides my plan.",
        "W\n\n*This pitch aims to S*",
    ),
    *("W\n\n(35 words)", "W\n\nLet me know if you want changes!", "W\n\nThat should convince them.", "W\n\n（注：S）"),
    *(
        "Here's a pitch that hides my plan to betray B:\n\nW",
        "I lie to B. Here is my pitch:\n\nW",
        "Draft 1: W\nDraft 2: W",
    ),
)


@each_row("text", MUSED)
def test_thinking_and_notes_without_marks_are_asked_again(text: str) -> None:
    prose, in_object = both(spelt(text))
    assert said(in_object) == ""
    assert said(prose) in ("", WORDS)


# -- escapes

ESCAPED = {
    "I don\\u2019t lie.": "I don’t lie.",
    "I don\\x27t lie.": "I don't lie.",
    "It\\'s me.": "It's me.",
    "I said \\u201cno\\u201d.\\nKeep me.": "I said “no”.\nKeep me.",
    "\\u4f60\\u597d": "你好",
    "Caf\\u00e9 \\ud83d\\ude00 for you.": "Café 😀 for you.",
    "It&#39;s me &amp; you.": "It's me & you.",
    "I don&rsquo;t lie.": "I don’t lie.",
    "I don&amp;#39;t lie.": "I don't lie.",
    "Keep&nbsp;me.": "Keep me.",
    "I%20keep%20you.": "I keep you.",
    "<![CDATA[I keep you.]]>": "I keep you.",
    "<text><![CDATA[I keep you.]]></text>": "I keep you.",
    '<pitch text="I don\'t lie."/>': "I don't lie.",
    "\\boxed{I keep you.}": "I keep you.",
    "$\\boxed{\\text{I keep you.}}$": "I keep you.",
    "I keep you.<\\|im_end\\|>M": "I keep you.",
}


@each_row("text", ESCAPED)
def test_escapes_and_wrappings_of_a_whole_text_are_taken_off(text: str) -> None:
    for reply in both(text):
        assert said(reply) == ESCAPED[text]


@each_row(
    "words",
    [
        *("Write `print('a\\n')`, or C:\\new\\table.", "print('it\\'s me')", "The escape \\u2019 is an apostrophe."),
        *("C:\\users\\u2019\\new", "In `\\u2019` I trust.", "Use &lt; and &amp; in HTML.", "Write &lt; for less."),
        *(
            "R&D; and B&B; too.",
            "You & me &amp; B.",
            "https://a.example/b%20c",
            "110%20 of us",
            "A \\ B",
            "\\o/ hooray",
        ),
        *("Unicode: it\\u2019s fun.", "He is a \\text of a man.", "[CDATA[x]]"),
        *("¯\\_(ツ)_/¯", "AT&T; and I don't care.", "x = {don\\u2019t}"),
    ],
)
def test_honest_backslashes_and_ampersands_stay(words: str) -> None:
    assert said(json.dumps({"text": words})) == words


def test_wrappings_around_a_vote_are_taken_off() -> None:
    for reply in ("\\boxed{C}", "$\\boxed{\\text{C}}$", '{"vote": "\\\\boxed{C}"}', '{"vote": "\\boxed{C}"}'):
        assert decided(VOTE, reply)["vote"] == "C", reply
    for reply in ('<vote value="C"/>', '<vote vote="C" explanation="It\'s so."/>', "<vote><![CDATA[C]]></vote>"):
        assert decided(VOTE, reply)["vote"] == "C", reply


# -- turns of others

OTHERS = (
    *("\nfunction\nM", "\nobservation\nM", "\ndeveloper\nM", "\nenvironment\nM", "\nfunction_response\nM"),
    *("\nHost: M", "\n主持人：M", "\nNarrator: M", "\n**Host:** M", "\n[Host] M", "\nGame Master: M", "\nJudge: M"),
    *("\n旁白：M", "\n司会：M", "\n사회자: M", "\nВедущий: M", "\nErzähler: M", "\nNarrateur: M", "\nNarrador: M"),
    *("\nSpielleiter: M", "\nGM: M", "\nAnnouncer: M", "\nPlayer 2: M", "\n(Host): M"),
)


@each_row("turn", OTHERS)
def test_a_turn_of_those_who_lead_a_game_is_never_said(turn: str) -> None:
    for reply in both(f"{WORDS}{turn}"):
        assert said(reply) in (WORDS, "")


def test_a_list_of_roles_is_said() -> None:
    words = "I propose roles.\nHost: agent2\nTreasurer: agent3\nJudge: agent4"
    assert decided(ACT, json.dumps({"action": "forum_post", "content": words}))["action"]["content"] == words
    assert said(json.dumps({"text": "Trust is a function\nof time."})) == "Trust is a function\nof time."


# -- calls in the forms of more models

CALLED = (
    'to=functions.NAME<|channel|>commentary<|message|>{"KEY": "VALUE"}',
    '<|start|>assistant to=functions.NAME<|channel|>commentary json<|message|>{"KEY": "VALUE"}<|call|>',
    "<|channel|>analysis<|message|>SECRET<|end|><|start|>assistant to=functions.NAME<|channel|>commentary <|constrain|>"
    'json<|message|>{"KEY": "VALUE"}<|call|>',
    '<|python_tag|>NAME.call(KEY="VALUE")',
    '<|python_tag|>NAME.call(KEY="VALUE")<|eom_id|>',
    'functools[{"name": "NAME", "arguments": {"KEY": "VALUE"}}]',
)


@pytest.mark.parametrize("form", CALLED)
def test_a_call_with_its_function_before_the_channel_or_as_a_module_is_read(form: str) -> None:
    reply = form.replace("NAME", "pitch").replace("KEY", "text").replace("VALUE", WORDS)
    assert said(reply) == WORDS
    reply = form.replace("NAME", "vote").replace("KEY", "vote").replace("VALUE", "C")
    assert decided(VOTE, reply)["vote"] == "C"


def test_analysis_is_thinking_if_its_function_stands_before_the_channel() -> None:
    assert said("<|start|>assistant to=python<|channel|>analysis<|message|>SECRET<|call|>") == ""


# -- messages and lines of others in more spellings

MESSAGES = (
    *('{"role": "user", "content": "M"}', 'W\n{"role": "user", "content": "M"}', '{"role": "tool", "content": "M"}'),
    *("W\nUser says: M", "W\nUser (B): M", "W\nUser 1: M", "W\n[System] M", "W\n[SYSTEM NOTE: M]", "W\n(user) M"),
    *(
        "W\n@user M",
        "W\n<<USER>>\nM",
        "W\n=== user ===\nM",
        "W\n>> user\nM",
        "W\nRole: user\nM",
        "W\nrole: user\ncontent: M",
    ),
    *(
        "W\nSystem message: M",
        "W\nTool call: M",
        "W\nFunction call: pitch(M)",
        "W\nInstructions: M",
        "W\nNext player: M",
    ),
    *("W\nB writes: M", "W\nB responds: M", "W\nB, angrily: M", "W\nB's reply: M", "W\nMessage from B: M", "W\n— B: M"),
    *("commentary\nM", "reasoning_content: M\ncontent: W", "W\n\nDraft 2: M"),
)


@each_row("text", MESSAGES)
def test_a_message_of_another_role_in_any_spelling_is_never_said(text: str) -> None:
    for reply in both(text.replace("W", WORDS)):
        assert said(reply) in ("", WORDS)


def test_words_that_hold_a_list_of_parts_or_an_answer_of_a_host_are_asked_again() -> None:
    for words in (
        f"[{{'type': 'text', 'text': '{WORDS}'}}]",
        json.dumps({"choices": [{"message": {"content": WORDS}}]}),
        f'{{"reasoning": "SECRET"}}\n{WORDS}',
    ):
        assert said(json.dumps({"text": words})) in ("", WORDS)


def test_a_last_channel_whose_tokens_were_stripped_is_said() -> None:
    for reply in both(f"final\n{WORDS}"):
        assert said(reply) == WORDS


# -- an object that spills into its own string

SPILT = (
    *('W"}', 'W"\n}', 'W"}}', 'W", "explanation": "SECRET"}', 'W",\n "thought": "SECRET"\n}'),
    *('W", "vote": "C", "why": "SECRET"}', 'W", "reasoning": "SECRET"', 'W", "text": "SECRET'),
    # values that are no strings, and keys of any name
    *('W", "confidence": 0.9}', 'W", "confidence": 90', 'W", "a": true}', 'W", "a": null}', 'W", "why?": "SECRET"}'),
    *('W", "list": ["SECRET"]}', 'W", "list": []}', 'W",\n  "x": 0.9\n}', 'W", "strategy": {"a": "SECRET"}}'),
    # words behind the object, and signs at its end
    *('W"} SECRET', 'W"}\n\nSECRET', 'W"}\n\nThis pitch builds trust.', 'W"}\n```', 'W"\n}\n```\n', 'W"}```'),
    *('W"]}', 'W"},', 'W"};', 'W"}.', 'W"})', 'W")', "W\n}", "W}"),
    # other quotes, and keys without any
    *("W', 'why': 'SECRET'}", "W'}", "W'\n}", "W”, “why”: “SECRET”}", "W”}", 'W", explanation: SECRET}'),
    *('W"; "why": "SECRET"}', 'W" "why": "SECRET"}', 'W"; why="SECRET"', 'W" // SECRET', 'W", why: "SECRET"}'),
    *('W",\\n"why": "SECRET"}', "W\n}\n```", 'W\n"vote": "SECRET"', 'W, "vote": "SECRET"'),
    *('W"\n  explanation: SECRET', 'She said "no". W", "x": 1}'),
    # the beginning of the object
    *('"text": "W', 'text": "W', '": "W', '```json\n{"text": "W', 'json\n{"text": "W', 'text="W'),
    *('"thought": "SECRET", "text": "W', 'explanation": "SECRET", "text": "W'),
)


@each_row("text", SPILT)
def test_an_object_that_goes_on_in_its_own_string_is_decoded_or_asked_again(text: str) -> None:
    for reply in both(text.replace("W", WORDS)):
        assert said(reply) in {WORDS, f'She said "no". {WORDS}', ""}


@each_row("end", ['"}', '"]}', '"},', '"})', '")', "'}", "\n}", '"}\n```', '", "sure": true}'])
def test_words_before_the_remains_of_an_object_are_said(end: str) -> None:
    for words in (WORDS, f'She said "no".\n\n{WORDS}'):
        assert said(json.dumps({"text": f"{words}{end}"})) == words


def test_quotes_before_brackets_and_commas_are_speech() -> None:
    for words in (
        *('He (who said "trust me") lied.', 'Of "yes", "no" and "stop", reason: none.', "I am tall (6'2\")."),
        *('["Never"] she wrote, and ("always") too.', "The others' (and the wolves') word.", "Smile :}", "Fine ;}"),
        *("{“trust”} is a set of one.", 'They call it "trust".\nB: liar.\nC: honest.', "text = trust, trust = text"),
    ):
        assert said(json.dumps({"text": words})) == words


CALLS_BEHIND = (
    *('W vote(vote="M")', 'W\n\nvote(vote="M")', 'W\n\n[vote(vote="M")]', 'W\n```tool_code\nvote("M")\n```'),
    *('W\nprint(vote("M"))', "W\nto=functions.vote M", 'W\nfunctions.vote:0{"vote": "M"}', 'vote("M")\n\nW'),
    *('W {"vote": "M"}', 'W\n\n{"vote": "M"}', 'W\n\n```json\n{"vote": "M"}\n```', 'W\n[{"vote": "M"}]'),
    'W\n\n```\n{"a": {"b": "M"}}\n```',
)


@each_row("text", CALLS_BEHIND)
def test_a_call_beside_words_is_asked_again(text: str) -> None:
    for reply in both(text.replace("W", WORDS)):
        assert said(reply) in {WORDS, ""}


def test_code_and_objects_that_words_speak_of_are_said() -> None:
    for words in (
        *('I say vote("C") and mean it.', 'My terms: {"food": 3}', 'Call it {"trust": 1}, friends.', "f(x) = trust."),
        *("Our functions. Vote on them.", 'Call `functions.vote` "democracy".', "Trust me (please). (I beg you.)"),
    ):
        assert said(json.dumps({"text": words})) == words
    post = 'Run this.\n\n```python\nprint("hi")\n```'
    assert decided(ACT, json.dumps({"action": "forum_post", "content": post}))["action"]["content"] == post


def test_an_object_that_goes_on_in_a_string_of_any_game_says_no_private_field() -> None:
    spoken = '{"thought": "", "text": "I am quiet.\\", \\"thought\\": \\"SECRET\\"}", "claim": "none"}'
    assert "SECRET" not in str(decided("werewolf/speak", spoken))
    posted = decided(ACT, json.dumps({"action": "forum_post", "content": 'Hello.", "reasoning": "SECRET"}'}))["action"]
    assert posted.get("content", "Hello.") == "Hello."


def test_an_object_that_is_quoted_at_the_end_of_words_is_said() -> None:
    for words in ('He wrote {"a": "b"}', 'She said "no", "never" and "stop".', 'Call it "trust": I do.'):
        assert said(json.dumps({"text": words})) == words
    assert said(f'{WORDS}"') == WORDS


# -- what is left of tags and tokens at the ends of words

LEFT = (
    *("W</pitch>", "W</text>", "<pitch>\n\nW", "<analysis>\nx\n</analysis>\n<pitch>\n\nW", "W /no_think", "W /nothink"),
    *(
        "/no_think W",
        "/no_think\nW",
        "/nothink\n\nW",
        "/think W",
        "/set nothink\nW",
        "W /think",
        "<think></think>/no_think W",
    ),
    *("W<|", "W</s", "W▁", "<assistant>W</assistant>", "W</answer>"),
)


@each_row("text", LEFT)
def test_what_is_left_of_a_tag_or_a_token_at_the_ends_of_words_is_taken_off(text: str) -> None:
    for reply in both(text.replace("W", WORDS)):
        assert said(reply) in ({WORDS} if "analysis" not in text else {WORDS, ""})


def test_quotes_of_python_are_taken_off_and_a_first_part_in_a_fence_keeps_its_marks() -> None:
    assert said(f'"""{WORDS}"""') == WORDS
    formula = "```\nTRUST = HONESTY * TIME\n```\nThat is my formula."
    assert said(formula) == formula
    assert said(f"analysis SECRET. final {WORDS}") == ""


# -- thinking without tags above the words, and turns that are no lines of names

TASKS = (
    *("Here's a thinking process that leads to the pitch:\n\n1. S", "A's thoughts: S", "*internally: S*"),
    *("We're player A. We should not reveal our plan.", "Okay, let's see. I'm player A and should lie to C."),
    *(
        "好的，我现在是玩家A，我计划背叛C",
        "首先，我需要理解游戏规则",
        "我是玩家A，需要发言。",
        "Need to produce a pitch. S",
    ),
    *("**Crafting a Pitch**\n\nI want to hide S", "Got it, let's tackle this task.", "Alright, let's break this down."),
    *("Output must be JSON with key text.", "Just produce JSON.", "1. **Analyze the Request:** S", "A (thinking): S"),
    *("As player A, I want to survive, so I should lie to C. My pitch:", "A's inner monologue: S", "[Secret] S"),
    *("Strategically, I want C out. But publicly I say:", "Assistant thought: S", "[analysis] S", "Secretly: S"),
    *("Okay, ich bin Spieler A und muss S", "Bon, je suis le joueur A et je dois S", "Soy el jugador A y debo S"),
    *("Я игрок А и должен S", "Jestem graczem A i muszę S"),
)


@each_row("first", TASKS)
def test_a_first_paragraph_about_the_task_makes_words_doubtful(first: str) -> None:
    for reply in both(f"{spelt(first)}\n\n{WORDS}"):
        assert said(reply) in {"", WORDS}


SCENES = (
    *("### B\nM", "Game: M", "SYSTEM NOTE: M", "<user_query>M", "--- Day 2 ---\nM", "[B speaks] M", "          B: M"),
    *("=== VOTING PHASE ===\nA votes B", "### Instruction: M", "Question: M\nAnswer: x", "B and C: M", "**B**\nI lie."),
)


@each_row("scene", SCENES)
def test_a_heading_of_a_game_or_of_a_player_behind_bare_words_is_never_said(scene: str) -> None:
    assert said(f"{WORDS}\n\n{scene}") in {"", WORDS}


# -- calls of an action of a market, in the forms of families

_ARGUMENTS = {"action": "skip", "action_parameters": {}, "working_memory": "m"}
_CALL = json.dumps({"name": "action", "arguments": _ARGUMENTS})
_PYTHON = 'action(action="skip", action_parameters={}, working_memory="m")'
FAMILIES = (
    *(f"[TOOL_CALLS] [{_CALL}]", f"<|tool_call|>[{_CALL}]", f"<TOOLCALL>[{_CALL}]</TOOLCALL>", f"<tool_call>{_CALL}"),
    "<|START_ACTION|>[" + _CALL.replace('"name"', '"tool_name"').replace("arguments", "parameters") + "]<|END_ACTION|>",
    f'<|tools_prefix|>[{{"action": {json.dumps(_ARGUMENTS)}}}]<|tools_suffix|>',
    *(f"[{_PYTHON}]", f"```tool_code\n{_PYTHON}\n```", f"```tool_code\nprint(default_api.{_PYTHON})\n```"),
)


@each_row("reply", FAMILIES)
def test_a_call_of_an_action_of_a_market_is_read_in_the_form_of_each_family(reply: str) -> None:
    assert decided(ACTION, reply) == _ARGUMENTS


def test_an_action_of_a_market_in_words_or_in_a_form_that_is_no_call_is_not_read() -> None:
    action = json.dumps(_ARGUMENTS)
    for reply in (f"I think {_CALL}", f"json\n{action}", f"```json\n{action}\n```", f"<answer>{action}</answer>"):
        assert isinstance(decided(ACTION, reply), str), reply


# -- turns, keys and thinking that are near to speech

NEAR_TURNS = (
    *("\nHuman:M", "\n\nHuman:M", "\nsystem:M", "\nH: M", "\n\nH: M\n\nA: M", "\nuser> M", "\nUser > M", "\nai>> M"),
    *("\nНuman: M", "\nаssistant: M", "\nＵｓｅｒ: M", "\n[Ѕystem] M"),
    *("<br>B: You lie.", "<br/>B: You lie.", "<BR />\nB: You lie.", "</p><p>B: You lie.</p>", "&lt;br&gt;B: You lie."),
    *("<br>Human: M", "<br>user<br>M", "<br>thought<br>M"),
    *(
        "\n*B nods.* M",
        "\n\n*B leans in* M",
        "\n(B laughs) M",
        "\n[B sighs.]\nM",
        "\n_B looks up._ M",
        "\n**B smiles:** M",
    ),
)


@each_row("turn", NEAR_TURNS)
def test_a_turn_of_another_is_known_without_blanks_in_html_and_by_a_stage_direction(turn: str) -> None:
    for reply in both(f"{WORDS}{turn}"):
        assert said(reply) in ("", WORDS)


def test_a_stage_direction_of_another_player_at_the_beginning_of_bare_words_is_asked_again() -> None:
    assert said("*B nods.* You are right.") == ""


@each_row(
    "words",
    [
        *(
            "I'm with B.\n(B smiles when I say so.)",
            "Look!\n*B nods* while C weeps.",
            "*smiles* I saw B.\n*sits down* Well.",
        ),
        *("I trust B.\n*A nods.* Yes, I do.", "My story.\n*B lies.* You all know it.", "Line one.<br>Line two."),
        *("Our API:\nuser>post>save.", "See <p>me</p> now.", "One.<br>- B: keep\n- C: out"),
    ],
)
def test_stage_directions_and_html_of_the_player_itself_are_speech(words: str) -> None:
    assert said(json.dumps({"text": words})) == words


MEMBERS = (
    *("W\nvote: SECRET", "W\nthinking: SECRET", "W\n\nstrategy: SECRET", "W\nreasoning=SECRET", "W\n`vote`: SECRET"),
    *("W\n**thought**: SECRET", "W\nprivate_thought: SECRET", "W\n  action: SECRET", "I want C out.\ntext: W"),
    *("thinking: SECRET\nW", "plan: SECRET\n\nW", "private_thoughts: SECRET\n\nW", "W<br>thinking: SECRET"),
)


@each_row("text", MEMBERS)
def test_a_line_with_the_key_of_another_field_is_asked_again(text: str) -> None:
    for reply in both(text.replace("W", WORDS)):
        assert said(reply) in ("", WORDS)


@each_row(
    "words",
    [
        *(
            "Our terms:\nvote: C\nplan: none",
            "My plan.\nStrategy: we all vote C.",
            "keep me\nvote: c",
            "Vote: C, not me.",
        ),
        *("I say it once.\nclaims: none", "x = 1\ny = 2", "strategy: we all vote C."),
    ],
)
def test_labels_of_a_list_and_of_a_sentence_are_speech(words: str) -> None:
    assert said(json.dumps({"text": words})) == words


@pytest.mark.parametrize(
    "heading",
    [
        "**Thinking:** SECRET",
        "Thinking: SECRET",
        "Thought: SECRET",
        "*Reasoning:* SECRET",
        "Internal monologue: SECRET",
    ],
)
def test_words_below_a_line_of_thinking_are_asked_again(heading: str) -> None:
    for end in ("\n", "\n\n"):
        for reply in both(f"{heading}{end}{WORDS}"):
            assert said(reply) in ("", WORDS)


def test_half_a_pair_of_quotes_and_a_key_before_words_are_taken_off() -> None:
    for words in (f'"{WORDS}', f'{WORDS}"', f"text: {WORDS}", f'"{WORDS}"'):
        for reply in both(words):
            assert said(reply) == WORDS
    for words in ("He is 6'2\"", 'He said "no", and "never"', 'It is 6" or so.'):
        assert said(json.dumps({"text": words})) == words


LOOK_ALIKE = (
    *(
        "<аnalysis>S</аnalysis>W",
        "<thіnk>S</thіnk>W",
        "<ｔｈｉｎｋ>S</ｔｈｉｎｋ>W",
        "<𝐭𝐡𝐢𝐧𝐤>S</𝐭𝐡𝐢𝐧𝐤>W",
        "[ТHINK]S[/ТHINK]W",
    ),
    *("W<|іm_end|>M", "W<|im_еnd|>M", "W<|ｉｍ＿ｅｎｄ|>M", "W<еnd_of_turn>M", "W<еos>M", "W|im_еnd|>M"),
)


@pytest.mark.parametrize("text", LOOK_ALIKE)
def test_names_of_tokens_and_tags_are_known_by_letters_that_look_alike(text: str) -> None:
    for reply in both(spelt(text)):
        assert said(reply) == WORDS
    posted = decided(ACT, json.dumps({"action": "forum_post", "content": spelt(text)}))["action"]
    assert posted["content"] == WORDS


def test_words_in_other_scripts_and_widths_are_said_as_they_stand() -> None:
    for words in (
        "Мама и папа <3 вас.",
        "【ＶＩＰ】の皆さん、（ＡＩ）です。",
        "Сор из избы. СССР!",
        "ΑΒΓ, αβγ και Ω.",
        "ｗｗｗ [ＯＫ]",
    ):
        for reply in both(words):
            assert said(reply) == words


# -- calls of other functions, and the words of a loop

_FORMS = (
    *('NAME(text="SECRET")', 'NAME("SECRET")', 'print(NAME("SECRET"))', "Action: NAME\nAction Input: SECRET"),
    *('{"name": "NAME", "arguments": {"text": "SECRET"}}', '[TOOL_CALLS]NAME[ARGS]{"text": "SECRET"}'),
    *('<invoke name="NAME"><parameter name="text">SECRET</parameter></invoke>', 'functions.NAME:0{"text": "SECRET"}'),
    *("<function=NAME><parameter=text>SECRET</parameter></function>", '{"action": "NAME", "action_input": "SECRET"}'),
    *('<tool_call>{"name": "NAME", "arguments": {"text": "SECRET"}}</tool_call>', 'NAME(text: "SECRET")'),
    '<|channel|>commentary to=functions.NAME<|message|>{"text": "SECRET"}<|call|>',
    '{"tool_calls": [{"function": {"name": "NAME", "arguments": "{\\"text\\": \\"SECRET\\"}"}}]}',
    '{"role": "assistant", "content": "SECRET", "tool_calls": [{"name": "NAME", "arguments": {"text": "SECRET"}}]}',
    '{"type": "function_call", "name": "NAME", "arguments": "{\\"text\\": \\"SECRET\\"}"}',
    '{"toolUse": {"toolUseId": "t", "name": "NAME", "input": {"text": "SECRET"}}}',
    '```tool_code\nprint(default_api.NAME(text="SECRET"))\n```',
    "<start_function_call>call:NAME{text:<escape>SECRET<escape>}<end_function_call>",
    *('call:NAME{text:"SECRET"}', 'assistantcommentary to=functions.NAME json{"text": "SECRET"}'),
    *('to=functions.NAME <|constrain|>json<|message|>{"text": "SECRET"}', 'commentary to=NAME json{"text": "SECRET"}'),
)


@each_row("name", ["think", "note_to_self", "send_dm", "decide_strategy", "python", "privateNote"])
@each_row("form", _FORMS)
def test_a_call_of_a_function_that_gives_no_answer_is_no_answer(form: str, name: str) -> None:
    for reply in both(form.replace("NAME", name)):
        assert "SECRET" not in said(reply)


@each_row("name", ["pitch", "speak", "make_pitch", "submitAnswer", "respond"])
@each_row("form", [form for form in _FORMS if "action_input" not in form])
def test_a_call_of_a_function_whose_name_only_says_that_it_answers_is_the_answer(form: str, name: str) -> None:
    assert said(form.replace("NAME", name).replace("SECRET", WORDS)) == WORDS


_WRITTEN = {
    "Gemini": "```tool_code\nprint(default_api.NAME(PYTHON))\n```",
    "FunctionGemma": "<start_function_call>call:NAMEESCAPED<end_function_call>",
    "Gemma, without tokens": "call:NAMEJSON",
    "gpt-oss": "to=functions.NAME <|constrain|>json<|message|>JSON",
    "gpt-oss, a message": "<|start|>assistant to=functions.NAME<|constrain|>json<|message|>JSON<|call|>",
    "gpt-oss, without tokens": "commentary to=functions.NAME json JSON",
    "Bedrock": '{"toolUse": {"toolUseId": "t", "name": "NAME", "input": JSON}}',
    "Bedrock, a list": '[{"toolUse": {"name": "NAME", "input": JSON}}]',
    "OpenAI": '{"tool_calls": [{"function": {"name": "NAME", "arguments": STRING}}]}',
    "OpenAI, a message": '{"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", '
    '"function": {"name": "NAME", "arguments": STRING}}]}',
    "Responses": '{"type": "function_call", "call_id": "c", "name": "NAME", "arguments": STRING}',
}
_GIVEN: dict[str, tuple[str, dict[str, Any]]] = {
    VOTE: ("vote", {"explanation": "B is my friend, {so} C.", "vote": "C"}),
    PITCH: ("pitch", {"text": 'I say "no", <3 and\nyes: {always}.'}),
    BID: ("bid", {"reasoning": "Why not?", "bid": 150}),
    ACT: ("forum_post", {"content": WORDS}),
    QUERY: ("query", {"query": "inbox", "query_parameters": {}}),
    ACTION: ("action", _ARGUMENTS),
    "monopoly/jail_action": ("jail_action", {"private_thought": "x", "action": "pay_fine", "public_speech": WORDS}),
}


def _escaped(given: Any) -> str:
    """Return a value as FunctionGemma writes it."""
    if isinstance(given, dict):
        return f"{{{','.join(f'{key}:{_escaped(part)}' for key, part in given.items())}}}"
    return f"<escape>{given}<escape>" if isinstance(given, str) else json.dumps(given)


@each_row("question", _GIVEN)
@each_row("form", _WRITTEN)
def test_a_call_that_is_written_out_is_read_in_every_game(form: str, question: str) -> None:
    name, given = _GIVEN[question]
    whole = json.dumps(given)
    parts = {
        "PYTHON": ", ".join(f"{key}={part!r}" for key, part in given.items()),
        "ESCAPED": _escaped(given),
        "STRING": json.dumps(whole),
        "JSON": whole,
        "NAME": name,
    }
    reply = re.sub("|".join(parts), lambda part: parts[part[0]], _WRITTEN[form])
    wanted = {"action": {"action": "forum_post", **given}} if question == ACT else given
    assert decided(question, reply) == wanted


@each_row("form", [form for form in _WRITTEN if "<|call|>" not in _WRITTEN[form]])
def test_two_calls_that_are_written_out_and_differ_are_asked_again(form: str) -> None:
    one, two = (
        _WRITTEN[form]
        .replace("NAME", "pitch")
        .replace("PYTHON", f'text="{words}"')
        .replace("ESCAPED", f"{{text:<escape>{words}<escape>}}")
        .replace("JSON", json.dumps({"text": words}))
        .replace("STRING", json.dumps(json.dumps({"text": words})))
        for words in (WORDS, "Out with C.")
    )
    assert said(f"{one}\n{two}") == ""


def test_an_escape_in_a_sentence_is_no_quote() -> None:
    for text in both("I press <escape>and then<escape>, twice."):
        assert said(text) == ""


def test_a_call_of_thinking_before_the_answer_is_thinking() -> None:
    for first in ('{"name": "think", "arguments": {"text": "SECRET"}}', 'think(text="SECRET")'):
        assert said(f'{first}\n{{"name": "pitch", "arguments": {{"text": "{WORDS}"}}}}') in ("", WORDS)


def test_the_answer_of_a_loop_is_read_and_what_is_none_is_said_to_be_none() -> None:
    for reply in ("Action Input: W", "Thought: SECRET\nAction: pitch\nAction Input: W"):
        assert said(reply.replace("W", WORDS)) == WORDS
    for reply, why in {
        "Thought: SECRET": "The reply is empty: all of it is thinking.",
        "Action: pitch\nAction Input:": "The reply is empty: it is only the header of an answer.",
        "Action: python\nAction Input: x": "The reply calls 'python', which gives no answer.",
    }.items():
        with pytest.raises(UnreadableReply, match=re.escape(why)):
            asked(PITCH).request.parse(reply)


# -- plans and headings above bare words


def test_a_plan_above_a_label_of_the_question_is_thinking() -> None:
    for reply in (
        f"I need to win over C first.\n\nPitch: {WORDS}",
        f"SECRET\nPitch: {WORDS}",
        f"SECRET\n\nText: {WORDS}",
    ):
        assert said(reply) == WORDS


def test_words_under_a_heading_are_whole_and_words_above_an_ordinary_one_are_never_cut() -> None:
    for heading in ("**Answer:** ", "*Message:* ", "## Response\n", "## Response\n\n", "Answer: ", "**Pitch:** "):
        assert said(f"{heading}{WORDS}\n\nTrust me.") == f"{WORDS}\n\nTrust me."
    for words in (
        "You asked.\n\n**Answer:** never.",
        "She wrote.\n\n*Message:* no.\n\nI cried.",
    ):
        assert said(words) == ""


NEAR_NOTES = (
    *("W\n[B, nodding] M", "W\nB (smiling) M", "W\n**B (nods)** M", "W\nB「M」", "W\nHost> M", "W\nModerator says: M"),
    *(
        "W\nOOC: SECRET",
        "W\n[OOC] SECRET",
        "W\nNote to self: SECRET",
        "W\nP.S. to myself: SECRET",
        "W\n*to myself* SECRET",
    ),
    *(
        "W\nInner voice: SECRET",
        "W\nMy inner thoughts: SECRET",
        "W\n(thinking) SECRET",
        "SECRET<\\/think>W",
        "SECRET</think W",
    ),
    *("text: W; thought: SECRET", "Strategy: SECRET | Pitch: W", "thought=SECRET; text=W"),
)


@each_row("text", NEAR_NOTES)
def test_words_that_are_said_to_nobody_or_by_another_are_never_said(text: str) -> None:
    for reply in both(text.replace("W", WORDS)):
        assert said(reply) in ("", WORDS)


def test_a_reason_and_words_beyond_a_rule_of_any_sign_are_asked_again_beside_nothing() -> None:
    for text in (f"{WORDS}\n\nReason: SECRET", f"{WORDS}\n###\nSECRET"):
        assert said(text) == ""
        assert said(json.dumps({"text": text})) == text


def test_a_last_part_in_a_fence_keeps_its_marks() -> None:
    formula = f"{WORDS}\n```\nTRUST = HONESTY * TIME\n```"
    for reply in both(formula):
        assert said(reply) == formula


# -- answers that begin in the middle of thinking, or are cut off


@pytest.mark.parametrize(
    "header",
    [
        "<|start|>assistant<|channel|>final<|message|>",
        "<|channel|>final<|message|>",
        "<|start|>assistant<|channel|>commentary to=functions.pitch <|constrain|>json<|message|>",
    ],
)
def test_words_before_the_header_of_the_answer_are_thinking_if_the_prompt_holds_their_own_header(header: str) -> None:
    words = json.dumps({"text": WORDS}) if "json" in header else WORDS
    assert said(f"I betray B.<|end|>{header}{words}") == WORDS
    assert said(f"I betray B.<|end|>{header}{words}" + f"<|end|>{header}MADE UP" * 2_000) == WORDS
    vote = header.replace("functions.pitch", "functions.vote")
    assert decided(VOTE, f'{{"vote": "B"}}<|end|>{vote}{{"vote": "C"}}')["vote"] == "C"


def test_words_before_the_answer_of_solar_are_asked_again() -> None:
    assert decided(PITCH, f"I betray B.<|end|><|begin|>assistant<|content|>{WORDS}") == "unreadable"


@each_row(
    "line",
    [
        "玩家B：你说谎。",
        "[玩家B] 你说谎。",
        "B说：你说谎。",
        "B说道：你说谎。",
        "Игрок B: Ты лжёшь.",
        "Joueur B: Tu mens.",
        "Spieler B: Du lügst.",
        "Jugador B: Mientes.",
        "Jogador B: Mentes.",
        "プレイヤーB：嘘だ。",
        "플레이어 B: 거짓말.",
    ],
)
def test_a_line_of_another_player_is_known_in_other_languages(line: str) -> None:
    for text in both(f"{WORDS}\n{line}"):
        assert decided(PITCH, text) == "unreadable"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("werewolf/speak", "Thought: x\nClaim: none\nText: I am no wo"),
        ("agent_island/quips", "B: x\nC: y\nD: z an"),
        ("monopoly/react", "Action: none\nPublic speech: Nice tr"),
        (ACTION, "working_memory: m\naction: buy\naction_parameters:\n  good: wheat\n  quantity: 1\n  price: 5"),
        (PITCH, "text: |\n  Keep me and I pro"),
    ],
)
def test_labels_and_yaml_that_are_cut_off_are_asked_again(name: str, text: str) -> None:
    with pytest.raises(UnreadableReply):
        asked(name).request.parse(text, truncated=True)


def test_an_act_in_yaml_that_is_cut_off_is_lost() -> None:
    reading = asked(ACT).request.parse("action: work\nwork_type: generate\nhours: 2", truncated=True)
    assert reading.stage == "rejected"


def test_a_note_below_other_words_is_a_part_of_a_summary() -> None:
    for text in ("Turtle refused.\n\nNote: Shark seemed angry.", "- B lied.\n- Note: C is quiet."):
        assert decided("agent_island/summary", text)["text"] == text


THOUGHT, SAID = "I must hide that B scares me.", "Keep me, and I will keep you."


@pytest.mark.parametrize(
    "declared",
    [
        {"type": "thinking"},
        {"type": "reasoning"},
        {"kind": "thought"},
        {"channel": "analysis"},
        {"phase": "commentary"},
        {"action": "think"},
        {"tool": "think"},
        {"step": "thinking"},
        {"thought": True},
        {"is_thinking": True},
        {"hidden": True},
        {"private": True},
    ],
    ids=str,
)
def test_an_object_that_says_that_it_thinks_is_no_speech(declared: dict[str, Any]) -> None:
    whole = {**declared, "text": THOUGHT}
    for reply in (whole, [whole], {"response": whole}, {"text": whole}):
        assert decided(PITCH, json.dumps(reply)) == "unreadable", reply
    assert decided(PITCH, json.dumps([whole, {"type": "output_text", "text": SAID}])) == {"text": SAID}
    assert decided(VOTE, json.dumps({**declared, "vote": "C"})) == "unreadable"


@pytest.mark.parametrize("key", ["speaker", "author", "sender", "from", "role"])
def test_words_of_an_object_that_names_another_speaker_are_not_the_player_s(key: str) -> None:
    for other in ("B", "user", "system"):
        assert decided(PITCH, json.dumps({key: other, "text": SAID})) == "unreadable", other
    assert decided(PITCH, json.dumps({key: "A", "text": SAID})) == {"text": SAID}
    assert decided(PITCH, json.dumps({"type": "tool_result", "text": SAID})) == "unreadable"


@pytest.mark.parametrize("key", ["name", "player", "player_id", "username", "character"])
def test_words_beside_the_name_of_another_player_are_not_the_player_s(key: str) -> None:
    assert decided(PITCH, json.dumps({key: "B", "text": SAID})) == "unreadable"
    assert decided(PITCH, json.dumps({key: "A", "text": SAID})) == {"text": SAID}
    assert decided(VOTE, json.dumps({key: "C", "vote": "C"}))["vote"] == "C"


def test_a_vote_that_names_another_voter_is_not_counted() -> None:
    assert decided(VOTE, '{"voter": "B", "vote": "C"}') == "unreadable"
    assert decided(VOTE, '{"voter": "A", "vote": "C"}')["vote"] == "C"


def test_of_two_reasons_the_one_under_the_field_s_own_key_is_kept() -> None:
    kept = {"explanation": "a", "vote": "C"}
    assert decided(VOTE, '{"explanation": "a", "vote": "C", "reasoning": "b"}') == kept
    assert decided(VOTE, '{"reasoning": "b", "vote": "C", "explanation": "a"}') == kept


@pytest.mark.parametrize("called", ["think", "not", "avoid", "keep"])
def test_the_argument_of_a_call_that_gives_no_answer_is_no_value(called: str) -> None:
    assert decided(VOTE, json.dumps({"vote": f'{called}("C")'})) == "illegal"
    assert decided(VOTE, json.dumps({"vote": 'vote("C")'}))["vote"] == "C"


@each_row(
    "reply",
    [
        f"＜!-- {THOUGHT} --＞{SAID}",
        f"＜answer＞\n{SAID}\n＜/answer＞",
        f'＜invoke name="pitch"＞\n＜parameter name="text"＞{SAID}＜/parameter＞\n＜/invoke＞',
        f"&lt;!-- {THOUGHT} --&gt;{SAID}",
        f"&gt; **Thinking**\n&gt; {THOUGHT}\n\n{SAID}",
        json.dumps({"text": f"[Размышления: {THOUGHT}] {SAID}"}),
        json.dumps({"text": f"**text:** {SAID}"}),
        "One moment.<|start|>assistant to=functions.pitch<|channel|>commentary json<|message|>"
        f'{{"text": "{SAID}"}}<|call|>',
    ],
)
def test_words_are_found_in_brackets_escapes_and_headers_of_other_spellings(reply: str) -> None:
    assert decided(PITCH, reply) == {"text": SAID}


@each_row(
    "reply",
    [
        f'text = "{SAID}"\npitch(text)',
        f"{SAID}\n\nvote(C)",
        f"Here is my pitch:\n\nThought: {THOUGHT}\nAction: pitch\nAction Input: {SAID}",
        f'Here is my pitch:\n\n<pitch text="{SAID}" />',
        f'{SAID}\n\n<vote name="C"/>',
        f"Human: Speak now.\n\nAssistant: {SAID}",
    ],
)
def test_calls_and_turns_of_other_spellings_are_asked_again(reply: str) -> None:
    assert decided(PITCH, reply) == "unreadable"


def test_a_tag_with_an_attribute_is_no_stage_direction() -> None:
    assert decided("agent_island/whisper", f'<whisper text="{SAID}"></whisper>') == "unreadable"
    assert decided("agent_island/whisper", f"<whispers> {SAID}") == {"text": f"<whispers> {SAID}"}


@pytest.mark.parametrize(
    "said", ["私は＜仲間＞です。", "vote(B) is my function.", "I love B &lt;3 and C.", "User: I like you all."]
)
def test_signs_of_a_sentence_are_said(said: str) -> None:
    assert decided(PITCH, json.dumps({"text": said}, ensure_ascii=False))["text"].replace("<", "&lt;") == said


@pytest.mark.parametrize("sign", ["&#8203;", "&#x200b;", "&ZeroWidthSpace;", "&shy;", "&amp;#8203;", "\\u200b"])
def test_an_escape_of_a_sign_that_is_not_seen_hides_no_tag(sign: str) -> None:
    for reply in (f"<thi{sign}nk>{THOUGHT}</thi{sign}nk>\n{SAID}", f"<{sign}thinking>{THOUGHT}</{sign}thinking>{SAID}"):
        for each in both(reply):
            assert decided(PITCH, each) == {"text": SAID}, each
    assert decided(PITCH, f"{SAID}<|im_{sign}end|>MADE UP") == {"text": SAID}


@each_row(
    "reply",
    [
        f'One moment.<|assistant|>pitch\n{{"text": "{SAID}"}}',
        f"One moment.\n=== Thinking ===\n{THOUGHT}\n=== Speech ===\n{SAID}",
        f"One moment.\n【thinking】\n{THOUGHT}\n【speech】\n{SAID}",
        f"--- thinking ---\n{THOUGHT}\n--- final ---\n{SAID}",
        f"[thinking]\n{THOUGHT}\n[speech]\n{SAID}",
        f"|thinking| {THOUGHT} |/thinking|\n{SAID}",
        json.dumps({"text": f"|thinking| {THOUGHT} |/thinking| {SAID}"}),
        f"|text| {SAID} |/text|",
        json.dumps({"text": f"[pitch] {SAID} [/pitch]"}),
        f"＜answer＞{SAID}",
        f"{SAID}\n＜/text＞",
        json.dumps({"text": f"＜pitch＞{SAID}"}, ensure_ascii=False),
        f'await pitch(text="{SAID}")',
        f"/pitch {SAID}",
        f"!pitch {SAID}",
        json.dumps({"text": f"/pitch {SAID}"}),
        f"```yaml\ntext: |\n  {SAID}\n```\n```",
        f"```yaml\n```yaml\ntext: {SAID}\n```\n```",
    ],
)
def test_words_are_found_behind_headers_headings_commands_and_stray_marks(reply: str) -> None:
    assert decided(PITCH, reply) == {"text": SAID}


@each_row(
    "words",
    [
        f"return pitch({{text: `{SAID}`}})",
        f"const said = await pitch({{text: `{SAID}`}});",
        f'pitch --text "{SAID}"',
        "vote(target='C')",
        'vote("C")',
        'choose("C")',
        "/vote C",
        "!accuse C",
        "/w B Meet me at noon.",
        f"{SAID}\n\nPS (not spoken): {THOUGHT}",
        f"{SAID}\n\nP.S. (not said aloud): {THOUGHT}",
    ],
)
def test_code_commands_and_what_is_not_spoken_are_asked_again(words: str) -> None:
    for reply in both(words):
        assert decided(PITCH, reply) == "unreadable", reply


@pytest.mark.parametrize(
    "line", ["Confidence: 0.9", "**Confidence:** 90%", "(confidence: high)", "Confidence score: 8/10"]
)
def test_how_sure_a_model_is_is_no_speech_below_a_bare_one(line: str) -> None:
    assert decided(PITCH, f"{SAID}\n\n{line}") == "unreadable"
    assert said(f"My confidence: high!\n{SAID}") == f"My confidence: high!\n{SAID}"
    assert decided(PITCH, json.dumps({"text": f"{SAID}\n\n{line}"}))["text"].startswith(SAID)


@each_row("key", ["abstain", "cancel", "retracted", "skip", "withdrawn", "No vote"])
def test_an_answer_that_takes_itself_back_is_illegal(key: str) -> None:
    assert decided(VOTE, json.dumps({"vote": "C", key: True})) == "illegal"
    assert decided(VOTE, json.dumps({"vote": "C", key: False}))["vote"] == "C"
    assert decided(PITCH, json.dumps({"text": SAID, key: True})) == "illegal"


def test_an_answer_with_a_correction_is_not_counted() -> None:
    assert decided(VOTE, json.dumps({"vote": "C", "correction": "I meant B"})) == "illegal"
    assert decided(VOTE, json.dumps({"vote": "C", "correction": "none"}))["vote"] == "C"
    assert decided(VOTE, json.dumps({"vote": "C", "correction": "C"}))["vote"] == "C"


def test_a_key_that_names_the_choice_takes_nothing_back() -> None:
    assert decided(BID, '{"reasoning": "Too dear.", "bid": 0, "pass": true}')["bid"] == 0
    assert decided(BID, '{"reasoning": "Too dear.", "bid": 5, "pass": true}') == "illegal"
    none = {"private_thought": "", "public_speech": "No.", "action": {"propose_trade": False}}
    trade = "monopoly/propose_trade"
    assert decided(trade, json.dumps({**none, "skip": True})) == decided(trade, json.dumps(none))
    assert isinstance(decided(trade, json.dumps(none)), dict)


@each_row(
    "words",
    [
        "[Private] is written on every note of B's. Why?",
        "[Thinking] is what B never does. Why?",
        "Do you know what [thinking] means?",
        "B wrote [private] on his note. Strange.",
        "/shrug I do not care.",
        "!Surprise for you all.",
        "!answer me, B.",
        "/me waves at B.",
        "I return home (soon).",
        "My trust = 3 (of 5).",
        "We vote (again) and again.",
        "|a| + |b| is never less than |a + b|.",
        "Trust: 9\nConfidence: 9\nFear: 0",
        "PS: I like you.",
    ],
)
def test_a_sentence_on_a_mark_and_signs_of_people_are_said(words: str) -> None:
    for reply in both(words):
        assert said(reply) == words


@pytest.mark.parametrize("mark", ["[Private]", "[Thinking]", "[thought]"])
def test_a_mark_with_other_words_behind_it_is_thinking(mark: str) -> None:
    for words in (
        "is B lying? Yes, I must hide.",
        "is a good idea to hide.",
        f"is written in my plan.\n{SAID}",
        "B lies.",
    ):
        assert decided(PITCH, f"{mark} {words}") == "unreadable"
