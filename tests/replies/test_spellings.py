"""Spellings of other families: tokens, headers, next turns, thinking and calls; and speech that only looks so."""

from __future__ import annotations

import pytest

from agentsim.errors import DecisionError
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


@pytest.mark.parametrize("name", READ)
def test_it_is_read(name: str) -> None:
    kind, text, means = READ[name]
    decision = asked(kind).request.parse(text).decision.model_dump()
    assert {key: decision[key] for key in means} == means
    assert "SECRET" not in str(decision)
    assert "MADE UP" not in str(decision)


@pytest.mark.parametrize("name", ASKED_AGAIN)
def test_it_is_asked_again_and_never_half_a_sentence(name: str) -> None:
    kind, text = ASKED_AGAIN[name]
    with pytest.raises(DecisionError):
        asked(kind).request.parse(text)
