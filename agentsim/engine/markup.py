"""Control tokens of chat templates, as data: `<|im_end|>`, `[INST]`, `<tool_call>`. No player's words hold one.

`FORMS` lists, for each family of models and with the source, the tokens that open and end a turn, thinking, a channel,
a tool call and an argument. The reader (`engine.reading`) cuts a reply at the first end of a turn (`first_turn`),
removes the header of its role (`without_header`), reads tool calls in one spelling (`plain_tags`), and refuses words
that still hold a token (`token_in`). Quoting escapes the tokens of a prompt (`engine.wording.defused`).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple

from agentsim.patterns import Pattern

_BARS = "|｜‖│∣❘¦｠"
BAR = f"[{_BARS}]"
"""A bar of a token. DeepSeek's are fullwidth, and models write both of these and others (`plain_signs`)."""

_CAPITALS = r"/?[A-Z_][A-Z0-9_]*(?: [A-Z]+){0,3}\]"
# a name between bars; with blanks at its ends, the bars would be operators
_BARRED = rf"[/／]?{BAR}{{1,2}}(?:\"|[^\s<>＜＞|｜\"](?:[^<>＜＞|｜\n]{{0,58}}[^\s<>＜＞|｜])?){BAR}{{1,2}}[>＞]"


OPEN_BRACKETS, CLOSE_BRACKETS = "《〈⟨«‹【〔「『❮≪﹤⟪", "》〉⟩»›】〕」』❯≫﹥⟫"
"""Brackets that are read as the angle brackets of a token, around bars or around a compound name."""
_ANGLES, _SHUT_ANGLES = f"<＜{OPEN_BRACKETS}", f">＞{CLOSE_BRACKETS}"


class TokenFamily(NamedTuple):
    """The control tokens of one family of models: their source, the tokens by their purpose, and their shape.

    `follows` is a pattern for the text behind the first character of a token, including tokens that are not listed. If
    ordinary text has that shape (`[HELP]`), `exact` is True: then only listed tokens are markup in speech, while
    prompts escape everything of the shape. A source is a file of a public repository with chat templates in full, or a
    model's own configuration.
    """

    family: str
    source: str
    follows: str
    ends: tuple[str, ...] = ()
    """Tokens that end a turn or a message of it."""
    turns: tuple[str, ...] = ()
    """Tokens that begin a turn of any role, or a part of its header."""
    own: tuple[str, ...] = ()
    """Tokens that begin the model's own turn."""
    answers: tuple[str, ...] = ()
    """Tokens that begin the answer in that turn."""
    others: tuple[str, ...] = ()
    """Tokens that begin the turn of another role, such as the result of a tool."""
    thinking: tuple[str, ...] = ()
    """Tokens that open or close thinking."""
    channels: tuple[str, ...] = ()
    """Tokens that open a channel of a turn."""
    calls: tuple[str, ...] = ()
    """Tokens that open or close a tool call, or close its result."""
    arguments: tuple[str, ...] = ()
    """Tokens that open or close an argument of a tool call, or quote it."""
    fillers: tuple[str, ...] = ()
    """Tokens that begin a text, pad it, or stand for a picture."""
    exact: bool = False
    plain: tuple[str, ...] = ()
    """Words of a template that are not tokens: prompts escape them, and speech may hold them."""

    @property
    def tokens(self) -> tuple[str, ...]:
        """All tokens that no player's words may hold."""
        return (
            *(*self.ends, *self.turns, *self.own, *self.answers, *self.others, *self.thinking),
            *(*self.channels, *self.calls, *self.arguments, *self.fillers),
        )

    @property
    def pattern(self) -> str:
        """A zero-width pattern for the position behind the first character of a token.

        All forms are looked for at once by their first characters, and then by these patterns (`FOLLOWS`).
        """
        return f"(?<={re.escape((self.tokens + self.plain)[0][0])})(?={self.follows})"

    @property
    def spoken(self) -> str:
        """A pattern for a token of this form in speech."""
        if self.exact:
            return "|".join(map(re.escape, self.tokens))
        return f"{re.escape(self.tokens[0][0])}(?:{self.follows})"


_TEMPLATES = "llama.cpp models/templates"
_CHAT = "llama.cpp src/llama-chat.cpp"
_CALLS = "sglang python/sglang/srt/function_call"

FORMS = (
    # -- names between bars in angle brackets
    TokenFamily(
        "ChatML, Qwen, SmolLM, Yi",
        f"{_CHAT} (chatml)",
        _BARRED,
        ends=("<|im_end|>", "<|endoftext|>"),
        turns=("<|im_start|>", "<|im_sep|>"),
        fillers=("<|startoftext|>", "<|vision_start|>", "<|image_pad|>", "<|fim_prefix|>"),
    ),
    TokenFamily(
        "Llama 3",
        f"{_CHAT} (llama3), Meta's model card",
        _BARRED,
        ends=("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"),
        turns=("<|start_header_id|>", "<|end_header_id|>"),
        calls=("<|python_tag|>",),
        fillers=("<|begin_of_text|>", "<|finetune_right_pad_id|>", "<|reserved_special_token_0|>"),
    ),
    TokenFamily(
        "Llama 4",
        f"{_CHAT} (llama4)",
        _BARRED,
        ends=("<|eot|>", "<|eom|>"),
        turns=("<|header_start|>", "<|header_end|>"),
        calls=("<|python_start|>", "<|python_end|>"),
    ),
    TokenFamily(
        "gpt-oss (harmony)",
        "openai/harmony docs/format.md",
        _BARRED,
        ends=("<|end|>", "<|return|>", "<|call|>"),
        turns=("<|start|>",),
        channels=("<|channel|>", "<|message|>", "<|constrain|>"),
    ),
    TokenFamily(
        "Phi, GLM, Zephyr, Falcon, StableLM",
        f"{_CHAT} (phi3, chatglm4, zephyr), {_TEMPLATES}/GLM-4.6.jinja",
        _BARRED,
        ends=("<|endofprompt|>", "<|end_of_box|>"),
        own=("<|assistant|>",),
        answers=("<|begin_of_box|>",),
        others=("<|user|>", "<|system|>", "<|observation|>", "<|tool|>", "<|tool_response|>"),
        fillers=("<|nothink|>",),
    ),
    TokenFamily(
        "Kimi K2",
        f"{_TEMPLATES}/moonshotai-Kimi-K2.jinja, {_CALLS}/kimik2_detector.py",
        _BARRED,
        turns=("<|im_middle|>",),
        own=("<|im_assistant|>",),
        others=("<|im_user|>", "<|im_system|>"),
        calls=(
            *("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_begin|>"),
            *("<|tool_call_end|>", "<|tool_call_argument_begin|>"),
        ),
    ),
    TokenFamily(
        "Kimi K3",
        f"{_TEMPLATES}/Kimi-K3.jinja, {_CALLS}/kimik3_format.py",
        _BARRED,
        ends=("<|end_of_msg|>",),
        arguments=("<|open|>", "<|close|>", "<|sep|>"),
        fillers=("<|kimi_image_placeholder|>",),
    ),
    TokenFamily(
        "Command R, A",
        f"{_CHAT} (command-r), {_CALLS}/cohere_command4_detector.py",
        _BARRED,
        ends=("<|END_OF_TURN_TOKEN|>", "<|END_RESPONSE|>", "<|END_TEXT|>"),
        turns=("<|START_OF_TURN_TOKEN|>",),
        own=("<|CHATBOT_TOKEN|>",),
        answers=("<|START_RESPONSE|>", "<|START_TEXT|>"),
        others=("<|USER_TOKEN|>", "<|SYSTEM_TOKEN|>", "<|START_TOOL_RESULT|>"),
        thinking=("<|START_THINKING|>", "<|END_THINKING|>"),
        calls=("<|START_ACTION|>", "<|END_ACTION|>"),
    ),
    TokenFamily(
        "Granite",
        f"{_CHAT} (granite)",
        _BARRED,
        turns=("<|start_of_role|>", "<|end_of_role|>"),
        calls=("<|tool_call|>",),
    ),
    TokenFamily(
        "LFM 2, Apertus, dots, Megrez, GigaChat, OpenChat, StarCoder",
        f"{_TEMPLATES}/LFM2.5-8B-A1B.jinja, {_CALLS}/apertus2509_detector.py, {_CHAT} (dots1, megrez, gigachat)",
        _BARRED,
        ends=(
            *("<|end_of_turn|>", "<|turn_end|>", "<|message_sep|>", "<|endofresponse|>", "<|endofuserprompt|>"),
            *("<|endofsystem|>", "<|assistant_end|>", "<|EOT|>"),
        ),
        turns=("<|role_start|>", "<|role_end|>", "<|role_sep|>"),
        own=("<|response|>", "<|assistant_start|>"),
        others=("<|userprompt|>", "<|user_start|>"),
        thinking=("<|inner_prefix|>", "<|inner_suffix|>"),
        calls=("<|tool_call_start|>", "<|tools_prefix|>", "<|tools_suffix|>", "<|tool_list_start|>"),
    ),
    TokenFamily(
        "Sky-T1, OpenThinker",
        "their system prompts",
        _BARRED,
        ends=("<|end_of_solution|>",),
        answers=("<|begin_of_solution|>",),
        thinking=("<|begin_of_thought|>", "<|end_of_thought|>"),
    ),
    TokenFamily(
        "DeepSeek",
        f"{_CHAT} (deepseek3), {_TEMPLATES}/DeepSeek-V3.2.jinja, {_CALLS}/deepseekv32_detector.py",
        rf"{_BARRED}|[/／]?\s?{BAR}{{0,2}}\s?(?i:DSML)\s?{BAR}{{0,2}}",
        ends=("<｜end▁of▁sentence｜>", "<|EOT|>"),
        own=("<｜Assistant｜>",),
        others=("<｜User｜>", "<｜System｜>"),
        calls=(
            *("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
            *("<｜tool▁sep｜>", "<｜tool▁outputs▁begin｜>", "<｜DSML｜function_calls>", "</｜DSML｜function_calls>"),
            *(
                "<｜DSML｜tool_calls>",
                "<｜DSML｜invoke",
                "</｜DSML｜invoke>",
                "<‖DSML‖tool_calls>",
                "<DSML tool_calls>",
            ),
        ),
        arguments=("<｜DSML｜parameter", "</｜DSML｜parameter>", "<‖DSML‖parameter", "</｜｜DSML｜｜parameter>"),
        fillers=("<｜begin▁of▁sentence｜>", "<｜▁pad▁｜>"),
    ),
    TokenFamily(
        "DeepSeek",
        "what its models write in place of its tokens",
        rf"[/／]?{BAR}",
        ends=("＜｜end▁of▁sentence｜＞",),
        others=("＜｜User｜＞",),
        calls=("＜｜DSML｜invoke＞", "＜/｜DSML｜invoke＞"),
    ),
    TokenFamily(
        "Hunyuan",
        f"{_CHAT} (hunyuan-moe, hunyuan-dense)",
        _BARRED,
        ends=("<|eos|>", "<｜hy_place▁holder▁no▁2｜>", "<｜hy_end▁of▁sentence｜>", "<｜hy_place▁holder▁no▁8｜>"),
        own=("<｜hy_Assistant｜>", "<|extra_0|>"),
        others=("<｜hy_User｜>", "<|extra_4|>"),
        fillers=("<｜hy_begin▁of▁sentence｜>", "<｜hy_place▁holder▁no▁3｜>"),
    ),
    TokenFamily(
        "Gemma 4",
        f"{_TEMPLATES}/gemma4.jinja",
        rf"{BAR}(?:[A-Za-z]\w{{2,40}}|\")[>＞]|[A-Za-z]\w{{2,40}}{BAR}[>＞]",
        ends=("<turn|>",),
        turns=("<|turn>",),
        channels=("<|channel>", "<channel|>"),
        others=("<|tool_response>",),
        calls=("<|tool_call>", "<tool_call|>", "<tool_response|>", "<|tool>", "<tool|>"),
    ),
    TokenFamily("Gemma 4", f"{_TEMPLATES}/gemma4.jinja", r"\|\"\|>", arguments=('<|"|>',)),
    # -- names in angle brackets
    TokenFamily(
        "Gemma, SmolVLM, Nemotron, Baichuan, XVERSE",
        f"{_CHAT} (gemma, smolvlm), NVIDIA-Nemotron tokenizer_config.json",
        r"(?:start|end)_of_(?:turn|utterance|sentence|image|audio)>|beginning_of_sentence>|extra_id_\d{1,3}>"
        r"|SPECIAL_\d{1,3}>|reserved_\d{1,4}>|(?:image|audio)_soft_token>",
        ends=("<end_of_turn>", "<end_of_utterance>", "<end_of_sentence>"),
        turns=("<start_of_turn>", "<beginning_of_sentence>", "<extra_id_1>", "<SPECIAL_11>"),
        others=("<extra_id_0>", "<SPECIAL_10>", "<reserved_106>"),
        fillers=("<SPECIAL_12>", "<start_of_image>", "<end_of_image>", "<image_soft_token>", "<audio_soft_token>"),
    ),
    TokenFamily(
        "FunctionGemma",
        "google/functiongemma-270m-it tokenizer_config.json",
        r"(?:start|end)_function_(?:call|response|declaration)>|escape>",
        calls=(
            *("<start_function_call>", "<end_function_call>", "<start_function_response>", "<end_function_response>"),
            *("<start_function_declaration>", "<end_function_declaration>"),
        ),
        arguments=("<escape>",),
    ),
    TokenFamily(
        "LongCat",
        "tokenizer_config.json and README.md of LongCat-Flash-Thinking, mlx-lm tokenizer_utils.py",
        r"/?longcat_\w{1,30}>",
        ends=("</longcat_s>",),
        own=("<longcat_assistant>",),
        others=("<longcat_user>", "<longcat_system>"),
        thinking=("<longcat_think>", "</longcat_think>"),
        fillers=("<longcat_s>", "<longcat_pad>"),
    ),
    TokenFamily(
        "Command R",
        "CohereForAI/c4ai-command-r-v01 tokenizer_config.json",
        r"[A-Z]{2,12}_TOKEN>|(?:PAD|UNK|CLS|SEP|BOS|EOS)>",
        ends=("<EOS_TOKEN>", "<EOP_TOKEN>", "<EOS>"),
        fillers=("<BOS_TOKEN>", "<MASK_TOKEN>", "<BOS>", "<PAD>", "<UNK>", "<CLS>", "<SEP>"),
    ),
    TokenFamily(
        "StarCoder, SmolLM, Granite",
        "tokenizer_config.json of starcoder2, SmolLM2 and granite-code, llama.cpp src/llama-vocab.cpp",
        r"fim[_-](?:prefix|middle|suffix|pad)>|(?:jupyter|issue|commit)_[a-z]{3,8}>|(?:repo_?name|file_?sep|filename"
        r"|gh_stars|empty_output|code_to_intermediate|intermediate_to_code|pr_\w{2,20})>",
        ends=("<file_sep>", "<repo_name>", "<reponame>"),
        fillers=(
            *("<gh_stars>", "<filename>", "<empty_output>", "<fim_prefix>", "<fim_middle>", "<fim_suffix>"),
            *("<fim-prefix>", "<fim_pad>", "<issue_start>", "<issue_comment>", "<issue_closed>", "<jupyter_start>"),
            *("<jupyter_text>", "<jupyter_code>", "<jupyter_output>", "<jupyter_script>", "<commit_before>"),
            *("<commit_msg>", "<commit_after>"),
        ),
    ),
    TokenFamily(
        "CodeLlama",
        "llama.cpp src/llama-vocab.cpp",
        r"(?:EOT|PRE|SUF|MID)>",
        ends=("<EOT>",),
        fillers=("<PRE>", "<SUF>", "<MID>"),
    ),
    TokenFamily(
        "Seed-Coder",
        "ByteDance-Seed/Seed-Coder-8B-Instruct tokenizer_config.json",
        r"\[(?:begin|end|PAD|CLS|SEP|MASK|fim)[\w▁ -]{0,40}\]>",
        ends=("<[end▁of▁sentence]>",),
        turns=("<[begin▁of▁sentence]>",),
        fillers=("<[PAD▁TOKEN]>", "<[SEP▁TOKEN]>", "<[fim-prefix]>", "<[fim-middle]>", "<[fim-suffix]>"),
    ),
    TokenFamily(
        "InternLM, XLNet",
        "lmdeploy model.py (InternLM), transformers tokenization_xlnet.py",
        r"eo[adht]>|eosys>|TOKENS_UNUSED_\d{1,3}>",
        ends=("<eoa>", "<eoh>", "<eosys>", "<eod>", "<eot>"),
        fillers=("<TOKENS_UNUSED_0>",),
    ),
    TokenFamily(
        "SentencePiece",
        "google/sentencepiece, its control and byte symbols",
        r"(?:eos|bos|pad|unk|sop|eop|sep|cls|mask)>|0x[0-9A-F]{2}>",
        ends=("<eos>", "<eop>"),
        fillers=("<bos>", "<pad>", "<unk>", "<sop>", "<sep>", "<cls>", "<mask>", "<0x0A>"),
    ),
    TokenFamily(
        "Gemini, Gemma",
        "their reserved tokens, as leaked",
        r"/?(?:ctrl|unused)\d{1,3}>",
        thinking=("<ctrl94>", "<ctrl95>", "<unused94>", "<unused95>"),
        calls=("<ctrl42>", "<ctrl46>"),
    ),
    TokenFamily("Llama 2", f"{_CHAT} (llama2-sys)", r"</?SYS>>", others=("<<SYS>>", "<</SYS>>")),
    TokenFamily(
        "Ling, Ring",
        f"{_CHAT} (bailing)",
        r"role>(?:HUMAN|ASSISTANT|SYSTEM|OBSERVATION)</role>",
        own=("<role>ASSISTANT</role>",),
        others=("<role>HUMAN</role>", "<role>SYSTEM</role>"),
    ),
    TokenFamily(
        "LLaVA, Molmo, Step, InternVL",
        "LLaVA llava/constants.py, the processors of Molmo 2 and Step-VL, InternVL conversation.py",
        r"(?:low_res_)?im_(?:patch|col)>|patch_(?:start|end|newline)>|IMG_CONTEXT>|image(?:_id|_pad|_placeholder)?>",
        fillers=("<im_patch>", "<im_col>", "<patch_start>", "<patch_newline>", "<IMG_CONTEXT>", "<image>"),
    ),
    TokenFamily(
        "TeleChat",
        "LLaMA-Factory src/llamafactory/data/template.py (telechat)",
        r"_[a-z]{2,12}>",
        ends=("<_end>",),
        turns=("<_start>",),
        own=("<_bot>",),
        others=("<_user>", "<_system>"),
    ),
    TokenFamily(
        "xDAN and others",
        "FastChat fastchat/conversation.py (stop_str), and stop words of prompts",
        r"/?(?:end|END|stop|STOP|eom|EOM|done|DONE)>",
        ends=("<end>", "<END>", "<stop>", "<STOP>", "<eom>", "<EOM>", "<done>", "<DONE>"),
    ),
    TokenFamily(
        "Command R, A: citations",
        "CohereForAI/c4ai-command-r-v01 README.md (grounded generation)",
        r"/?co(?::[^<>\n]{0,30})?>",
        calls=("<co: 0>", "</co: 0>", "<co>", "</co>"),
    ),
    TokenFamily("MiniCPM", f"{_CHAT} (minicpm)", r"用户>|AI>", others=("<用户>",), plain=("<AI>",), exact=True),
    TokenFamily(
        "Seed",
        f"{_TEMPLATES}/ByteDance-Seed-OSS.jinja",
        r"/?seed:\w{1,30}>",
        ends=("<seed:eos>",),
        turns=("<seed:bos>",),
        thinking=("<seed:think>", "</seed:think>", "<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>"),
        calls=("<seed:tool_call>", "</seed:tool_call>"),
        fillers=("<seed:pad>",),
    ),
    TokenFamily(
        "DeepSeek, Qwen, GLM, MiniMax, Granite, Hunyuan, K2-Think",
        f"{_TEMPLATES} (all that think), LLM360/K2-V2-Instruct chat_template.jinja",
        r"/?(?:\w{1,12}:)?(?:think|thinking|thought)(?:[:_]\w{1,20})?>|/think(?:ing)?(?=\s)",
        thinking=("<think>", "</think>", "<mm:think>", "<think_fast>", "</think_fast>", "<think_faster>"),
    ),
    TokenFamily(
        "Qwen, Hermes, GLM, MiniMax, Hunyuan, Nemotron, Step, LongCat, Claude",
        f"{_CALLS} (hermes, qwen3_coder, glm4_moe, minimax_m2, hunyuan, step3, longcat)",
        r"/?(?:[\w.-]{1,20}[:_])??(?:tool_calls?|tool_sep|tool_responses?|tool_use|tool_results?|function_calls?"
        r"|function_(?:results?|responses?)|TOOLCALL|AVAILABLE_TOOLS|TOOL_RESPONSE)(?::[\w.-]{1,20})?(?:\s[^<>]{0,80})?>"
        r"|(?:[\w.-]{1,20}:)?(?:invoke|call|function|tool)(?:\s{1,2}(?:name|tool)\s?=|=)"
        r"|/(?:[\w.-]{1,20}:)?(?:invoke|function|call)\s?>",
        calls=(
            *("<tool_call>", "</tool_call>", "<tool_calls>", "</tool_calls>", "<tool_sep>"),
            *("<tool_calls:opensource>", "<function_calls>", "</function_calls>", "<function=", "</function>"),
            *('<invoke name="', "</invoke>", "<minimax:tool_call>", "</minimax:tool_call>", '<steptml:invoke name="'),
            *("<TOOLCALL>", "</TOOLCALL>", "<longcat_tool_call>", '<call tool="'),
        ),
        others=(
            *("<tool_response>", "<tool_responses>", "<tool_result>", "<tool_results>", "<TOOL_RESPONSE>"),
            *("<function_response>", "<function_responses>", "<function_result>", "<function_results>"),
            "<AVAILABLE_TOOLS>",
        ),
    ),
    TokenFamily(
        "Qwen, GLM, MiniMax, Hunyuan, Kimi, Claude",
        f"{_CALLS} (qwen3_coder, glm4_moe, minimax_m2, hunyuan, kimik3)",
        r"(?:[\w.-]{1,20}:)?(?:parameter|param|argument|arg)(?:\s{1,2}(?:name|key)\s?=|=)"
        r"|/(?:[\w.-]{1,20}:)?(?:parameter|argument)\s?>|/?(?:\w{1,20}_)?arg_(?:key|value)(?::[\w.-]{1,20})?>",
        arguments=(
            *("<parameter=", '<parameter name="', "</parameter>", '<argument key="', "</argument>"),
            *("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<longcat_arg_key>"),
        ),
    ),
    # -- other brackets
    TokenFamily("Llama 2", f"{_CHAT} (llama2)", _CAPITALS, own=("[/INST]",), others=("[INST]",), exact=True),
    TokenFamily(
        "Mistral",
        f"{_TEMPLATES}/mistralai-*, and mistral-common's tekken.json",
        _CAPITALS,
        others=("[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[TOOL_CONTENT]"),
        thinking=("[THINK]", "[/THINK]"),
        calls=("[/AVAILABLE_TOOLS]", "[TOOL_CALLS]", "[/TOOL_RESULTS]", "[CALL_ID]"),
        arguments=("[ARGS]",),
        fillers=("[IMG]", "[IMG_BREAK]", "[IMG_END]", "[BEGIN_AUDIO]", "[TRANSCRIBE]", "[PREFIX]", "[SUFFIX]"),
        exact=True,
    ),
    TokenFamily(
        "Mistral, reserved",
        "tokenizer.json of Mistral-7B-v0.3",
        r"control_\d+\]",
        fillers=("[control_8]",),
    ),
    TokenFamily("Skywork", "ms-swift templates/llm.py", _CAPITALS, plain=("[BOT]", "[USER]")),
    TokenFamily("YandexGPT 5", f"{_CHAT} (yandex)", _CAPITALS, fillers=("[SEP]", "[NL]"), exact=True),
    TokenFamily(
        "InternLM 2", "InternLM-XComposer2", r"UNUSED_TOKEN_\d+\]", fillers=("[UNUSED_TOKEN_145]", "[UNUSED_TOKEN_146]")
    ),
    TokenFamily(
        "Apriel",
        f"{_TEMPLATES}/Apriel-*",
        r"(?:BEGIN|END) FINAL (?:RESPONSE|ANSWER)\]",
        ends=("[END FINAL RESPONSE]",),
        answers=("[BEGIN FINAL RESPONSE]",),
    ),
    TokenFamily(
        "LM Studio", "its format of tools", _CAPITALS, calls=("[TOOL_REQUEST]", "[END_TOOL_REQUEST]"), exact=True
    ),
    TokenFamily("GLM, ChatGLM", "ms-swift templates/glm.py", r"[a-z]MASK\]", fillers=("[gMASK]", "[sMASK]")),
    TokenFamily("GLM, ChatGLM", "tokenizer_config.json of GLM-4.5", _CAPITALS, fillers=("[MASK]",), exact=True),
    TokenFamily("ChatGLM 2, LongChat", "ms-swift templates/glm.py, llm.py", r"Round \d+\]", plain=("[Round 1]",)),
    TokenFamily(
        "Kimi K2, K3",
        "tokenizer_config.json of Kimi-K3",
        _CAPITALS,
        ends=("[EOS]", "[EOT]"),
        fillers=("[BOS]", "[PAD]", "[UNK]", "[CLS]"),
        exact=True,
    ),
    TokenFamily(
        "Kimi K3",
        "tokenizer_config.json of Kimi-K3",
        r"[a-z]+_header_id\]",
        turns=("[start_header_id]", "[end_header_id]"),
    ),
    TokenFamily(
        "Kimi-VL",
        "LLaMA-Factory src/llamafactory/data/template.py",
        r"/?think▷",
        thinking=("◁think▷", "◁/think▷"),
    ),
    TokenFamily("openPangu", _CHAT, r"unused\d+\]", turns=("[unused9]",), ends=("[unused10]",)),
    TokenFamily(
        "EXAONE, BlueLM",
        f"{_CHAT} (exaone3, exaone4), ms-swift templates/llm.py",
        r"\|[A-Za-z]\w{1,30}\|\]",
        ends=("[|endofturn|]",),
        own=("[|assistant|]", "[|AI|]"),
        others=("[|system|]", "[|user|]", "[|tool|]", "[|Human|]"),
    ),
    TokenFamily(
        "MiniMax M2, M3",
        f"{_TEMPLATES}/unsloth-MiniMax-M2.jinja, {_CALLS}/minimax_m3.py",
        r"~!?[a-z][\[\]]|![a-z]~[\[\]]|<\]\w{1,20}\[>\[",
        turns=("]~b]",),
        calls=("]<]minimax[>[",),
        fillers=("]~!b[", "]!p~[", "]!d~["),
    ),
    TokenFamily("MiniMax M2, M3", f"{_TEMPLATES}/unsloth-MiniMax-M2.jinja", r"[a-z]~\[", ends=("[e~[",)),
    TokenFamily(
        "Qwen-Agent",
        "Qwen-Agent qwen_agent/llm/fncall_prompts/qwen_fncall_prompt.py",
        r"[A-Z]{3,12}✿",
        ends=("✿RESULT✿",),
        calls=("✿FUNCTION✿", "✿RETURN✿"),
        arguments=("✿ARGS✿",),
    ),
    TokenFamily(
        "gpt: citations",
        "OpenAI's guides to file search and to the formatting of citations",
        r"\d{1,3}(?::\d{1,3})?†[^【】\n]{0,60}】",
        fillers=("【4:0†source】", "【4†source】"),
    ),
    TokenFamily(
        "gpt: citations",
        "OpenAI's guide to the formatting of citations",
        r"[a-z_]{2,20}\ue202",
        fillers=("\ue200cite\ue202turn0search0\ue201",),
    ),
    TokenFamily("OLMoE", "ms-swift templates/llm.py", r"\|\|[A-Z_]+\|\|\|", fillers=("|||IP_ADDRESS|||",)),
)
"""The control tokens of all families."""

TOKENS: tuple[str, ...] = tuple(dict.fromkeys(chain.from_iterable(form.tokens for form in FORMS)))
"""All tokens that no player's words may hold; of a token with attributes, its beginning."""

SIGNS = "".join(sorted({form.tokens[0][0] if form.tokens else form.plain[0][0] for form in FORMS} - {"<"}))
"""The first characters of tokens, except for `<`, which prompts escape everywhere."""

FOLLOWS = "|".join(dict.fromkeys(form.pattern for form in FORMS if not (form.tokens + form.plain)[0].startswith("<")))
"""A zero-width pattern for the position behind such a first character of a token."""


# -- patterns, made on first use: they take time to compile


def _named(token: str) -> tuple[int, str] | None:
    """Return the number of bars of a token in angle brackets, and a pattern for its name with any separators.

    Return None for any other token.
    """
    match = re.fullmatch(rf"[<＜]({BAR}?)([\w▁ :]+)({BAR}?)[>＞]", token)
    if match is None or token in _STRIKES:
        return None
    return bool(match[1]) + bool(match[3]), re.sub(r"(?<!^)[_▁ ]", r"[_▁ -]?", match[2])


def _is_compound(name: str) -> bool:
    """Return whether a name, as a pattern, has several words (`im_end`, `endofturn`) and is thus no ordinary word."""
    return "[_" in name or re.match("(?:end|start|begin)of", name) is not None


def _half(name: str) -> str:
    """Return a pattern for a token with one of the compound names that lacks brackets or bars."""
    return (
        rf"(?:[<＜][/／]?|{BAR}{{1,2}})(?i:{name})(?:{BAR}{{1,2}}[>＞]?+|[>＞])"
        rf"|(?<![\w▁<＜])(?i:{name}){BAR}{{1,2}}[>＞]"
    )


def _any(tokens: Sequence[str]) -> str:
    """Return a pattern for any of the tokens.

    A name between bars matches in any case, with other bars, and without its closing ones. A compound name may also
    lack the bracket or the bars before it.
    """
    names: dict[int, list[str]] = {0: [], 2: []}
    exact: list[str] = []
    for token in sorted(set(tokens), key=lambda token: (-len(token), token)):
        bars, name = _named(token) or (1, "")
        if bars == 1:
            exact.append(re.escape(token))
        else:
            names[bars].append(name)
    parts = exact
    if names[2]:
        name = "|".join(dict.fromkeys(names[2]))
        parts.append(
            rf"[<＜]\s{{0,2}}[/／]?{BAR}{{1,2}}\s{{0,2}}(?i:{name})(?![\w▁])(?:\s{{0,2}}{BAR}{{1,2}})?+(?:\s{{0,2}}[>＞])?+"
        )
        # a name of several words needs no bar, or no bracket or bar before it
        if name := "|".join(filter(_is_compound, dict.fromkeys(names[2]))):
            parts.append(_half(name))
    if names[0]:
        parts.append(rf"[<＜]{{1,3}}{BAR}?(?:{'|'.join(dict.fromkeys(names[0]))}){BAR}?[>＞]")
    return f"(?:{'|'.join(parts)})"


def _every(*kinds: str) -> tuple[str, ...]:
    return tuple(chain.from_iterable(getattr(form, kind) for form in FORMS for kind in kinds))


_STRIKES = ("<s>", "</s>")
"""Tokens of Llama 2 and Mistral that are HTML as well."""
_OWN_ROLE = r"(?i:assistant|model|ai|bot|chatbot|gpt|answer|response|final)\b"
_ANY_ROLE = (
    rf"(?:{_OWN_ROLE}|(?i:user|human|system|developer|tool|function|observation|ipython|environment"
    r"|think(?:ing)?|thoughts?|reasoning|analysis)\b)"
)
_INNER = (
    r"(?:<\|(?:end_header_id|header_end|im_sep|im_middle|end_of_role|role_end|role_sep)\|>"
    r"|\[end_header_id\])"
)
"""The end of a turn's header."""
_HEADER_ENDS = rf"(?:\s{{0,2}}{_INNER}|[ \t]*+(?:\n|:|$))?"
# possible beginnings of tokens: one character class comes first, so that the search skips to the next character in it
_MAY_BEGIN = Pattern(
    rf"[<＜\[\]◁✿【\ue200{_BARS}](?:(?<=[<＜])[\s/／<]{{0,3}}(?:{BAR}|(?i:DSML)|用户|\[|[\w.-]{{0,20}}?(?:[_▁:-]|think|thought"
    r"|function|invoke|call|tool|param|arg|TOOL|AVAIL|SYS|ctrl|unused|eo[adhpst]>|bos|pad|unk|sop|sep|cls|mask|role"
    r"|SPECIAL|0x|s>|co[:>]|reponame|filename|escape|eosys|(?:end|start|begin)of"
    rf"|/?(?:end|END|stop|STOP|eom|EOM|done|DONE|image)>|IMG_|EO[ST]>|BOS|PAD|UNK|CLS|SEP|PRE>|SUF>|MID>)"
    rf"|\w{{3,40}}{BAR})|(?<=\[)(?:/?[A-Z_]{{2}}|[a-z]MASK|control_|unused|[a-z]+_header|[a-z]~|\||BEGIN|END)"
    rf"|(?<=\])(?:~|!|<\])|(?<=◁)|(?<=[✿\ue200])[A-Za-z]{{2}}|(?<=【)\d|(?<={BAR})(?:\w{{5,40}}{BAR}|{BAR}?\s?(?i:DSML)|\w{{2,40}}{BAR}{{0,2}}[>＞]|\|[A-Z])"
    rf"|(?<=(?i:dsml){BAR})|(?<=\w{BAR}){BAR}?[>＞])"
)
OWN_NAMES = (
    r"assistant|model|chatbot|bot|ai|gpt|llm|助手|助理|人工智能|ассистент|assistente|asistente|assistent|アシスタント"
    r"|어시스턴트"
)
"""Words by which a model announces its own turn, as alternatives of a pattern."""
_ROLES = rf"user|human|system|{OWN_NAMES}|用户|人类|系统|пользователь|usuario|utilisateur|benutzer|ユーザー|사용자"
_OPENS, _SHUTS = (
    rf"(?:#{{1,4}} ?|>{{1,3}} ?|\*{{1,2}}|_{{1,2}}|\[|<<?\|?|[{_ANGLES}]|\(|`|[-=]{{1,5}} )",
    rf"(?:\*{{1,2}}|_{{1,2}}|\]|\|?>{{1,2}}|[{_SHUT_ANGLES}]|\)|`| [-=]{{1,5}})",
)
_LINE_ENDS = r"[ \t]*+(?:\n|\Z)"
_SOURCES = "function|observation|developer|environment|(?:tool|function)_(?:response|result|output)s?"
"""Words for roles in lowercase on a line of their own: in another case they are ordinary words."""
_LABEL = (
    rf"(?:{_OPENS}(?i:{_ROLES})(?:[:：]{_SHUTS}?|{_SHUTS}[:：]|{_SHUTS}?{_LINE_ENDS})"
    rf"|(?i:{_ROLES}){_SHUTS}?[:：]?{_LINE_ENDS}|(?:(?i:tool|ipython)|{_SOURCES}){_LINE_ENDS}"
    r"|(?:USER|HUMAN|ASSISTANT|SYSTEM)[:：]|(?:GPT4(?: Correct)?|Code|Math Correct) (?:User|Assistant)[:：]"
    r"|(?:用户|助手|人类|系统)[:：]"
    r"|(?:#{1,4} )(?:(?:Instruction|Input|Response):?[ \t]*+\n|(?:Instruction|Human|User):))"
)
"""A header of a turn without tokens, at the beginning of a line: `**Assistant:**`."""
_OWN_WORDS = "turn|message|response|reply|answer|text|output|speech|pitch|post|statement"
_OVER = rf"(?i:end[ _-](?:of[ _-])?(?:(?:my|the)[ _-])?(?:{_OWN_WORDS}))"
_CLOSING = (
    rf"(?P<close>(?:[(（]\s?{_OVER}\s?[)）]"
    rf"|(?<![\[<{{【《|])[\[<{{【《|]{{1,3}}+\s?/?(?:{_OVER}|END|STOP|DONE|EO[FMST])\s?[\]>}}】》|]{{1,3}}"
    r"|\|{1,2}+(?i:end)\|{1,2}|TERMINATE(?<=[.!?…。！？][ \n]TERMINATE)"
    rf"|(?<![-=#])[-=#]{{3,12}}+[ \t]?(?:{_OVER}|END|STOP|DONE)(?:[ \t]?[-=#]{{3,12}})?"
    rf"|\n[-=*_~#\[(]{{0,12}}+[ \t]?(?:{_OVER}|END|EO[FMT]|(?<=[\[( ~*_#=-])(?i:end))[ \t]?[-=*_~#\])]{{0,12}})"
    r"[ \t]*+(?=\n|\Z))"
)
"""Words at the end of a line that end a turn: `[END]`, `--- end of message ---`, or alone on the line."""
_SENTENCE_ENDS = r"[.!?…。！？\"”'’)\]*_]"
_ROLE_TAG = (
    rf"(?P<tag>[{_ANGLES}](?:(?<={_SENTENCE_ENDS}.)|(?<={_SENTENCE_ENDS}\s.))"
    rf"[/／]?(?i:user|human|system|assistant|chatbot|bot|model)[{_SHUT_ANGLES}](?![^<>]{{0,400}}</))"
)
"""A role's tag behind a sentence, unless it is one of a pair around words."""
_STRIPPED = (
    rf"(?=[\n(（\[{_ANGLES}{{|=#T-])(?:{_CLOSING}|{_ROLE_TAG}"
    rf"|(?P<label>\n[ \t]{{0,4}}{_LABEL}|(?<=\n)\n(?:User|Human|Assistant)[:：](?=\s))"
    r"|### (?<![^\n]### )(?:Instruction|Human|User):?[ \t]*+\n)"
    r"|assistant(?<![^\n.!?…。！？\"'”’»)\]}*_]assistant)[ \t]*+\n|user(?<![^\n.!?…。！？\"'”’»)\]}*_]user)[ \t]*+\n"
    r"|assistant(?<=[.!?…]assistant)\s*+\Z"
)
"""Headers of turns whose tokens a server has stripped."""
# within a turn: a message that only thinks, the beginning of its next message, and the end of thinking
_THINKS = Pattern(
    r"\s*+(?:(?:<\|start\|>)?(?:assistant)?\s*+<\|channel\|>\s*+"
    r"(?:analysis|thoughts?|thinking|reasoning|commentary(?![^<>]{0,40} to=))\b"
    r"|<\|im_start\|>\s*+(?:think(?:ing)?|thoughts?|reasoning|analysis)\b)",
    re.IGNORECASE,
)
_GOES_ON = Pattern(
    r"\s*+(?:(?:<\|start\|>(?:assistant)?\s*+)?<\|channel\|>|<\|start\|>assistant\b"
    r"|<\|im_start\|>\s*+(?:assistant|answer|response|final|think|reasoning|analysis))",
    re.IGNORECASE,
)
_OWN_CALL = Pattern(r"<\|assistant\|>[ \t\n]{0,4}[A-Za-z_]\w{1,60}[ \t]{0,4}\n\s{0,4}\{")
"""The header of a call in GLM-4's format: sglang python/sglang/srt/function_call."""
_OWN_ANSWER = Pattern(
    r"\s*+(?:(?:<\|start\|>\s*+(?:assistant)?\s*+)?<\|channel\|>\s*+(?:final\b|commentary[^<>]{0,40} to=)"
    r"|<\|start\|>\s*+assistant\s?to=[\w.]{1,60}\s?<\|channel\|>"
    r"|<\|begin\|>assistant<\|content\|>)",
    re.IGNORECASE,
)
"""The header of the model's own answer: what stands before it without a header is thinking, whose header is a part of
the prompt at some hosts."""
_THOUGHT = Pattern(
    r"(?:</[\w:]{0,20}(?:think|thought|reason)\w{0,20}>|\[/THINK\]|◁/think▷|<\|(?:END_THINKING|end_of_thought)\|>"
    r"|<channel\|>|<(?:ctrl|unused)95>)\s*\Z",
    re.IGNORECASE,
)


@lru_cache(8)  # a reply is looked at as it came, and again without its layers
def _may_hold(text: str) -> bool:
    return _MAY_BEGIN.search(text) is not None


@cache
def _header() -> re.Pattern[str]:
    """Return a pattern for one part of the header before the words of a reply."""
    turns, own = f"(?:{_any(_every('turns'))}|<s>)", _any(_every("own", "answers"))
    return re.compile(
        rf"\s*+(?:(?:{_any(_every('ends'))}\s{{0,4}}(?={turns}\s?{_OWN_ROLE}|{own}))?"
        rf"(?:{turns}\s?{_OWN_ROLE}(?:[ \t]name=[^\n<>|]{{1,40}})?{_HEADER_ENDS}"
        rf"|{own}(?:\s?{_OWN_ROLE}(?=<))?{_HEADER_ENDS})"
        rf"|<\|open\|>message role=\"assistant\"[^<>\n]{{0,80}}<\|sep\|>|<\|open\|>response<\|sep\|>"
        rf"|{_any(_every('fillers'))}|{turns}(?!\s?(?:{_ANY_ROLE}|assistant|user|system|[\w.@-]{{1,30}}[ \t]*+\n))"
        rf"|{_OPENS}?(?i:{OWN_NAMES}){_SHUTS}?[:：]?{_SHUTS}?[ \t]*+\n"
        rf"|assistant(?:{_INNER}|<\|role_sep\|>)"
        rf"|(?:GPT4 Correct )?{_OPENS}?(?i:{OWN_NAMES})(?:{_SHUTS}?[:：](?=\s)|{_SHUTS}?：|[:：]{_SHUTS})"
        r"|final[ \t]*\n|(?:Action:[ \t]*\w{1,40}[ \t]*\n+)?Action Input:\s?"
        r"|>>>(?:all|assistant)[ \t]*\n|✿RETURN✿[:：]\s?"
        r"|### Response:?[ \t]*+\n|/(?:set[ \t])?(?:no_?)?think(?:ing)?(?![\w/])[ \t]*+\n?)"
    )


def _tokens_of_turns() -> str:
    return (
        rf"(?P<end>{_any(_every('ends'))}|<\|close\|>(?:response|message)<\|sep\|>(?!\s*<\|open\|>)|</s>)"
        rf"|(?P<inner>{_INNER})|{_any(_every('turns', 'others', 'own'))}|<\|open\|>message\b|<s>"
    )


@cache
def _break() -> re.Pattern[str]:
    """Return a pattern for the end of a message or a turn, or the beginning of the next one."""
    return re.compile(rf"{_tokens_of_turns()}|{_STRIPPED}")


@cache
def _break_of_tokens() -> re.Pattern[str]:
    """Return the pattern of `_break` without headers that lack their tokens, and with words for the end at the end."""
    return re.compile(rf"{_tokens_of_turns()}|{_CLOSING}(?=\s*\Z)|{_ROLE_TAG}")


@cache
def _stripped() -> re.Pattern[str]:
    return re.compile(_STRIPPED)


@cache
def _token() -> re.Pattern[str]:
    """Return a pattern for a control token in words."""
    names = dict.fromkeys(named[1] for token in TOKENS if (named := _named(token)) and named[0] == 2)
    forms = dict.fromkeys(form.spoken for form in FORMS if form.tokens)
    loose = rf"[<＜]\s{{0,2}}[/／]?{BAR}{{1,2}}\s{{0,2}}(?i:{'|'.join(names)})(?![\w▁])"
    tag = r"<\|(?:open|close)\|>[^<>|\n]{0,200}<\|sep\|>"
    cut = rf"[<＜]\s?[/／]?{BAR}[A-Za-z][\w▁]{{1,60}}\Z"
    half = _half("|".join(filter(_is_compound, names)))
    return re.compile("|".join((tag, cut, *forms, loose, half, rf"(?:{BAR}{{1,2}})?(?<!\w)(?i:DSML)\s?{BAR}{{1,2}}")))


# -- turns


class Speakers(NamedTuple):
    """The names in a question: words for roles that are names, the player's own name, and all names."""

    roles: frozenset[str] = frozenset()
    own: str = ""
    names: tuple[str, ...] = ()

    @property
    def of_roles(self) -> Speakers:
        """Return the speakers without `names`, for private words, which may quote lines of other players."""
        return Speakers(self.roles)


NO_SPEAKERS = Speakers()


_HALF_TOKEN = Pattern(r"(?:[ \t\n]*(?:/no_?think(?:ing)?|(?<!\w)/think(?:ing)?|<\||</s|<\|?/|▁))+\s*\Z")
"""The beginning of a token at the end of a text, and the switches of Qwen 3 and GLM 4.5, which they repeat."""


def without_rest(text: str) -> str:
    """Return a text without the first signs of a token at its end: `Hi` for `Hi<|` and `Hi /no_think`."""
    return _HALF_TOKEN.sub("", text) if text.rstrip()[-1:] in {"|", "s", "/", "▁", "k", "g"} else text


def without_header(text: str, speakers: Speakers = NO_SPEAKERS) -> str:
    """Return a reply without the header of its role and the tokens that begin a text: `<|im_start|>assistant`.

    The switches of Qwen 3 (`/no_think`) go with them.

    A word for a role is no header if it is the name of one of the `speakers`.
    """
    position = 0
    struck = _strikes(text, len(text)) if "<s>" in text else set()
    while (header := _header().match(text, position)) and header.end() > position:
        tag = header[0].find("<s>")
        if tag >= 0 and header.start() + tag in struck and not _BEGINS_A_TURN.search(header[0]):
            break
        if speakers.roles and "|" not in header[0] and _is_player(header[0], speakers):
            break
        position = header.end()
    return text[position:].lstrip() if position else text


def first_turn(
    text: str,
    objects: Sequence[tuple[int, int]] = (),
    speakers: Speakers = NO_SPEAKERS,
    *,
    tokens_alone: bool = False,
) -> str:
    """Return the model's own turn without its header: the text behind the first end of a turn is made up.

    A message of the turn that only thinks does not end it. Ends within the `objects`, which are sorted spans, do not
    count: the strings of objects are read on their own. Words before the header of the model's own answer are thinking,
    whose header may have been a part of the prompt. A word for a role begins no turn if it is the name of one of
    the `speakers`. With `tokens_alone` only control tokens end a turn, and words for its end behind all others.
    """
    breaks = (_break() if _may_hold(text) else _stripped()) if not tokens_alone else _break_of_tokens()
    bare = without_header(text, speakers)
    shift = len(text) - len(bare)
    struck = _strikes(bare)
    begins = index = answer = 0
    for mark in breaks.finditer(bare):
        start, end = mark.span()
        while index < len(objects) and objects[index][1] - shift <= start:
            index += 1
        inside = index < len(objects) and objects[index][0] - shift < start
        if inside or mark.lastgroup == "inner" or start in struck:
            continue
        if mark.lastgroup == "label" and _BEGINS_WITH_ANOTHER.match(bare):
            continue  # a transcript from its first line on: what stands before the own turn is no answer
        if _is_doubtful(bare, start, end, speakers) if mark.lastgroup == "label" else in_sentence(bare, start, end):
            continue
        said, next_message = bare[begins:start], end if mark.lastgroup in {"end", "close"} else start
        unsaid = _UNSAID.fullmatch(said) or _THINKS.match(said) or _THOUGHT.search(said)
        if unsaid and (_GOES_ON.match(bare, next_message) or _header().match(bare, next_message)):
            begins = next_message
            continue
        ends = mark.lastgroup in {"end", "close"} or bare.startswith("<|start|>", start)
        ends = ends and not (answer or tokens_alone)
        calls = not (answer or tokens_alone) and _OWN_CALL.match(bare, start)
        if calls or (ends and _OWN_ANSWER.match(bare, next_message)):
            answer = begins = next_message
            continue
        return without_header(bare[answer:start], speakers).rstrip() if answer else bare[:start].rstrip()
    return without_header(bare[answer:], speakers) if answer else bare


# -- lines of other players

_SPEAKS = (
    r"says?|said|replie[sd]|reply|answer(?:s|ed)?|asks?|asked|whispers?|whispered|adds?|added|thinks?|to all"
    r"|wr(?:ites?|ote)|respond(?:s|ed)?|shout(?:s|ed)?|yell(?:s|ed)?|mutter(?:s|ed)?|interrupt(?:s|ed)?|interject(?:s|ed)?"
    r"|continue[sd]?|announce[sd]?|declare[sd]?|retort(?:s|ed)?|exclaim(?:s|ed)?|speaks?|spoke|nods?|laughs?|sighs?"
    r"|dit|sagt|sagte|dice|dijo|diz|disse|говорит|сказал"
)
_SAYS_IN_CHINESE = r"(?:说道?|說道?|回答道?|表示)"
_PLAYER = (
    r"(?:player|agent|candidate|team|participant|contestant|speaker|seat|member|survivor|houseguest|islander|joueu(?:r|se)|spieler(?:in)?|jugadora?|jogadora?|giocat(?:ore|rice)|speler|игрок|gracz)"
    r"[ \t]#?|(?:玩家|选手|參賽者|参赛者|プレイヤー|플레이어)[ \t]?"
)
"""Words for a player before its name."""
_NUMBERED = Pattern(r"([A-Za-z]{2,20})[\s_#-]?\d{1,5}")


_CROWD = (
    r"everyone|everybody|all(?: players)?|(?:the )?(?:others|crowd|audience|group|table)|both|all together|you|q|h"
    r"|question"
)
"""Words for several players or an unnamed one (`Q`, and `H` for a human), with which a line of a transcript may
begin."""
_COLONS = ":：∶﹕︰꞉"
_CLOSERS = {")": "(", "）": "（", "]": "[", "】": "【", "}": "{", ">": "<", "*": "*", "_": "_"}
_BULLET = Pattern(r"^\s*(?:[-*•‣]\s|\d{1,2}[.)]\s)", re.MULTILINE)
_ANNOUNCES = (*_COLONS, ",", "，", ";", "、")
_ENDS_A_SENTENCE = Pattern(r"[.!?…。！？][\"'”’»」)\]*_]{0,4}\Z")
_RULED = Pattern(r"[-=~*#_—][ \t]?[-=~*#_—][ \t]?\Z")
_NEAR = 200  # characters around a name that are looked at
_IN_FIRST_PERSON = Pattern(r"[\"'“‘«*_ ]*(?:i(?:['’]\w+)?|my|me|we|our)\b", re.IGNORECASE)
_GESTURE = Pattern(r"[*(\[]?[^\W\d_]\w*(?:s|ing)\b[^*()\[\]\n]{0,60}[*)\]](?!\*)")
"""A stage direction at the beginning of a line, perhaps without its first sign: `*laughs*`."""


_DIRECTIONS = (
    r"(?:nod|laugh|sigh|smil|smirk|frown|shrug|grin|chuckl|giggl|snort|scoff|gasp|groan|wink|whisper|mutter|murmur|shout"
    r"|yell|clap|point|glar|star|glanc|look|lean|stand|sit|step|walk|turn|wav|paus|bow|gulp|cough|yawn|sob|blush|rais"
    r"|roll|cross|shak|enter|leav|vot|exit|arriv|join|interrupt|interject|speak|answer|respond|say|add|ask|clear|tak)(?:e?s)|(?:repl|cr)ies"
)
"""Verbs of stage directions: `nods`."""


@lru_cache(256)
def _direction_of(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for a stage direction of one of the names that begins a line, up to the words behind it."""
    name = "|".join(map(re.escape, sorted(names, key=lambda name: (-len(name), name))))
    return re.compile(
        rf"(?:(?P<first>\A\s*+)|\n)[ \t]{{0,4}}(?:[*_(\[（【]{{1,3}}(?:(?:player|agent)[ \t]#?)?(?:{name})"
        rf"(?:[ \t](?:[a-z]{{2,12}}ly|just|only|then|now))?,?[ \t](?:{_DIRECTIONS}|[a-z]{{2,12}}ing)(?!\w)"
        rf"|[*_]{{0,3}}(?:{name})[ \t][(\[*_（【]{{1,2}}(?:{_DIRECTIONS}|[a-z]{{2,12}}ing)(?!\w))"
        r"[^*_()\[\]（）【】\n]{0,80}[*_)\]）】]{1,3}[ \t:：—-]{0,4}+(?P<words>[^\n]{0,80})",
        re.IGNORECASE,
    )


def _directions_of_others(text: str, speakers: Speakers, *, first: bool) -> Iterator[re.Match[str]]:
    """Yield the stage directions of other players that have words of their own behind them: `*B nods.* You are right.`

    Words in small letters go on with the sentence. One at the beginning of the text counts only if `first`.
    """
    others = tuple(name for name in speakers.names if name.casefold() != speakers.own.casefold())
    for found in _direction_of(others).finditer(text) if others else ():
        behind = (found["words"].strip() or text[found.end() : found.end() + _NEAR].strip())[:1]
        if behind and not behind.islower() and (first or found["first"] is None):
            yield found


@lru_cache(256)
def _line_of(own: str, names: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for the beginning of a line of a transcript that one of the names speaks.

    It is a name between signs and a separator: `B:`, `**Player B** (to A):`, `[12:00] B - `, `<B> `, or a name that is
    `alone` on its line. If the player's `own` name is a word and a number (`Agent_3`), any such name with that word
    counts.
    """
    word = _NUMBERED.fullmatch(own)
    every = [re.escape(name) for name in sorted({own, *names}, key=lambda name: (-len(name), name))]
    if word:
        every.append(rf"{re.escape(word[1])}[\s_#-]{{0,2}}\d{{1,5}}")
    name = "|".join(every)
    return re.compile(
        r"(?:(?P<first>\A\s*+)|\n)(?P<signs>(?:[^\w\n]{0,8}+\d{1,2}(?:[.):]\d{0,2}){1,2}(?=\W)"
        r"|#\d{1,2}(?=[ \t]))?[ \t]*+"
        r"(?:[^\w\n]|_){0,8}+)"
        r"(?:(?:turn|round|day|night)[ \t]\d{1,3}[^\w\n]{1,4}+)?"
        r"(?:(?:message|response|reply|answer|note|pitch|speech|statement|post|turn|quip|whisper|comment)[ \t]"
        r"(?:(?:by|of)[ \t])?)?(?:from[ \t])?"
        rf"(?:{_PLAYER})?(?P<name>{name}|{_CROWD})(?:(?![^\W_])|(?={_SAYS_IN_CHINESE}))"
        rf"(?P<others>(?:(?:[ \t]?[,&+/>]|[ \t](?:and|or|to|->|→))[ \t]?(?:{name}|{_CROWD}|me|us)(?!\w)){{0,3}})"
        r"(?P<closes>[\])）】}*_>\"”]{0,4})"
        r"(?:['’]s[ \t](?:reply|response|answer|message|turn|pitch|speech|statement|post"
        r"|comment)(?P<shuts>[\])）】}*_]{0,3})"
        r"|,[ \t][a-z]{3,15}ly)?"
        rf"(?:(?:[ \t](?:then|also|now))?[ \t](?:{_SPEAKS})(?!\w)|[ \t]?{_SAYS_IN_CHINESE}"
        rf"|[ \t]?\([^()\n]{{1,40}}\))?[*_]{{0,2}}"
        r"(?:(?P<ruled>(?:[ \t]?[-=~*#_—]){2,12}[ \t]*(?=\n|\Z))"
        rf"|[ \t]?(?:[{_COLONS}|–—]|(?=[「『])|(?P<points>->|=>|→|⇒|[>=](?!=)))|\t|[ \t]--?[ \t]"
        r"|(?P<bare>(?<=[\])）】}>*_])[ \t]|(?<=】))|(?P<alone>[ \t]*(?=\n)))[ \t*_]{0,4}(?P<words>[^\n]{0,80})",
        re.IGNORECASE,
    )


def _lines_of_others(text: str, speakers: Speakers) -> list[re.Match[str]]:
    """Return the beginnings of lines of a transcript behind the first words, or [] if the lines are the player's own.

    They are its own if words announce them (`I see it so:`), if they go on in small letters, a number or signs in a
    text that is not written so (`B: keep`, `C: ?`), if they are items of a list and none is in the first person, or if
    the text begins with such a line and none has the player's own name.
    """
    if not speakers.names or _answers_itself(text, speakers):
        return []
    every = islice(_line_of(speakers.own, speakers.names).finditer(text), _MOST_TOKENS)
    lines = [line for line in every if _may_be_spoken(text, line, speakers)]
    behind = [line for line in lines if line["first"] is None or _is_tag(text, line)]
    if not behind or text[: behind[0].start()].rstrip().endswith(_ANNOUNCES):
        return []
    names = {line["name"].casefold() for line in lines}
    several = 1 < len(names) == len(lines)
    goes_on = all(_goes_on(line["words"]) for line in lines)
    if goes_on and (several or (_is_written_in_sentences(text) and not _speaks_of_itself(lines))):
        return []
    items = list(islice(_BULLET.finditer(text), 2))
    if len(items) > 1 and all(_BULLET.match(line["signs"]) for line in behind) and not _speaks_of_itself(lines):
        return []
    return [] if len(lines) > len(behind) and speakers.own.casefold() not in names else behind


_QUESTION = Pattern(r"\s*+[*_]{0,2}Q[*_]{0,2}[:：][^\n]{1,400}\n{1,3}[ \t]{0,4}[*_]{0,2}A[*_]{0,2}[:：]")


def _answers_itself(text: str, speakers: Speakers) -> bool:
    """Return whether a text of player A begins as questions and answers, and no other player speaks in it."""
    if speakers.own.casefold() != "a" or _QUESTION.match(text) is None:
        return False
    lines = islice(_line_of(speakers.own, speakers.names).finditer(text), _MOST_TOKENS)
    return {line["name"].casefold() for line in lines} <= {"q", "a"}


def _may_be_spoken(text: str, line: re.Match[str], speakers: Speakers) -> bool:
    """Return whether the signs around a name make the line one of a transcript.

    A name between rules (`--- B ---`) is a scene's heading. A name alone on its line must be another's, behind a whole
    sentence, and have words below it. A name in brackets or
    emphasis without a separator must be closed as it was opened, and begin a sentence. An arrow to a name is a vote, a
    sign before a name or a number compares, and a bar at the beginning of a line is a table's.
    """
    name, words, closes = line["name"], line["words"], line["closes"] + (line["shuts"] or "")
    if line["ruled"] is not None:
        return _RULED.search(line["signs"]) is not None
    if line["alone"] is not None:
        spelt = (name in speakers.names or bool(closes)) and not line["others"]
        ends = _ENDS_A_SENTENCE.search(text[max(0, line.start() - _NEAR) : line.start()].rstrip())
        below = text[line.end() : line.end() + _NEAR].strip().partition("\n")[0].strip("*_ .#")
        known = {"", *(each.casefold() for each in speakers.names)}  # a list of names
        return (
            spelt and name.casefold() != speakers.own.casefold() and below.casefold() not in known and ends is not None
        )
    if _is_tag(text, line):
        return name in speakers.names  # `<b>` is HTML, also if there is a player B
    if line["bare"] is not None:
        opener = _CLOSERS.get(closes[-1:], "")
        return bool(opener) and (opener in line["signs"] or opener == "<") and not words[:1].islower()
    if line["points"] is not None:
        first = re.match(r"\W*(\w*)", words)
        return first is None or not (first[1].isdigit() or first[1].casefold() in {*map(str.casefold, speakers.names)})
    return not line["signs"].lstrip().startswith("|")


def _is_tag(text: str, line: re.Match[str]) -> bool:
    """Return whether the name of a line is that of a pair of tags."""
    is_tag = line["signs"].endswith("<") and text.startswith(">", line.end("name"))
    return is_tag and f"</{line['name']}>" in text


def _goes_on(words: str) -> bool:
    """Return whether words behind a name are no sentence: they begin with a small letter, or have a number or signs."""
    of_signs = bool(words.strip()) and not any(map(str.isalnum, words))
    return (words[:1].islower() or words.isdigit() or of_signs) and not _GESTURE.match(words)


def _is_written_in_sentences(text: str) -> bool:
    """Return whether the first letter of a text is a capital."""
    return next((sign for sign in text if sign.isalpha()), "a").isupper()


def _speaks_of_itself(lines: Sequence[re.Match[str]]) -> bool:
    return any(map(_IN_FIRST_PERSON.match, (line["words"] for line in lines)))


_INK = Pattern(r"\S")
_UNSAID = Pattern(rf"[\W_]*+(?:(?i:{_ROLES})[\W_]*+)?")
_LABELS = Pattern(
    r"\A\s*+Action:[ \t]*+\w{1,40}[ \t]*+\n+[ \t]*+Action Input:|"
    rf"(?:\A(?!\s*+\w++\s*+\Z)\s*+|\n[ \t]{{0,4}}){_LABEL}"
    r"|\n[ \t]{0,4}(?i:user|human|assistant|system|model|AI|chatbot|bot|gpt|llm|пользователь|usuario|utilisateur"
    r"|benutzer"
    r"|ユーザー|사용자)(?:[ \t](?:says|said|\d{1,2})|[ \t]?\([^()\n]{1,40}\))?"
    r"(?:[:：](?!//)|[ \t]?>{1,3}(?=\s|[^\W\d_a-z]))"
    r"|\n[ \t]{0,4}(?:[\[(](?i:user|human|system|assistant)[\])][ \t]|@(?:user|human|system)[ \t]"
    r"|\[(?i:system|user)\b[^\[\]:\n]{0,20}[:：]|(?i:role[:：][ \t]?[\"']?(?:user|human|system|tool|developer))\b)"
    # Vicuna's and Alpaca's headers on the line of the words
    r"|[.!?…\"”’)][ \t]{1,4}(?:(?:USER|HUMAN|ASSISTANT|SYSTEM):(?=\s)"
    r"|(?:User|Human):(?=[ \t][^\n]{1,200}[ \t](?:Assistant|AI|Bot|Model):)"
    r"|#{2,4} (?:User|Human|Instruction|Input|System|Assistant):)"
)
_STAFF = (
    r"moderator(?:in)?|narrator|game ?master|referee|host|presenter|announcer|emcee|facilitator|interviewer|judge|gm|dm"
    r"|(?:player|speaker|participant|contestant) ?#?\d{1,2}|(?:an)?other player|opponent|spielleiter(?:in)?"
    r"|erz[äa]hler(?:in)?|narrateur|animateur|pr[ée]sentateur|narradora?"
    r"|presentadora?"
    r"|moderadora?|anfitri[óo]n|apresentadora?|narratore|presentatore|conduttore|moderatore|ведущий|ведущая|рассказчик"
    r"|модератор|диктор|prowadz[ąa]c[ya]|主持人|旁白|法官|裁判|解说|解說|司会者?|ナレーター|進行役|사회자|진행자|해설자"
)
"""Words for those who lead a game and tell of it."""
_STAFF_LABEL = Pattern(
    rf"\n[ \t]{{0,4}}(?:[*_\[(（【]{{0,3}}(?i:{_STAFF})[*_\])）】]{{0,3}}"
    r"(?:[ \t](?:says|said|asks|announces|declares))?(?:[:：]|[ \t]?>{1,3}(?=[ \t]))"
    rf"|[\[【](?i:{_STAFF})[\]】](?=[ \t]))"
)
_LISTED = Pattern(
    r"[ \t]*(?:[-*•]|\d{1,2}[.)])?[ \t]?\*{0,2}[^\W\d_][\w ]{0,30}\*{0,2}[:：]\*{0,2}[ \t]*"
    r"[\w#@-]+(?:[ \t][\w#@-]+)?[ \t]*"
)
"""A line of a list of names and one or two words each: `Treasurer: agent2`."""
_REACT = Pattern(
    r"(?:Observation|OBSERVATION|(?:Tool|Function)(?: (?:output|result|response|call)s?)?"
    r"|tool_(?:output|result|response)s?|Prompt|(?:Response|Result|Output) from (?:the )?(?:tool|function"
    r"|system)|Action Input|Final Answer"
    r"|(?:System|User) (?:message|prompt|note|input)|Instructions?|Input|Output|Next (?:player|turn|speaker)"
    r"|Action(?=\*{0,2}[:：][ \t]{0,4}\w{1,40}[ \t]{0,4}(?:\n|\Z)))\*{0,2}[:：]"
)
"""Labels of a ReAct loop at the beginning of a line: Yao et al. 2022, and LangChain's prompt for it."""
_SCENE = Pattern(
    r"\n[ \t]*(?:[-=*#_]{2,12}[ \t]?(?:day|night|round|turn|phase|voting|vote|[a-z]{3,12} phase)\b[^\n]{0,30}?"
    r"[-=*#_]{2,12}[ \t]*(?:\n|\Z)|(?:system|game|moderator) (?:note|message|log)[:：]|game[:：]"
    r"|\[[^\[\]\n]{1,30} (?:speaks|says|said|replies)\])",
    re.IGNORECASE,
)
"""A heading of a game's own log, and a note of the system: `--- Day 2 ---`, `[B speaks]`."""
_LOGGED = (
    r"(?:(?:tool|function|system|game|search|code|api)"
    r"(?:[ _]?(?:results?|outputs?|responses?|messages?|log|note|calls?|updates?|events?))?|observation|environment"
    r"|(?:(?:end|start|beginning) )?(?:of )?(?:the )?(?:day|night|round|turn|phase|episode)(?:[ _]\d{1,3})?"
    r"(?: (?:begins|starts|ends|over))?|next (?:player|turn|speaker|round)|(?:[a-z]{3,12} )?phase|votes?(?: results?)?"
    r"|voting|results?|scene|系统|旁白|第 ?[\d一二三四五六七八九十]{1,3} ?(?:轮|天|夜|回合|ラウンド))"
    r"(?:[:：][^\[\]【】\n]{0,60})?"
)
_FRAME = Pattern(
    rf"\n[ \t]*(?:[\[【{{]{_LOGGED}[\]】}}]|[(（]{_LOGGED}[)）][ \t]*(?=\n|\Z))",
    re.IGNORECASE,
)
"""A frame of a log in brackets that begins a line: `[Tool result]`, `[Round 2]`."""
_LABEL_ABOVE = Pattern(r"[ \t]{0,4}\*{0,2}[A-Z][\w ]{0,30}\*{0,2}[:：]|.{0,200}[:：]\Z")
_ROLE = Pattern(rf"(?<![^\W_])(?:{_ROLES})(?![^\W_])", re.IGNORECASE)
_LABELLED = Pattern(rf"\s*+{_LABEL}")
_QUOTES = {"`": "`", '"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "「": "」"}


def is_quoted(text: str, start: int, end: int) -> bool:
    """Return whether a token is in quotes of its own, and thus a word: `` `<think>` ``."""
    return start > 0 and _QUOTES.get(text[start - 1]) == text[end : end + 1]


def in_sentence(text: str, start: int, end: int) -> bool:
    """Return whether a token is quoted or within a sentence, so that it ends no turn: `the <eos> token`."""
    before, behind = text[max(0, start - 1) : start], text[end : end + 1]
    if is_quoted(text, start, end):
        return True
    if before != " " or behind != " ":
        return False
    last, first = text[:start].rstrip(" ")[-1:], text[end : end + 20].lstrip(" ")[:1]
    return (last.isalnum() or last in set(",;:")) and first.islower()


def _is_doubtful(text: str, start: int, end: int, speakers: Speakers) -> bool:
    """Return whether a header without tokens may be a line of the answer: a name, a list item, or in a sentence."""
    if speakers.roles and _is_player(text[start:end], speakers):
        return True
    before, behind = text[max(0, start - 200) : start].rstrip(), text[end : end + 200]
    if before.endswith((":", "：", ",", "，", ";", "、")):
        return True
    if not behind.strip() and text[start:end].strip(" \n:：").isalnum():
        return before[-1:].isalnum()  # at the end of the reply
    if text[end - 1] != "\n":
        return False
    unfinished = before[-1:].isalpha() or not text[start:end].islower()
    return _LABELLED.match(behind) is not None or (unfinished and behind.lstrip()[:1].islower())


_BEGINS_WITH_ANOTHER = Pattern(r"\s*+(?:User|Human)(?:[:：](?=\s)|：)")
_LINE_SEPARATORS = dict.fromkeys(map(ord, "\r\v\f\x85\u2028\u2029"), "\n")
_LINE_TAG = Pattern(
    r"(?:<|&lt;)[ \t]?/?[ \t]?(?:br|p|div|li|ul|ol|hr|tr|h[1-6]|blockquote)"
    r"(?:[ \t](?:class|id|align|clear|dir|lang)=[^<>\n]{0,80})?[ \t]?/?(?:>|&gt;)",
    re.IGNORECASE,
)
"""A tag of HTML that ends a line."""


def with_plain_lines(text: str) -> str:
    """Return a text with a newline for each line end of any kind, and for each tag of HTML that ends a line."""
    text = text.translate(_LINE_SEPARATORS)
    return _LINE_TAG.sub("\n", text) if "<" in text or "&lt;" in text else text


def label_in(text: str, speakers: Speakers = NO_SPEAKERS, *, lists: bool = False, posts: bool = False) -> str:
    """Return the first header of a turn without tokens that begins a line, or "".

    Lines of other players and labels of ReAct count if the `speakers` have names. A text of one word is no header but
    the value of a field, such as a name; and a word for a role is none if it is the name of one of the `speakers`.

    With `lists` the lines may be a list with names; with `posts` any lines but those of roles are the text's own, and
    those of roles too in a list.
    """
    text = with_plain_lines(text)
    if posts:
        found = (each for each in _LABELS.finditer(with_latin(text)) if not _is_in_list(text, each))
        return next((label[0].strip() for label in found if not _is_player(label[0], speakers)), "")
    react = _labels_of_react(text) if speakers.names else ()
    frames = _FRAME.finditer(text) if speakers.names and any(sign in text for sign in "[【({（") else ()
    labels = (
        found[0].strip()
        for found in chain(
            _LABELS.finditer(with_latin(text)), _labels_of_staff(text), _SCENE.finditer(text), frames, react
        )
    )
    label = next((label for label in labels if not speakers.roles or not _is_player(label, speakers)), "")
    label = label or next((found[0].strip() for found in _directions_of_others(text, speakers, first=not lists)), "")
    if label:
        return label
    lines = _lines_of_others(text, speakers)
    return "" if lists and _is_list_of_players(text, lines, speakers) else next((line[0].strip() for line in lines), "")


_ROUND = Pattern(
    r"\b(?:go(?:ing)? (?:a)?round|one by one|each (?:of you|one|player)|a word (?:to|for|on|about) (?:each|every)"
    r"|(?:my|our) (?:honest |quick )?(?:reads?|list|view|take|notes|ranking|opinions?|impressions?|verdicts?)"
    r"|(?:how|what) i (?:see|rank|read|rate|feel about|think of)|who is who|where (?:we|you)(?: all)? stand"
    r"|was said|were said)\b[^\n]*\Z",
    re.IGNORECASE,
)
"""A line that announces a list of players: `Let me go around the table.`"""
_ADDRESSES = Pattern(
    r"\b(?:you(?:rs?|rself|rselves)?|u|y'all|du|dich|dir|dein\w*|euch|tu|toi|vous|votre|vos|usted(?:es)?|voc[eê]s?|ты"
    r"|вы|тебя|тебе|вас|вам)\b|[你您]|あなた|당신",
    re.IGNORECASE,
)
_REPLIES = Pattern(
    r"[*_(\[\"“]{0,3}(?:"
    # words that are all of a sentence
    r"(?:yes|yeah|yep|yup|no|nope|nah|never|always|sure|fine|right|true|false|exactly|absolutely|definitely|indeed|ok"
    r"|okay|deal|done|agreed?|same|so|well|oh|ah|ha\w*|hmm*|maybe|perhaps|liar|traitor|good|great|nice|what|why|how|who"
    r"|because|but|and|then|ja|nein|oui|non|s[ií]|да|нет|是|不|好|はい|いいえ|네|아니)(?:[.,;:…—–-]|\s*\Z)"
    # first words of a greeting, an agreement or a request
    r"|(?:hello|hi|hey|greetings|welcome|thanks|thank|please|sorry|sounds|works|count|let's|let us|don't|do not|because"
    r"|but|what|why|how|who|then|vote|keep|trust|listen|wait|stop|agreed|of course|no (?:way|thanks|deal|chance|one)"
    r"|good (?:luck|point|idea|morning|evening|night|game|speech)|fair (?:point|enough)|well said|very well)\b)",
    re.IGNORECASE,
)


def _is_list_of_players(text: str, lines: Sequence[re.Match[str]], speakers: Speakers) -> bool:
    """Return whether lines are notes on two or more other players, each once, and no dialogue of theirs."""
    names = {line["name"].casefold() for line in lines}
    players = {each.casefold() for each in speakers.names}
    if not 1 < len(names) == len(lines) or not names <= players or speakers.own.casefold() in names:
        return False
    if _speaks_of_itself(lines):
        return False
    announced = (
        _ROUND.search(text[max(0, lines[0].start() - _NEAR) : lines[0].start()].rstrip(" \t\n.!?:*")) is not None
    )
    said = [text[line.start("words") :].partition("\n")[0].strip() for line in lines]
    if announced and all(_is_quotation(each) for each in said):
        return bool(text[lines[-1].end() :].partition("\n")[2].strip())
    return all(_is_note(each, players, announced=announced) for each in said)


def _is_quotation(words: str) -> bool:
    words = words.strip("*_ ")
    return len(words) > 1 and _QUOTES.get(words[0]) == words[-1]


def _is_note(words: str, players: Collection[str], *, announced: bool) -> bool:
    """Return whether words behind a player's name are a note on that player, and not what the player says.

    A note neither asks nor exclaims, is no answer, and does not say what another of the `players` is or does. It has
    two words or more and addresses no player, unless a line above has `announced` a list.
    """
    if any(sign in words for sign in "?!？！") or _REPLIES.match(words) or _GESTURE.match(words):
        return False
    first, *others = re.findall(r"[\w'’]+", words) or [""]
    if first.casefold() in players and others:
        return False
    return bool(first) and (announced or (bool(others or not first.isascii()) and not _ADDRESSES.search(words)))


def _labels_of_react(text: str) -> Iterator[re.Match[str]]:
    """Yield the labels of ReAct that begin a line, unless another label is on the line above, as in a list."""
    for found in _REACT.finditer(text) if ":" in text or "：" in text else ():
        line, above = (text[max(0, found.start() - 200) : found.start()]).rpartition("\n")[::-2]
        if not line.strip(" \t*") and above and not _LABEL_ABOVE.match(above.rstrip().rpartition("\n")[2]):
            yield found


def _labels_of_staff(text: str) -> Iterator[re.Match[str]]:
    """Yield the labels of those who lead a game, unless they stand in a list of roles."""
    return (found for found in _STAFF_LABEL.finditer(text) if not _is_in_list(text, found))


def _is_in_list(text: str, label: re.Match[str]) -> bool:
    """Return whether the line of a label is one of a list of names and one or two words each."""
    start = label.end() - len(label[0].lstrip("\n"))
    above = text[max(0, start - 201) : max(0, start - 1)].rpartition("\n")[2]
    line, _, behind = text[start : start + 400].partition("\n")
    beside = (above, behind.partition("\n")[0])
    return _LISTED.fullmatch(line) is not None and any(map(_LISTED.fullmatch, beside))


def is_of_another(value: Any, players: Collection[str] = (), *, speech: bool = False) -> bool:
    """Return whether a JSON object is a message of another role or by one of these other `players`, in lowercase.

    `{"role": "user", "content": "..."}`, `{"speaker": "B", "text": "..."}`; of `speech`, which chooses nobody, also
    `{"name": "B", "text": "..."}`.
    """
    keys = _SPEAKER_KEYS | _NAME_KEYS if speech else _SPEAKER_KEYS
    for key, name in value.items() if isinstance(value, Mapping) and len(value) > 1 else ():
        if isinstance(name, str) and key.strip().casefold() in keys:
            if _OTHER_ROLES.fullmatch(name.strip()) or name.strip().casefold() in players:
                return True
        elif isinstance(name, str) and key.strip().casefold() == "type" and _OTHER_TYPES.fullmatch(name.strip()):
            return True
    return False


_OTHER_TYPES = Pattern(r"user|system|(?:tool|function)_(?:result|response|output)|error", re.IGNORECASE)
_SPEAKER_KEYS = frozenset(("role", "speaker", "author", "sender", "from", "voter"))
"""Keys that name who says the words beside them, or casts the vote."""
_NAME_KEYS = frozenset(("name", "player", "player_id", "player_name", "username", "agent", "character", "id"))
"""Keys that name a player: who speaks, beside words, but who is chosen in a vote."""
_OTHER_ROLES = Pattern(r"user|human|system|developer|tool|function|observation|environment|ipython", re.IGNORECASE)


def names_a_role(text: str) -> bool:
    """Return whether a text has a word for a role, also behind a line end that JSON escapes."""
    return _ROLE.search(text.replace("\\n", "\n")) is not None


def roles_in(names: Iterable[str]) -> frozenset[str]:
    """Return the names that are words for a role, in lowercase."""
    return frozenset(name.casefold() for name in names if _ROLE.fullmatch(name))


def _is_player(label: str, speakers: Speakers) -> bool:
    role = _ROLE.search(label)
    return role is not None and role[0].casefold() in speakers.roles


_STRIKE = Pattern(r"</?s>")
_FIRST = Pattern(r"\s*+(?:<s>\s*+)*+")
_BEGINS_A_TURN = Pattern(r"<s>\s?(?:assistant|model|chatbot|bot|ai|gpt)[ \t]*+(?:\n|\Z)", re.IGNORECASE)
"""A `<s>` with a role on a line of its own behind it, which begins a turn."""


@cache
def _fillers() -> re.Pattern[str]:
    return re.compile(rf"\s*+(?:{_any(_every('fillers'))}\s*+)*+")


@cache
def _next_turn() -> re.Pattern[str]:
    """Return a pattern for the end of a text or a token of a turn; a `<s>` must have one of these behind it."""
    return re.compile(rf"(?:<s>{_fillers().pattern})?(?!</?s>)(?:\Z|{_break().pattern})")


def _strikes(text: str, leading: int = -1) -> set[int]:
    """Return the positions of the tags of HTML's `<s>words</s>`, which strikes words out.

    A pair at the beginning with no words behind it is the beginning and the end of a text instead. It is at the
    beginning if it opens before `leading`, or if only blanks and other such tags stand before it.
    """
    tags = list(_STRIKE.finditer(text)) if "</s>" in text else []
    followed = _followed(text, tags)
    leading = max(leading, _FIRST.match(text).end())  # type: ignore[union-attr] # it matches everywhere
    struck: set[int] = set()
    opened: list[int] = []
    closed = -1
    for tag in tags:
        position = tag.start()
        if tag[0] == "<s>":
            opened.append(position)
            continue
        if opened:
            strikes = opened[-1] >= leading or position in followed
            pair = {opened.pop(), position}
        else:  # a second `</s>` right behind a pair
            strikes = position in followed and closed >= 0 and not text[closed:position].strip()
            pair = {position}
        if strikes:
            struck |= pair
            closed = tag.end()
    return struck


def _followed(text: str, tags: Sequence[re.Match[str]]) -> set[int]:
    """Return the positions of `</s>` with words behind them, rather than the end of the text or another turn."""
    found: set[int] = set()
    behind = -1  # the next `</s>`
    for tag in reversed(tags):
        if tag[0] == "<s>":
            continue
        begins = _fillers().match(text, tag.end()).end()  # type: ignore[union-attr] # it matches everywhere
        if behind in found if begins == behind else _next_turn().match(text, begins) is None:
            found.add(tag.start())
        behind = tag.start()
    return found


# -- tokens in words

_MOST_TOKENS = 1_000  # tokens that are counted
_THINK_TAG = Pattern(r"</?(?:\w{1,12}[:_])?(?:think|thought)")
_HALF = Pattern(r"[<＜\[][^<>\[\]\n]{3,60}\Z")
_CLOSES = Pattern(r"</(function|call|parameter|argument|invoke)\s?>")
"""A closing tag, which is no token but XML if its opening tag has no attributes."""
_REST = Pattern(r"[^<>\n]{0,200}>")


def token_in(text: str) -> str:
    """Return the first control token of a chat template in a text, or ""."""
    text = plain_signs(text)
    if not _may_hold(text):
        return ""
    for found in _token().finditer(text):
        closes = _CLOSES.fullmatch(found[0])
        if closes is None or f"<{closes[1]}>" not in text[: found.start()]:
            return found[0]
    half = _HALF.search(text)
    if half is not None and any(token.startswith(half[0]) for token in TOKENS):
        return half[0]
    return next((tag for tag in _STRIKES if text.count("<s>") != text.count("</s>") and tag in text), "")


def token_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of control tokens, and of whole tags that begin with one, from left to right.

    Tags of thinking are left out: those that a reply still holds are names of fields.
    """
    if _may_hold(text):
        for found in _token().finditer(text):
            if _THINK_TAG.match(found[0]):
                continue
            rest = None if found[0][-1] in ">＞]▷[" else _REST.match(text, found.end())
            yield found.start(), rest.end() if rest else found.end()


# -- one spelling of tags

_ALIKE = str.maketrans(
    "авеһікмнорстухԁјӏѕԛԝАВЕІКМНОРСТУХЈЅɑıαεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "abehikmhopctyxdjlsqwABEIKMHOPCTYXJSaiaeikvoptuxABEZHIKMNOPTYX",
)
"""Letters of other scripts that look like Latin ones."""
_MIXED = Pattern(r"[^\W\d_](?:\w|[▁＿-])*")


@lru_cache(8)  # a reply is looked at several times
def with_latin(text: str) -> str:
    """Return a text in which words that mix Latin letters with letters that look like them are Latin: `аssistant`.

    Letters in full width and in mathematical styles are Latin too. The length stays the same.
    """
    return text if text.isascii() else _MIXED.sub(_latin, text)


def _latin(word: re.Match[str]) -> str:
    if word[0].isascii():
        return word[0]
    styled = "".join(map(_plain_letter, word[0]))
    spelt = styled.translate(_ALIKE)
    return spelt if spelt.isascii() and any(map(str.isalpha, filter(str.isascii, styled))) else word[0]


@lru_cache(4096)
def _plain_letter(letter: str) -> str:
    """Return the ASCII sign of a letter in full width or in a mathematical style; any other letter stays."""
    plain = unicodedata.normalize("NFKC", letter)
    return plain if len(plain) == 1 and plain.isascii() else letter


_LIKE_BARS = "ǀǁ❙❚︱︲︳⏐⎮⎪┃║￨∥⎸⎹▏▕╎╏┆┇┊┋"
"""Characters that look like a token's bar and are read as one, besides those of `BAR`."""
_BARS_OF_TOKENS = Pattern(
    rf"(?<=[<＜])(?P<open>[\s/／]{{0,2}}[{_LIKE_BARS}]{{1,2}})|[{_LIKE_BARS}]{{1,2}}(?=\s?[>＞])"
    rf"|(?<=[{_LIKE_BARS}])(?i:dsml)[{_LIKE_BARS}]{{1,2}}|[{_LIKE_BARS}]{{1,2}}(?=\s?(?i:dsml))"
    rf"|(?<=(?i:dsml))[{_LIKE_BARS}]{{1,2}}"
)
_IN_OTHER_BRACKETS = Pattern(
    rf"[{OPEN_BRACKETS}({{\[](?:(?<=[{OPEN_BRACKETS}])\s?(?P<bars>[/／]?{BAR}{{1,2}}[^<>|｜\n]{{1,60}}{BAR}{{1,2}})\s?"
    rf"[{CLOSE_BRACKETS}]|(?<![<＜].)(?=[\s{_BARS}]{{0,3}}[A-Za-z])\s?{BAR}{{0,2}}(?P<name>[A-Za-z]{{2,20}}(?:[_▁][A-Za-z]{{2,20}}){{1,4}}){BAR}{{0,2}}\s?"
    rf"[{CLOSE_BRACKETS})\]}}])"
)
_WIDE_TAG = Pattern(r"＜(?:[/／][A-Za-z]|!--|[A-Za-z][\w.:-]{0,40}\s[^<>＜＞\n]{0,80}[=＝])")
"""A closing tag, a comment, or a tag with an attribute in full-width brackets, which sentences do not have."""
_WIDE = Pattern(r"＜{1,2}(?:[/／]?[A-Za-z!]|!--)[^<>＜＞\n]{0,200}＞{1,2}|＜!--|--＞")
_NARROW = str.maketrans("＜＞／", "<>/")
_CLOSED_BY_BARS = Pattern(r"(?<![<＜\w|])\|[ \t]?/[ \t]?([A-Za-z][\w -]{0,40}?)[ \t]?\|(?![>＞\w|])")
_BY_BARS = Pattern(r"(?<![<＜\w|])\|[ \t]?(?P<slash>/?)[ \t]?(?P<name>[A-Za-z][\w -]{0,40}?)[ \t]?\|(?![>＞\w|])")
"""A name between bars alone, which is a tag if another has a slash: `|thinking| So. |/thinking|`."""
_TO_BARS = str.maketrans(dict.fromkeys(_LIKE_BARS, "|"))
_ESCAPED = Pattern(
    r"&(?:amp;){0,3}(?:(?P<name>lt|gt|vert|verbar|VerticalLine|sol|lowbar|quot|lsqb|rsqb|lbrack|rbrack)"
    r"|#0{0,4}(?P<decimal>\d{2,5})|#[xX]0{0,4}(?P<hex>[\da-fA-F]{2,4}));"
    r"|%(?P<percent>[2-7][\dA-Fa-f])|\\{1,4}(?:u(?P<u>[\da-fA-F]{4})|x(?P<x>[\da-fA-F]{2})|(?P<plain>[<>|\[\]_/]))"
)
_NAMED_SIGNS = {
    **dict.fromkeys(("vert", "verbar", "VerticalLine"), "|"),
    **dict.fromkeys(("lsqb", "lbrack"), "["),
    **dict.fromkeys(("rsqb", "rbrack"), "]"),
    "lt": "<",
    "gt": ">",
    "sol": "/",
    "lowbar": "_",
    "quot": '"',
}
_MOST_ESCAPES = 3  # levels of escapes
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"


def _sign(escape: re.Match[str]) -> str:
    if escape["name"] or escape["plain"]:
        return escape["plain"] or _NAMED_SIGNS[escape["name"]]
    spelt = escape["hex"] or escape["percent"] or escape["u"] or escape["x"]
    code = int(spelt, 16) if spelt else int(escape["decimal"])
    return chr(code) if 0x20 <= code < 0xD800 or 0xE000 <= code < 0x10000 else escape[0]


def _in_angles(token: re.Match[str]) -> str:
    if token["bars"]:
        return f"<{token['bars']}>"
    return f"<|{token['name']}|>" if _compound().fullmatch(token["name"]) else token[0]


@cache
def _compound() -> re.Pattern[str]:
    names = dict.fromkeys(named[1] for token in TOKENS if (named := _named(token)) and named[0] == 2)
    return re.compile("|".join(filter(_is_compound, names)), re.IGNORECASE)


def plain_signs(text: str) -> str:
    """Return a text with plain bars and brackets in its tokens, and with plain line ends.

    Escapes of HTML, URLs and JSON (`&lt;|im_end|&gt;`) are decoded if that gives a control token. Idempotent.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    text = text.lstrip(_INVISIBLE)
    if not text.isascii():
        if "＜" in text and _WIDE_TAG.search(text):
            text = _WIDE.sub(lambda tag: tag[0].translate(_NARROW), text)
        text = _BARS_OF_TOKENS.sub(lambda bars: bars[0].translate(_TO_BARS), text)
        if (latin := with_latin(text)) != text and _tokens(latin) not in ([], _tokens(text)):
            text = _with_latin_tokens(text, latin)
    if "|" in text and (closed := {*_CLOSED_BY_BARS.findall(text)}):
        text = _BY_BARS.sub(
            lambda tag: f"<{tag['slash']}{tag['name']}>" if tag["name"] in closed else tag[0],
            text,
        )
    text = _IN_OTHER_BRACKETS.sub(_in_angles, text)
    spelt = text
    for _ in range(_MOST_ESCAPES):
        if not any(sign in spelt for sign in "&\\%") or not _ESCAPED.search(spelt):
            break
        spelt = _ESCAPED.sub(_sign, spelt)
    if spelt is text or _tokens(spelt) in ([], _tokens(text)):
        return text
    return _BARS_OF_TOKENS.sub(lambda bars: bars[0].translate(_TO_BARS), spelt)


def _with_latin_tokens(text: str, latin: str) -> str:
    """Return a text with its control tokens as they stand in `latin`, which is of the same length."""
    found = [*islice(_token().finditer(latin), _MOST_TOKENS), *islice(_STRIKE.finditer(latin), _MOST_TOKENS)]
    return replaced(text, latin, sorted(each.span() for each in found))


def replaced(text: str, by: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with other signs of the same number at these spans, which are sorted: those that `by` has there."""
    parts, position = [], 0
    for start, end in spans:
        if start >= position:
            parts += [text[position:start], by[start:end]]
            position = end
    return "".join((*parts, text[position:]))


def _tokens(text: str) -> list[str]:
    found = [each[0] for each in islice(_token().finditer(text), _MOST_TOKENS)] if _may_hold(text) else []
    return [*found, *(each[0] for each in islice(_STRIKE.finditer(text), _MOST_TOKENS))]


_DSML = Pattern(
    rf"(?:[<＜]\s?(?P<slash>[/／])?\s?(?:{BAR}{{0,2}}\s?(?i:DSML)\s?{BAR}{{1,2}}|(?i:DSML)[\s:])"
    rf"|(?<!\w)(?:{BAR}{{1,2}}\s?)?(?i:DSML)\s?{BAR}{{1,2}})\s?"
    r"(?P<tag>(?:invoke|parameter)(?(slash)|\s[^<>＜＞]{1,200})|function_calls|tool_calls)\s?[>＞]"
)
_K3 = Pattern(r"<\|(open|close)\|>\s?((?:think|response|call|argument)\b[^<>|\n]{0,200}?)\s?<\|sep\|>")
_QUOTED = Pattern(r"<\|\"\|>([^<>]{0,8000})<\|\"\|>")
_ESCAPED_WORDS = Pattern(r"(?<=[:\[,{])<escape>((?:(?!<escape>).){0,8000}+)<escape>(?=\s{0,4}[,\]}])", re.DOTALL)
"""A value of a call by FunctionGemma. In a sentence the token is no quote."""
_CITED = Pattern(r"<co(?::[^<>\n]{0,30})?>([^<>]{0,4000})</co(?::[^<>\n]{0,30})?>")
_NAMESPACE = Pattern(r"\]<\]\w{1,20}\[>\[\s{0,4}(?=<)")


def _plain_tag(tag: re.Match[str]) -> str:
    return "" if tag[2] == "response" else f"<{'/' if tag[1] == 'close' else ''}{tag[2]}>"


def _json_string(words: re.Match[str]) -> str:
    return json.dumps(words[1], ensure_ascii=False)


def plain_tags(text: str) -> str:
    """Return a text with the tags of DeepSeek's DSML, Kimi's XTML and MiniMax's namespaces as `<name ...>`.

    Gemma's quotes become those of JSON, and the tags of Command R's citations are removed.
    """
    if "dsml" in text.casefold():
        text = _DSML.sub(lambda tag: f"<{'/' if tag['slash'] else ''}{tag['tag']}>", text)
    if "<|open|>" in text or "<|close|>" in text:
        text = _K3.sub(_plain_tag, text)
    if "<co" in text:
        text = _CITED.sub(r"\1", text)
    if "<escape>" in text:
        text = _ESCAPED_WORDS.sub(_json_string, text)
    if '<|"|>' in text:  # Gemma's quotes, around words that may hold quotes
        text = _QUOTED.sub(_json_string, text)
    return _NAMESPACE.sub("", text) if "]<]" in text else text
