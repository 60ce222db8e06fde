"""Host words: the codes and wordings by which hosts say what went wrong, as data.

Sources: the error references of OpenAI, Azure, Anthropic, Gemini, Bedrock, xAI, Mistral, Cohere, OpenRouter, Groq,
Cerebras, Z.ai (https://docs.z.ai/api-reference/api-code), MiniMax (https://platform.minimax.io/docs/api-reference/errorcode),
DashScope (https://help.aliyun.com/en/model-studio/error-code), Volcengine Ark
(https://www.volcengine.com/docs/82379/1099476), Moonshot (https://platform.kimi.com/docs/api/errors), Qianfan
(https://cloud.baidu.com/doc/qianfan-api/s/rmwbl43x7), Spark (https://www.xfyun.cn/doc/spark/%E6%8E%A5%E5%8F%A3%E8%AF%B4%E6%98%8E.html),
CLOVA Studio (https://api.ncloud-docs.com/docs/clovastudio-troubleshoot-c4xx), GigaChat
(https://developers.sber.ru/docs/ru/gigachat/api/errors-description), whose errors are HTTP statuses, watsonx, Yandex,
TGI, vLLM, SGLang, llama.cpp, LM Studio, Ollama, MLC-LLM (serve/engine_utils.py), new-api, Cloudflare
(https://developers.cloudflare.com/workers-ai/platform/errors/), Tencent
(https://cloud.tencent.com/document/api/1729/101847), Kimi Code
(https://www.kimi.com/code/docs/en/kimi-code/error-reference.html), Qianfan's older API
(https://cloud.baidu.com/doc/WENXINWORKSHOP/s/tlmyncueh).

For wordings that no reference holds: public issues (UKGovernmentBEIS/inspect_ai#2267, theopenco/llmgateway#1785,
deepseek-ai/awesome-deepseek-integration#13, vanna-ai/vanna-flask#11, assafelovic/gpt-researcher#985,
BoltAI/BoltAI#338; Groq's in valentinfrlch/ha-llmvision#324, Hugging Face's in cline/cline#5098, OpenRouter's in
gptme/gptme#1449, NIM's in HKUDS/OpenHarness#233, Bedrock's in anomalyco/opencode#47073 and VectifyAI/OpenKB#204,
Databricks' in Azure/MachineLearningNotebooks#1686, SiliconFlow's in langgenius/dify#19394 and
continuedev/continue#10993, vLLM's in vllm-project/vllm#12165, #10440 and #20409, xorbitsai/inference#3785 and
UKGovernmentBEIS/inspect_ai#2634, Volcengine's in agentscope-ai/QwenPaw#272, Cohere's in cohere-ai/sandbox-topically#4,
MiniMax' in MiniMax-AI/MiniMax-M2#62, GitHub's in github/gh-models#65, Gemini's in google-gemini/gemini-cli#14603,
Vertex' and LiteLLM's in BerriAI/litellm#3549 and #20615, Vercel's in Aider-AI/aider#4495, Together's in
truefoundry/models#950, those of gateways in songquanpeng/one-api#2308 and QuantumNous/new-api#6310) and litellm's
`exception_mapping_utils`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from agentsim.patterns import Pattern


def _any_of(*parts: str) -> Pattern:
    return Pattern("|".join(parts), re.IGNORECASE | re.DOTALL)


_OF_STATUS: Final[Mapping[int, str]] = {
    400: """
        context_length_exceeded invalid_request_error invalid_argument invalid_parameter invalid_params
        bad_request bad_request_error characters_too_long tokens_too_long 1261 10907 10163 40003
    """,
    401: """
        invalid_api_key api_key_invalid incorrect_api_key_error authentication_error invalid_authentication_error
        authentication_failed unauthenticated unauthorized unrecognized_client_exception expired_token_exception
        invalid_signature_exception missing_authentication_token_exception auth_error auth_failure_token_failure
        auth_failure_secret_id_not_found auth_failure_invalid_secret_id failed_to_auth organization_restricted
        401 1002 1003 1004 1110 1111 1112 10000
    """,
    402: """
        insufficient_quota billing_hard_limit_reached billing_not_active insufficient_credits insufficient_credit
        insufficient_balance not_enough_balance exceeded_current_quota_error budget_exceeded set_limit_exceeded
        billing_disabled billing_error billing_failed payment_required payment_method_required insufficient_funds
        insufficient_balance_error arrearage account_overdue_error service_overdue reject_no_credit 1113 1309 1310
        insufficient_user_quota pre_consume_token_quota_failed failed_operation_resource_pack_exhausted
        failed_operation_free_resource_pack_exhausted failed_operation_service_stop_arrears resource_pack_exhausted
    """,
    403: """
        permission_error permission_denied access_denied content_filter content_policy_violation safety_check_failed
        data_inspection_failed responsible_ai_policy_violation 1301 10013 10014 10019 10021 11200 40005 40006
    """,
    404: """
        model_not_found not_found_error not_found invalid_model unknown_model model_not_exist model_not_open
        invalid_endpoint_or_model_not_found deployment_not_found model_decommissioned model_not_supported
        model_not_available unavailable_model invalid_endpoint_closed_endpoint 1211 1311 5007 3042
    """,
    429: """
        rate_limit_exceeded rate_limited rate_limit_error rate_limit rate_limit_reached resource_exhausted throttling
        throttling_rate_quota throttling_allocation_quota throttling_burst_rate too_many_requests throttling_exception
        1302 1303 10007 11201
    """,
}
STATUS_OF: Final[Mapping[str, int]] = {word: status for status, words in _OF_STATUS.items() for word in words.split()}
"""The HTTP status that a code, type or status in an error stands for, in lower case with underscores.

The numbers are Z.ai's (from 1002 to 1311), Cloudflare's (3042, 5007, 10000), Spark's (from 10007 to 11201) and CLOVA
Studio's (from 40003).
Spark's 11200 is either a missing permission or excessive use, so it does not count as a bad key.
"""
NO_CREDIT: Final = frozenset(word for word, status in STATUS_OF.items() if status == 402)
"""Codes by which a host says that no credit is left, with any HTTP status."""
BAD_KEY_CODES: Final = frozenset(word for word, status in STATUS_OF.items() if status == 401)
RATE_LIMIT_CODES: Final = frozenset(word for word, status in STATUS_OF.items() if status == 429)
"""Codes that override the HTTP status 400 or 403 they come with, and words in any language."""
BASE_RESP: Final[Mapping[int, str]] = {
    **dict.fromkeys((1002, 1039, 1041, 2045, 2056), "rate_limit"),
    **dict.fromkeys((1004, 2049), "invalid_api_key"),
    1008: "insufficient_balance",
    **dict.fromkeys((1026, 1027), "content_filter"),
    **dict.fromkeys((1042, 2013), "invalid_params"),
}
"""The codes for the numbers in MiniMax's `base_resp`. Other numbers are failures of the host."""
MODERATED_CODES: Final = frozenset(
    ("1300", "1301", "10013", "10014", "10019", "10021", "40005", "40006", "content_filter", "content_policy_violation")
)
TOO_LONG_CODES: Final = frozenset(("1261", "10907", "context_length_exceeded"))

_ASKED: Final = r"(prompt|inputs?|requests?|messages?|conversation)"
TOO_LONG: Final = _any_of(
    r"context.?(length|window|size|limit)|context shift is disabled|maximum (allowed )?(context|prompt|input)",
    r"max(imum)? (prompt|input) (length|tokens)",
    r"too many (input |prompt )?tokens|tokens too (many|long)|characters too long|max(imum)? input characters",
    r"exceed_context_size|model token limit|range of input length",
    rf"\btext too? long|\b{_ASKED}\b.{{0,60}}\b(too (long|large)|longer than|exceeds? (the )?(max|limit|model))",
    rf"\b{_ASKED}( text)? (tokens?|length)\b.{{0,60}}(exceed|no more than|at most|longer than|less than|greater than)",
    rf"\b{_ASKED}\b.{{0,40}}\bat most \d+ tokens|tokens in (the|your) {_ASKED}\b.{{0,40}}exceed|tokens per request",
    r"token (count|limit).{0,40}exceed|exceed.{0,40}(token limit|tokens? allowed|message tokens)|reduce the length",
    r"sequence length\b.{0,40}exceed|current length is \d+ while limit is|greater than the context",
    r"\b(messages?|content|input|prompt)\S{0,30}: string too long",
    r"`?inputs`? (tokens|must have (less|fewer) than \d+ tokens)|total number of tokens in the prompt cannot exceed",
    r"\b(too big|exceeds?)\b.{0,30}(kv.?(cache|size)|cache.?size|session.?len|character limit)",
    r"input token count is \d+|prompt (has|contains|is) \d+ tokens|token count of \d+ exceeds",
    r"\bmax (seq(uence)?|model|session|position|kv) (len(gth)?|embeddings)\b|\bn.ctx\b|max length of current question",
    rf"\b({_ASKED}|context|history)( text)? (is |are |was )?too (long|large)\b|tokens? (limit )?exceeded\b",
    rf"\b{_ASKED}\W{{0,3}} must (be|have) (less|fewer|shorter) than( or equal to)? \d+ (tokens|characters)",
    rf"\blength of (the )?{_ASKED}( tokens)?\b.{{0,20}} (must|should|can(not)?) (be less than|exceed)\b",
    r"larger than the (model )?(input length|context|capacity)|too large for model with|input.?length.?error",
    r"maximum (input|model) length is|tokens in request more than max|exceeds the limit of \d+ tokens",
    r"expected maxlength: \d+, actual: \d+|\btotal tokens exceed",
    r"超长|(输入|上下文|请求|长度|提示词|对话|历史|消息|tokens?).{0,20}(过长|太长|超过|超出|超限)|上下文.{0,10}(不足|不够)",
)
"""The prompt does not fit the context. An underscore counts as a blank (`max_seq_len`)."""
COUNTED: Final = Pattern(
    r"\byour (?:request|prompt|messages?|input) (?:has|have|contains?|resulted in)(?: at least)? (\d[\d,]*)"
    r"(?: input| prompt)? tokens",
    re.IGNORECASE,
)
"""The tokens of the prompt. A message with this is about the prompt, even if it names the limit on the reply first."""
WINDOW: Final = Pattern(r"\bcontext (?:length|window|size|limit)\b\D{0,40}(\d[\d,]*)", re.IGNORECASE)
"""The tokens of the context."""
NOTHING_LEFT: Final = Pattern(r"max_(completion_|output_)?tokens must be at least 1, got -", re.IGNORECASE)
"""The prompt leaves no room for a reply, in the words of vLLM, which name the limit on the reply."""

MODERATED: Final = _any_of(
    r"moderat(ion|ed|or)|content.?(polic|filter|management|safety|security|inspection|exists risk)",
    r"flagged|invalid_prompt|safety.?(system|polic|filter|check|guideline|reasons?\b)|usage (guideline|polic)",
    r"(violat\w+|against|breach\w*)\b.{0,60}(polic|guideline|terms|responsible)|responsible.?ai|guard.?rail",
    r"sensitive.{0,5}(content|information|words?|material|data)|new_sensitive|risk.?(control|detection)|high risk\b",
    r"\b(inappropriate|harmful|unsafe|prohibited|objectionable|offensive|toxic|disallowed|illegal)\b.{0,5}"
    r"(content|material|prompts?|inputs?|words?|language|text)",
    r"data.?inspection|(prompt|input|output|response|content)s? (was |were |is |ha(s|ve) been )?(blocked|filtered)",
    r"block.?(ed)?.?reason|blocked.{0,30}(filter|polic|safety)|sensitive.?content.?detected",
    r"\bblocked (prompt|input|output|content|response)|guard.?rails? checks?|\bnsfw\b|content is illegal|censorship",
    r"unavailable output|敏感|违规|涉敏|不安全|不当内容|违反|内容安全|内容审核|审核不通过|存在风险|高风险",
)
"""A filter objected to a prompt, or to a reply."""
SUSPENDED: Final = _any_of(
    r"\b(account|organi[sz]ation|workspace|team|project|user|api.?key)\b.{0,60}"
    r"\b(suspended|banned|disabled|deactivated|terminated|locked|restricted)\b|账[户号].{0,20}(锁定|封禁|停用)"
)
"""The account is closed."""

BAD_KEY: Final = _any_of(
    r"api.?key (not|is not) valid|api_key_invalid|(invalid|incorrect|wrong) (x-)?api.?key|login fail",
    r"invalid authentication|invalid api.?key",
    r"api.?key( you provided)?( (is|was|has been)( currently)?)? "
    r"(invalid|reported|leaked|revoked|disabled|blocked|expired)",
    r"(failed to|could ?n.t|could not|cannot) (authenticate|validate credentials)",
    r"make sure your api.?key is valid",
    r"\b(access|authori[sz]ation|authentication|auth|bearer|security) token\b.{0,60}"
    r"\b(invalid|not valid|no longer valid|incorrect|expired|revoked)",
    r"\b(invalid|incorrect|expired|wrong) (access|authori[sz]ation|authentication|auth|bearer|security) token",
    r"\bauthenti(cation|fication) (error|failed|failure)\b|\bauthori[sz]ation (failed|failure)\b",
    r"^\W*invalid token\b(?!:| (in|at|near|for|on)\b)",
    r"\b(no|missing)( \w+){0,2} (api.?key|auth(entication|orization)? credentials)\b",
    r"\bprovide (an|your|a valid) api.?key",
    r"\b(api.?key|authori[sz]ation( header)?|auth credentials)\b.{0,20}\b(missing|not (found|provided|set))\b",
    r"the api you are accessing is not open|\bip (address )?is not allowed to access",
    r"(身份验证|认证|鉴权|验证)失败|(令牌|密钥|token).{0,6}(非法|无效|过期|失效|不存在)|无效的?(令牌|密钥)",
)
CLOSED: Final = _any_of(
    r"\b(account|organi[sz]ation)\b[^.;]{0,40}\b(has been|is|was) "
    r"(suspended|banned|disabled|deactivated|terminated|locked|restricted)\b"
)
"""The account is closed, in the words of hosts that say 400 instead of 401 or 403."""
NO_MONEY: Final = _any_of(
    r"credit balance is too low|insufficient.{0,10}(balance|credit|fund|quota)|out of (credits?|funds|money)",
    r"no credits? left|\bcredits? (are|is|have been|has been) (depleted|exhausted)",
    r"used all (available )?credits|spending limit|billing (is )?(not (active|enabled|set)|hard)",
    r"overdue|arrear|in good standing|余额不足|欠费",
    r"not.?enough.?balance|balance.{0,20}(insufficient|not enough|exhausted)|(has|have) no credits|free.?tier.?only",
    r"\b(does|do|did|has|have)( not|n['’]?t) (have )?(any|enough|sufficient)( \w+)? (credits?|funds|balance)",
    r"(spend(ing)?|budget|monthly|credit) limits?\b.{0,30}\b(reached|exceeded|hit)",
    r"\b(reached|exceeded|hit|used)\b.{0,40}\b(spend(ing)?|budget|monthly spending) limit",
    r"(resource|quota).?pack(age)?\b.{0,30}(exhausted|used up)|resource.?pack(age)?.?exhausted|billing.?disabled",
    r"used up your\b.{0,30}(allocation|quota|credits?|balance)|quota is not enough|credit limit is insufficient",
    r"(资源包|额度|余额|配额).{0,10}(用尽|耗尽|不足|用完)",
)
"""No credit is left, in the words of hosts that say 400 or 403 instead of 402."""
ASKS_FOR_MONEY: Final = _any_of(
    r"\b(enter|add|update|valid) (a |an |or |your |update |valid ){0,4}(payment (method|instrument)|credit card)",
    r"\b(buy|purchase|add) (more )?credits|\btop up your\b|free credits\b.{0,30}\brestricted",
)
"""Payment is required. With a 429 the same words only advertise a higher rate."""
LIMIT_REACHED: Final = _any_of(
    r"\b(usage|key|session) limits?\b.{0,30}\b(reached|exceeded|hit)",
    r"\b(reached|exceeded|hit|used)\b.{0,40}\b(usage|session) limit",
    r"\bwhich is limited to \d+ \w+ calls\b",
)
"""A limit is used up: of a rate if the words name a short period, else of money."""
SHORT_PERIOD: Final = _any_of(
    r"(\b(per|a|an|each|every|this|\d+|in)|/)[ -]?(\d+[ -])?(s|sec|seconds?|m|min|minutes?|h|hrs?|hours?|session)\b",
    r"\bsession\b|\b(requests?|tokens?) (per|a|each) day\b|\bTP[MDHS]\b|\bRP[MDHS]\b",
    r"\b(resets?|renews?|try again|retry) (in|after|at) \W{0,3}\d",
)
"""The period of a rate, or the time at which its limit is renewed."""
LONG_PERIOD: Final = _any_of(r"\bmonth|\bbilling|\byear|\bannual")
"""The period of a budget."""
NO_MODEL: Final = _any_of(
    r"not a valid model|(invalid|unknown|no such) model\b|model identifier is invalid|deploymentnotfound|模型不存在",
    r"\bmodel\b[^.;]{0,80}\b(not found|not exist|does ?n.t exist|is not available|is unknown)\b",
    r"\bmodel\b[^.;]{0,80}\b(has been|was|is) (decommissioned|deprecated|retired|removed|discontinued|shut ?down)\b",
    r"\bmodel\b[^.;]{0,80}\b(no longer (available|supported|offered|served)|reached (the |its )?end of (its )?life)\b",
    r"\bmodel\b[^.;]{0,80}\bis not (supported\W*\Z|servable\b)|\bmodel name is invalid\b|\bunavailable model\b",
    r"\bnot (allowed|authorized) to (use|access) (the |this |publisher )*model\b|\bllm provider not provided\b",
    r"\bmodel\b[^.;]{0,80}\bis not supported by any provider|\brequested model is not supported\b",
    r"\bnot found the model\b|\bunable to access model\b",
    r"\binvocation of model\b.{0,200}\b(is not|isn.t) supported",
)
NO_MODEL_CODES: Final = frozenset(word for word, status in STATUS_OF.items() if status == 404) - {
    "not_found",
    "not_found_error",
}
MOMENTARY: Final = _any_of(
    r"\bno\b( \w+){0,2} (instances?|workers?|replicas?|backends?|upstreams?|nodes?|capacity)\b( (is|are))?( currently)?"
    r" (available|ready|running|free|found|left|online)",
    r"\bno (healthy|available|ready|running|free) "
    r"(instances?|workers?|replicas?|backends?|upstreams?|nodes?|servers?)\b",
    r"\bmodel\b[^.;]{0,80}\b(is|are) (currently |still |being )?(loading|loaded right now|starting( up)?|warming up)\b",
    r"\bcold start|\bmodel\b[^.;]{0,80}\btemporarily (unavailable|not available)",
)
"""A model that has no running instance at this moment, in the words of hosts that say 400 or 404 instead of 503."""
UNROUTED: Final = _any_of(
    r"\bno available channels? for model\b|下.{0,4}模型.{0,200}(无可用渠道|没有配置支持)",
    r"\bplan\b( does)?( not support| not (yet )?include)\b.{0,20}\bmodel\b",
)
"""A model for which a gateway has no channel, or a subscription no right, in the words of hosts that say 500 or 503.

A gateway may have closed its channels for a moment: https://github.com/songquanpeng/one-api, middleware/distributor.go.
"""
ON_DEMAND: Final = _any_of(r"on-demand throughput|inference profile")
"""A model that its host serves only by way of an inference profile, in the words of Bedrock."""
REQUESTED: Final = Pattern(r"\blimit\W{0,3}(\d[\d,]*)\b(?:.{0,60}?\brequested\W{0,3}(\d[\d,]*))", re.I | re.S)
"""The limit of a minute or a day, and the tokens that one request takes of it, in the words of OpenAI, Groq and
Cerebras."""
OF_TOKENS: Final = _any_of(r"tokens.{0,12}\b(minute|min|day|hour)\b|\bTP[MD]\b|token.{0,10}limit")
TOO_LARGE_A_REQUEST: Final = _any_of(r"request too large|(input or output tokens|message size|prompt length) must be")
"""One request takes more than the limit of a minute or a day, so waiting does not help."""
RATE_LIMITED: Final = _any_of(r"rate.?limit|too many requests|requests? limit|频率|并发|限流")

SAYS_NOTHING: Final = frozenset(
    ("", "0", "200", "ok", "success", "successful", "succeeded", "none", "null", "no error", "成功", "请求成功")
)
"""Words and codes of an error field that reports no error, in lower case."""

ABOUT_CAP: Final = _any_of(r"max_(completion_|output_)?tokens|max tokens")
"""An error about the limit on a reply."""
ABOUT_SCHEMA: Final = _any_of(
    r"response_?(format|schema|json_schema|mime_?type)|output_?(config|format)|text\.format",
    r"json_?\s?(schema|object|mode)|schema|grammar|guided.?(json|decoding)|structured.?output",
    r"tool_choice|\btools?\b|tool use|function.?call",
)
"""An error about the structured mode."""
PARAMETER: Final = _any_of(
    r"temperature|\btop_?[pk]\b|\bmin_p\b|\bseed\b|log_?probs|penalty|\bstop (words?|sequences?)|reasoning|thinking",
    r"\beffort\b|system.?(message|prompt|role|instruction)|developer.?(message|instruction)|\bstream",
    r"requested parameters|no endpoints found that (can handle|support)",
    ABOUT_SCHEMA.pattern,
    ABOUT_CAP.pattern,
)
"""Parts of a request, by hosts' names for them. OpenRouter's 404 names no part."""
ABOUT_SYSTEM: Final = Pattern(
    r"\bsystem\b.{0,40}\b(role|message|prompt|instruction)|\brole\b.{0,40}\bsystem\b|developer instruction"
    r"|roles must alternate|(only|supports?) (user|\W{0,2}user).{0,20}assistant",
    re.IGNORECASE | re.DOTALL,
)
"""An error about the system message, from a chat template."""
UNSERVED: Final = _any_of(ABOUT_SCHEMA.pattern, ABOUT_SYSTEM.pattern, r"\bformat\b|not supported|unsupported")
"""A request that a host cannot serve, in the words of hosts that say 500 instead of 400."""
_OF_THE_MODEL: Final = Pattern(r"\b(parameter|argument|field)s?\W{0,5}model\b|\bmodel (parameter|argument)\W*$")
_ANY_PARAMETER: Final = Pattern(r"\b(parameter|argument)s?\b", re.IGNORECASE)


def renews_soon(said: str) -> bool:
    """Return whether a limit that is used up is that of a rate: it holds for minutes or hours."""
    used_up = LIMIT_REACHED.search(said) and SHORT_PERIOD.search(said)
    return used_up is not None and LONG_PERIOD.search(said) is None


def says_no_money(said: str) -> bool:
    """Return whether words say that no credit is left."""
    return bool(NO_MONEY.search(said) or LIMIT_REACHED.search(said)) and not renews_soon(said)


def normalized_code(code: str) -> str:
    """Return a code as the tables spell it: `InvalidApiKey`, `invalid-api-key` and `INVALID_API_KEY` become one.

    The namespace that AWS puts before a `#` is left out.
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", code[:100].rpartition("#")[2])
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")


def names_no_model(said: str, names: Iterable[str]) -> bool:
    """Return whether a message says that the model does not exist, and not that it lacks a parameter.

    `names` are those of the model, which may contain the name of a parameter.
    """
    for sentence in re.split(r"(?<=[.;!?])\s+", without(said, names)):
        if NO_MODEL.search(sentence):
            about = _OF_THE_MODEL.sub("", sentence)
            if not (PARAMETER.search(about) or _ANY_PARAMETER.search(about)):
                return True
    return False


def without(said: str, names: Iterable[str]) -> str:
    """Return a message without the names of a model."""
    for name in names:
        said = said.replace(name, "")
    return said
