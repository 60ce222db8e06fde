"""Control: the spellings of control tokens that need no angle bracket, as chat templates use them.

Forms with `<` or `>` (`<|im_start|>`, `<｜User｜>`, `<<SYS>>`, `<start_of_turn>`) are not here: every angle bracket is
escaped. Nor are headings in plain words (`### Human:`), which mean nothing inside a line of JSON.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["FORMS", "defused"]

_CAPITALS = r"/?[A-Z_][A-Z0-9_]*(?: [A-Z]+){0,3}\]"


class Form(NamedTuple):
    """How one family of models spells control tokens: where that is written, tokens, what `follows` their first sign.

    A source is a file of llama.cpp or ms-swift, which have chat templates in full, or a model's own configuration.
    """

    family: str
    source: str
    tokens: tuple[str, ...]
    follows: str

    @property
    def pattern(self) -> str:
        """Matches nothing, behind the first sign of a token: so all forms are looked for at once."""
        return f"(?<={re.escape(self.tokens[0][0])})(?={self.follows})"


FORMS = (
    Form("Llama 2", "llama.cpp src/llama-chat.cpp", ("[INST]", "[/INST]"), _CAPITALS),
    Form(
        "Mistral",
        "llama.cpp models/templates/mistralai-*, and mistral-common's tekken.json",
        (
            *("[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_CALLS]"),
            *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CONTENT]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]"),
            *("[IMG]", "[IMG_BREAK]", "[IMG_END]", "[BEGIN_AUDIO]", "[TRANSCRIBE]", "[PREFIX]", "[SUFFIX]"),
        ),
        _CAPITALS,
    ),
    Form("Mistral, reserved", "tokenizer.json of Mistral-7B-v0.3", ("[control_8]",), r"control_\d+\]"),
    Form("Skywork", "ms-swift templates/llm.py", ("[USER]", "[BOT]"), _CAPITALS),
    Form("YandexGPT 5", "llama.cpp src/llama-chat.cpp", ("[SEP]", "[NL]"), _CAPITALS),
    Form("InternLM 2", "InternLM-XComposer2", ("[UNUSED_TOKEN_145]", "[UNUSED_TOKEN_146]"), _CAPITALS),
    Form(
        "Apriel", "llama.cpp models/templates/Apriel-*", ("[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]"), _CAPITALS
    ),
    Form("LM Studio", "its format of tools", ("[TOOL_REQUEST]", "[END_TOOL_REQUEST]"), _CAPITALS),
    Form("GLM, ChatGLM", "ms-swift templates/glm.py", ("[gMASK]", "[sMASK]"), r"[a-z]MASK\]"),
    Form("GLM, ChatGLM", "tokenizer_config.json of GLM-4.5", ("[MASK]",), _CAPITALS),
    Form("ChatGLM 2, LongChat", "ms-swift templates/glm.py, llm.py", ("[Round 1]",), r"Round \d+\]"),
    Form("Kimi K2, K3", "tokenizer_config.json of Kimi-K3", ("[BOS]", "[EOS]", "[EOT]"), _CAPITALS),
    Form(
        "Kimi K3", "tokenizer_config.json of Kimi-K3", ("[start_header_id]", "[end_header_id]"), r"[a-z]+_header_id\]"
    ),
    Form("Kimi-VL", "LLaMA-Factory src/llamafactory/data/template.py", ("◁think▷", "◁/think▷"), r"/?think▷"),
    Form("openPangu", "llama.cpp src/llama-chat.cpp", ("[unused9]", "[unused10]"), r"unused\d+\]"),
    Form(
        "EXAONE",
        "llama.cpp src/llama-chat.cpp",
        ("[|system|]", "[|user|]", "[|assistant|]", "[|tool|]", "[|endofturn|]"),
        r"\|",
    ),
    Form("BlueLM", "ms-swift templates/llm.py", ("[|Human|]", "[|AI|]"), r"\|"),
    Form(
        "MiniMax M2, M3",
        "llama.cpp models/templates/unsloth-MiniMax-M2.jinja",
        ("]~!b[", "]~b]", "]!p~[", "]!d~["),
        r"~!?[a-z][\[\]]|![a-z]~[\[\]]",
    ),
    Form("MiniMax M2, M3", "llama.cpp models/templates/unsloth-MiniMax-M2.jinja", ("[e~[",), r"[a-z]~\["),
    Form("OLMoE", "ms-swift templates/llm.py", ("|||IP_ADDRESS|||",), r"\|\|[A-Z_]+\|\|\|"),
    # DeepSeek's own have fullwidth bars within ASCII brackets; models write them with fullwidth brackets as well.
    Form(
        "DeepSeek",
        "what its models write",
        ("＜｜User｜＞", "＜｜DSML｜invoke＞", "＜/｜DSML｜invoke＞"),
        r"[/／]?[｜|]",
    ),
)
_LINE_ENDS = "\u2028\u2029\u0085"
_SIGNS = re.escape("".join(sorted({form.tokens[0][0] for form in FORMS})))
_FOLLOWS = "|".join(dict.fromkeys(form.pattern for form in FORMS))
# It begins with one set of characters, which lets the search leap from one of them to the next.
_DEFUSED = re.compile(f"[{_LINE_ENDS}{_SIGNS}](?:(?<=[{_LINE_ENDS}])|{_FOLLOWS})")


def defused(line: str) -> str:
    """JSON on one line, whose strings then hold no angle bracket, control token or line end: it means what it meant.

    Of a token the first sign is escaped; where it stands outside of a string, nothing follows it that makes a token.
    """
    line = line.replace("<", "\\u003c").replace(">", "\\u003e")
    return _DEFUSED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", line)
