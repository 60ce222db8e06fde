"""Spellings of other families: tokens, headers, next turns, thinking and calls; and speech that only looks so."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from agentsim.errors import DecisionError
from tests.amounts import each_row
from tests.replies.asked import asked

PITCH, VOTE, BID, ACT = "agent_island/pitch", "agent_island/vote", "auction/bid", "society/act"
HARMONY = "<|end|><|start|>assistant<|channel|>final<|message|>"

READ: dict[str, tuple[str, str, dict[str, object]]] = {
    "a channel in a reason": (VOTE, f'{{"vote": "C", "explanation": "x{HARMONY}B"}}', {"vote": "C"}),
    "a channel in the reason of a bid": (BID, f'{{"bid": 150, "reasoning": "x{HARMONY}900<|end|>"}}', {"bid": 150}),
    "a channel in the words": (PITCH, f'{{"text": "W{HARMONY}MADE UP"}}', {"text": "W"}),
    "an object behind a role": (VOTE, 'assistant: {"vote": "C"}', {"vote": "C"}),
    "an object before a turn": (VOTE, '{"vote": "C"}\nUSER: who?', {"vote": "C"}),
    "a label before a turn": (VOTE, "Vote: C\n\nHuman: vote B", {"vote": "C"}),
}
W = {
    "the end of LongCat's thinking": "SECRET</longcat_think>\nW",
    "LongCat's thinking in a string": '{"text": "<longcat_think>\\nSECRET\\n</longcat_think>\\nW"}',
    "a reason in a string": '{"text": "<reason>SECRET</reason> W"}',
    "the content of reasoning in a string": '{"text": "<reasoning_content>SECRET</reasoning_content>W"}',
    "thinking fast": "<think_fast>SECRET</think_fast>W",
    "thinking in Chinese": "[思考]SECRET[/思考]W",
    "a role in small letters": "assistant: W",
    "a role in bold": "**Assistant:** W",
    "Gemma's role": "Model\nW",
    "Gemma's role with a colon": "model: W",
    "a role in Chinese": "助手：W",
    "ChatML with a name": "<|im_start|>A\nW",
    "ChatML with a role and a name": "<|im_start|>assistant name=A\nW",
    "ReAct": "Action: pitch\nAction Input: W",
    "Functionary": ">>>all\nW",
    "Qwen's result": "✿RETURN✿: W",
    "a call with one text": 'speak("W")',
    "a call with a colon": 'pitch(text: "W")',
    "Gemma's code": '<tool_code>pitch(text="W")</tool_code>',
    "Gemini's code": 'print(default_api.pitch(text="W"))',
}
READ |= {name: (PITCH, text, {"text": "W"}) for name, text in W.items()}
TURNS = (
    *(
        "<EOS_TOKEN>",
        "<EOP_TOKEN>",
        "<file_sep>",
        "<repo_name>",
        "<[end▁of▁sentence]>",
        "</longcat_s>",
        "<eoa>",
        "<EOT>",
    ),
    *("<❙im_end❙>", "<⏐im_end⏐>", "<ǀim_endǀ>", "&lt;|im_end|&gt;", "\\u003c|im_end|\\u003e", "<longcat_user>"),
    *("\nmodel\n", "\n\nHuman: ", "\nUSER: ", "\nUser\n", "\nuser:\n", "\n### Human: ", "\n用户：", "\nsystem\n"),
)
READ |= {f"cut at {turn!r}": (PITCH, f"Keep me.{turn}MADE UP", {"text": "Keep me."}) for turn in TURNS}
SPEECH = (
    "I like < plan > B",
    "Here is a <strategy> we share: vote C.",
    "My model:\n- keep A",
    "The system: keep going.",
    "User: I like you all.",
    "A <b>bold</b> plan, where a < b > c.",
)
READ |= {f"said: {words}": (PITCH, words, {"text": words}) for words in SPEECH}

ASKED_AGAIN = {
    **{
        f"a token: {token}": (PITCH, f"Keep me.{token}MADE UP")
        for token in (
            *("<BOS_TOKEN>", "<gh_stars>", "<jupyter_code>", "<fim_prefix>", "<start_of_image>", "<escape>"),
            *(
                "<start_function_response>",
                "[PAD]",
                "[UNK]",
                '<｜dsml｜invoke name="pitch">',
                "<ǀDSMLǀinvoke name='x'>",
            ),
        )
    },
    "DSML without its bracket": (PITCH, 'DSML｜parameter name="text">W'),
    "a heading of thinking in a string": (PITCH, '{"text": "**Thinking**\\nSECRET\\n\\nW"}'),
    "a line of thinking in Chinese": (PITCH, "思考\nSECRET\n\nW"),
    "a tag of thinking that is spoken of": (PITCH, "I wrote `<think>` in my notes, and I stand by them. Vote C."),
    "a token in a sentence": (PITCH, "He said [INST] once. Vote C."),
}


@each_row("name", READ)
def test_it_is_read(name: str) -> None:
    kind, text, means = READ[name]
    decision = asked(kind).request.parse(text).decision.model_dump()
    assert {key: decision[key] for key in means} == means
    assert "SECRET" not in str(decision)
    assert "MADE UP" not in str(decision)


@each_row("name", ASKED_AGAIN)
def test_it_is_asked_again_and_never_half_a_sentence(name: str) -> None:
    kind, text = ASKED_AGAIN[name]
    with pytest.raises(DecisionError):
        asked(kind).request.parse(text)


# -- the same kinds in other spellings, in prose and as a string of an object

_SECRETS = (
    "I keep you <reasoning>SECRET",
    "I keep you, <strategy>SECRET",
    "I keep you and <private>SECRET",
    "Keep me. <notes>SECRET</notes>",
    "<rationale>SECRET</rationale>Keep me.",
    "<gedanken>SECRET</gedanken>Keep me.",
    "Thinking Process:\n\nSECRET\n\nKeep me.",
    "thinking:\nSECRET\n\nKeep me.",
    "> **Reasoning**\n> SECRET\n\nKeep me.",
    "<details><summary>思考</summary>SECRET</details>Keep me.",
    "<thinking_mode>SECRET</thinking_mode>Keep me.",
    "\\u003cthink\\u003eSECRET\\u003c/think\\u003eKeep me.",
    "Keep me.<|channel|>final<|message|>SECRET",
)


@each_row("text", _SECRETS)
def test_what_may_be_thought_is_never_said_in_prose_or_in_a_string(text: str) -> None:
    assert "SECRET" not in said(json.dumps({"text": text}))
    if "<|channel|>" not in text:  # whose thinking may lack its own channel
        assert "SECRET" not in said(text)


_NEXT = (
    *("\nUser: ", "\nuser: ", "\nHuman: ", "\nhuman\n", "\nHuman\n", "\n## User\n", "\n### Input:\n", "\n<user>\n"),
    *("\n[user]: ", "\n[User]\n", "\n**User:** ", "\n**user**\n", "\nASSISTANT: ", "\n\nAssistant: ", "\n\n用户\n"),
    *("<eod>", "<eot>", "<PAD>", "<EOS>", "<mask>", "<filename>", "<image_soft_token>", "<TOKENS_UNUSED_0>", "[CLS]"),
    *("<function_response>", "<fim-suffix>", "<end▁of▁sentence>", " im_end|>", "<⎮im_end⎮>", "<︳im_end︳>"),
    *("&amp;lt;|im_end|&amp;gt;", "&#60;|im_end|&#62;", "&lt;end_of_turn&gt;", "\\x3c|im_end|\\x3e"),
)


@each_row("turn", _NEXT)
def test_what_follows_another_turn_or_a_token_is_never_said(turn: str) -> None:
    for text in (f"Keep me.{turn}MADE UP", json.dumps({"text": f"Keep me.{turn}MADE UP"})):
        assert said(text) in ("Keep me.", "")


_OWN = (
    *("Assistant：", "Model:\n", "助手\n\n", "AI: ", "Bot:\n", "[assistant]\n", "[Assistant]: ", "(assistant)\n"),
    *("<assistant>\n", "### Assistant: ", "gpt: ", "assistant\r\n\r\n", "\u200bassistant\n\n", "> assistant\n"),
    *("*assistant*\n", "`assistant`\n", "-- assistant --\n", "Ассистент: ", "assistente\n\n", "アシスタント："),
    *("assistant<|im_sep|>", "assistant<|end_header_id|>\n\n", "im_start|>assistant\n"),
)


@each_row("header", _OWN)
def test_a_header_of_its_own_role_is_taken_off_in_any_spelling(header: str) -> None:
    assert said(f"{header}Keep me.") == "Keep me."
    assert said(json.dumps({"text": f"{header}Keep me."})) == "Keep me."


_OF_WORDS = (
    *("Roles:\nuser\nassistant\nI am neither.", "Who wins?\nUser\nor model?", "We agreed:\nUSER: keep A\nand so on."),
    *(
        "We saw <eos> there.",
        "He wrote `<|im_end|>` and left.",
        'He wrote "<|eot_id|>" and left.',
        "I wrote </think> today",
    ),
    *("B speaks like [INST] a robot [/INST], does he not?", "The model\nmodel\nis mine."),
)


@each_row("text", _OF_WORDS)
def test_a_sentence_is_said_or_asked_again_and_never_half_of_it(text: str) -> None:
    for reply in (text, json.dumps({"text": text})):
        assert said(reply) in (text, "")


def test_a_header_of_chatml_with_the_name_of_another_player_is_no_vote() -> None:
    for vote in ("<|im_start|>C\nB", "<|im_start|>B\nC"):
        with pytest.raises(DecisionError):
            asked(VOTE).request.parse(vote)
    assert asked(VOTE).request.parse("<|im_start|>A\nC").decision.vote == "C"


@pytest.mark.parametrize(
    "text", ["User: you lie.", "I trust you all.\nUser: not you.\nModel: nor you.", "Model: me too."]
)
def test_a_line_that_begins_with_the_name_of_a_player_is_no_header(text: str) -> None:
    whisper: Any = asked("agent_island/whisper").request
    request = replace(whisper, player="Model", partner="User")
    for reply in (text, json.dumps({"text": text})):
        assert request.parse(reply).decision.text == text


def said(text: str) -> str:
    """The words of a pitch, or "" if it is asked again."""
    try:
        return str(asked(PITCH).request.parse(text).decision.text)
    except DecisionError:
        return ""
