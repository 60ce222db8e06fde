"""Errors of hosts on filters, contexts, parameters and states, in their own words, numbers and shapes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentsim.errors import ModelError, ProviderRejected, RateLimited, RequestRefused, TransportFailed
from agentsim.models.base import Completion, ending
from agentsim.models.faults import ErrorFactory, RequestNotAccepted, room_for_reply
from agentsim.models.profiles import BUILT_IN
from agentsim.models.remote import decoded
from agentsim.models.wire import chat, messages, responses
from tests.amounts import each_row

HOST = ErrorFactory(BUILT_IN["openai"], "echo")
VIOLATES = "Content violates usage guidelines. Team: x, Failed check: SAFETY_CHECK_TYPE_BIO"


def said(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


JUDGED: dict[str, tuple[int, Any, type[ModelError], str]] = {
    "xAI's filter": (
        403,
        {"code": "The caller does not have permission", "error": VIOLATES},
        RequestRefused,
        "moderation",
    ),
    "Cohere's blocked output": (498, {"message": "blocked output: please try again"}, RequestRefused, "moderation"),
    "Portkey's guardrail": (446, {"error": {"message": "The guardrail checks failed"}}, RequestRefused, "moderation"),
    "TGI's breakdown": (424, {"error": "Request failed during generation: CUDA error"}, TransportFailed, "http_424"),
    "a client that hung up": (499, {"error": "client closed request"}, TransportFailed, "http_499"),
    "Novita's balance": (403, {"code": 403, "reason": "NOT_ENOUGH_BALANCE"}, ProviderRejected, "no_credit"),
    "SiliconFlow's balance": (
        403,
        {"code": 30001, "message": "Sorry, your account balance is insufficient"},
        ProviderRejected,
        "no_credit",
    ),
    "Anthropic's usage limit": (
        400,
        {"error": {"message": "You have reached your specified API usage limits."}},
        ProviderRejected,
        "no_credit",
    ),
    "Moonshot's quota": (
        429,
        {"error": {"type": "exceeded_current_quota_error", "message": "please check your plan"}},
        ProviderRejected,
        "no_credit",
    ),
    "Gemini's leaked key": (
        403,
        {"error": {"message": "Your API key was reported as leaked."}},
        ProviderRejected,
        "bad_key",
    ),
    "the host behind a router has no credit": (
        400,
        {
            "error": {
                "message": "Provider returned error",
                "metadata": {"raw": '{"error":{"message":"Insufficient Balance"}}', "provider_name": "X"},
            }
        },
        TransportFailed,
        "provider_error",
    ),
    "the host behind a router has a bad key": (
        401,
        {"error": {"message": "Provider returned error", "metadata": {"raw": "Invalid API key", "provider_name": "X"}}},
        TransportFailed,
        "provider_error",
    ),
    "a router without a host": (
        404,
        {"error": {"message": "No allowed providers are available for the selected model."}},
        RequestRefused,
        "unknown_model",
    ),
    "words of the prompt that are quoted": (
        400,
        {"error": {"message": "bad: {'input': 'I would buy but have insufficient funds', 'type': 'x'}"}},
        RequestNotAccepted,
        "bad_request",
    ),
    "llama.cpp's cache": (
        500,
        {"error": {"message": "Input prompt is too big compared to KV size"}},
        RequestRefused,
        "context",
    ),
    "Tabby's cache": (503, {"detail": "Prompt tokens 9000 exceed cache size 4096"}, RequestRefused, "context"),
    "Vertex's context": (
        400,
        {"error": {"message": "The input token count is 1200000 but the model only supports up to 1048576."}},
        RequestRefused,
        "context",
    ),
    "DeepSeek's filter": (400, {"error": {"message": "Content Exists Risk"}}, RequestRefused, "moderation"),
    "DashScope's filter": (
        400,
        {"code": "data_inspection_failed", "message": "Input data may contain inappropriate content."},
        RequestRefused,
        "moderation",
    ),
    "Z.ai's filter": (
        400,
        {"error": {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全或敏感内容"}},
        RequestRefused,
        "moderation",
    ),
    "Volcengine's filter": (
        400,
        {"error": {"code": "InputTextSensitiveContentDetected", "message": "may contain sensitive information"}},
        RequestRefused,
        "moderation",
    ),
    "Bedrock's filter": (400, {"message": "The request was blocked by guardrails."}, RequestRefused, "moderation"),
    "Z.ai's context": (400, {"error": {"message": "Prompt 超长"}}, RequestRefused, "context"),
    "Yandex' context": (
        400,
        {"error": "the number of input tokens must be no more than 8192, got 9000"},
        RequestRefused,
        "context",
    ),
    "watsonx' context": (
        400,
        {"errors": [{"message": "the number of input tokens 5000 cannot exceed the total tokens limit 4096"}]},
        RequestRefused,
        "context",
    ),
    "OpenAI's context": (
        400,
        {"error": {"message": "Input tokens exceed the configured limit of 272000 tokens."}},
        RequestRefused,
        "context",
    ),
    "a parameter of a model": (
        400,
        {"error": {"message": "Model 'echo': parameter temperature is not available"}},
        RequestNotAccepted,
        "bad_request",
    ),
    "a parameter, as 403": (
        403,
        {"error": {"message": "parameter temperature is not permitted"}},
        RequestNotAccepted,
        "bad_request",
    ),
    "a parameter, as 404": (
        404,
        {"error": {"message": "Structured outputs are not supported by any provider of this model"}},
        RequestNotAccepted,
        "bad_request",
    ),
    "a model": (
        404,
        {"error": {"message": "The model `echo` does not exist or you do not have access to it."}},
        ProviderRejected,
        "unknown_model",
    ),
    "a key": (403, {"error": {"message": "Your key may not use echo."}}, RequestRefused, "forbidden"),
    "NIM's retired model": (
        410,
        {"title": "Gone", "status": 410, "detail": "The model 'echo' has reached its end of life."},
        ProviderRejected,
        "unknown_model",
    ),
    "OpenAI's model of another project": (
        403,
        {"error": {"message": "Project `p` does not have access to `echo`", "code": "model_not_found"}},
        ProviderRejected,
        "unknown_model",
    ),
}
BAD_KEYS: dict[str, tuple[int, Any]] = {
    "OpenRouter": (403, said("No auth credentials found", code=401)),
    "OpenRouter, words": (403, said("No auth credentials found")),
    "a gateway": (403, {"message": "Authorization header is missing"}),
    "a server": (400, said("You must provide an API key.")),
    "a number": (403, said("x", code=401)),
    "Gemini, expired": (400, said("API key expired. Please renew the API key.", status="INVALID_ARGUMENT")),
    "Moonshot": (403, said("The API you are accessing is not open", type="permission_denied_error")),
    "Moonshot, address": (403, said("Your IP is not allowed to access this organization")),
    "Bedrock": (403, {"Message": "Authentication failed: Please make sure your API Key is valid."}),
    "Bedrock, token": (403, {"message": "The security token included in the request is expired"}),
    "Bedrock, code": (400, {"__type": "com.amazon#UnrecognizedClientException", "message": "no"}),
    "Bedrock, form": (403, {"Message": "Invalid API Key format: Must start with pre-defined prefix"}),
    "NIM": (403, {"status": 403, "title": "Forbidden", "detail": "Authorization failed"}),
    "Databricks": (403, {"error_code": "403", "message": "Invalid access token."}),
    "Databricks, short": (403, {"error_code": "PERMISSION_DENIED", "message": "Invalid Token"}),
    "Cloudflare": (403, {"success": False, "errors": [{"code": 10000, "message": "Authentication error"}]}),
    "Cloudflare, code": (400, {"success": False, "errors": [{"code": 10000, "message": "x"}]}),
    "Z.ai": (400, said("Authorization Token 非法，请确认正确携带。", code="1002")),
    "Z.ai, code": (400, said("x", code="1003")),
    "Z.ai, words": (400, said("身份验证失败。")),
    "Tencent": (400, {"Response": {"Error": {"Code": "AuthFailure.SecretIdNotFound", "Message": "x"}}}),
    "new-api": (403, said("无效的令牌")),
    "Fireworks": (403, said("The API key you provided is invalid.", type="invalid_request_error")),
    "xAI, blocked": (403, {"code": "x", "error": "API key is currently blocked: xai-...x"}),
    "Nebius": (403, {"detail": "Couldn't authenticate, please verify your API key"}),
    "Novita": (403, {"code": 403, "reason": "FAILED_TO_AUTH", "message": "x"}),
    "Hyperbolic": (403, {"detail": "Could not validate credentials"}),
    "DashScope": (400, {"code": "InvalidApiKey", "message": "Invalid API-key provided."}),
    "Volcengine": (400, said("The API key doesn't exist. Request id: x", code="AuthenticationError")),
    "MiniMax": (401, said("invalid api key (2049)", type="authorized_error", http_code="401")),
    "LiteLLM": (400, said("Authentication Error, No api key passed in.", type="auth_error", code="400")),
    "Z.ai, locked": (400, said("x", code="1112")),
    "Groq, restricted": (400, said("Organization has been restricted. Please reach out.", code="x")),
    "Groq, code": (400, said("x", code="organization_restricted")),
    "Anthropic, disabled": (400, said("This organization has been disabled.", type="invalid_request_error")),
    "GitHub": (401, said("The `models` permission is required to access this endpoint", code="unauthorized")),
    "Vercel": (400, said("Unauthenticated. Configure AI_GATEWAY_API_KEY.", type="authentication_error")),
}
NO_MONEY: dict[str, tuple[int, Any]] = {
    "xAI": (403, {"code": "x", "error": "Your newly created team doesn't have any credits yet."}),
    "funds": (403, said("Your account is out of funds")),
    "a month": (429, said("Monthly usage limit reached. Your limit will reset at 2026-12-01.")),
    "Anthropic, regained": (
        400,
        said("You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."),
    ),
    "OpenRouter": (403, said("Key limit exceeded (monthly limit). Manage it using https://x", code=403)),
    "Tencent": (
        400,
        said("资源包余量已用尽，请购买资源包或开通后付费。", code="FailedOperation.ResourcePackExhausted"),
    ),
    "Tencent, code": (400, {"Response": {"Error": {"Code": "FailedOperation.ResourcePackExhausted", "Message": "x"}}}),
    "Tencent, short": (400, said("x", code="ResourcePackExhausted")),
    "Tencent, words": (400, said("The resource pack allowance has been exhausted, please check your resource pack.")),
    "Moonshot": (403, said("Your account is not active, current state: y", type="exceeded_current_quota_error")),
    "Kimi Code": (403, said("You've reached your usage limit for this billing cycle")),
    "new-api": (403, said("User's credit limit is insufficient", code="insufficient_user_quota")),
    "new-api, words": (403, said("该令牌额度已用尽")),
    "Cloudflare": (429, {"errors": [{"code": 4006, "message": "you have used up your daily free allocation"}]}),
    "MiniMax": (500, {"type": "error", "error": {"type": "api_error", "message": "insufficient balance (1008)"}}),
    "MiniMax, code": (429, {"type": "error", "error": {"type": "insufficient_balance_error", "message": "x"}}),
    "Gemini, prepaid": (429, said("Your prepayment credits are depleted. Please go to AI Studio.")),
    "Bedrock": (
        403,
        {"message": "Model access is denied due to INVALID_PAYMENT_INSTRUMENT:A valid payment instrument must be set."},
    ),
    "Vercel": (403, said("AI Gateway requires a valid credit card on file to service requests.")),
    "Vercel, free": (403, said("Free credits temporarily have restricted access due to abuse.")),
    "Vercel, code": (403, said("x", type="insufficient_funds")),
    "DeepInfra": (403, {"detail": {"error": "inference prohibited, please enter a payment method or buy credits"}}),
    "Nebius": (403, {"detail": "Please top up your balance."}),
    "Novita": (403, {"code": 403, "reason": "BILLING_FAILED", "message": "x"}),
    "Volcengine": (403, said("x", code="ServiceOverdue")),
    "Together": (402, said("Credit limit exceeded. Please navigate to https://x to add credit.", type="credit_limit")),
    "Perplexity": (401, said("You exceeded your current quota.", type="insufficient_quota", code=401)),
    "LiteLLM": (400, said("Budget has been exceeded! Current cost: 76.16, Max budget: 10.0", type="budget_exceeded")),
    "Z.ai, expired": (429, said("Your GLM Coding Plan package has expired, please renew", code="1309")),
    "Cohere's trial": (429, {"message": "You are using a Trial key, which is limited to 1000 API calls / month."}),
    "DashScope's trial": (
        403,
        said("The free tier of the model has been exhausted.", code="AllocationQuota.FreeTierOnly"),
    ),
}
RATES: dict[str, tuple[int, Any]] = {
    "Z.ai": (429, said("Usage limit reached for 5 hour. Your limit will reset at 2026-11-29 18:00:00", code="1308")),
    "Ollama": (429, {"error": "you (x) have reached your session usage limit, upgrade for higher limits"}),
    "OpenAI, subscription": (
        429,
        said(
            "Your usage limit has been reached, resets in 3 minutes", type="usage_limit_reached", resets_in_seconds=180
        ),
    ),
    "a minute": (429, said("You have exceeded your usage limit of 60 requests per minute")),
    "a minute, as 403": (403, said("You have exceeded your usage limit of 60 requests per minute")),
    "tokens": (429, said("Token usage limit reached for this minute, try again in 2s")),
    "a key": (429, said("Key limit exceeded: 100 requests per minute")),
    "Cohere's trial": (429, {"message": "You are using a Trial key, which is limited to 10 API calls / minute."}),
    "Vercel": (429, said("Free tier requests on this model are rate-limited. Purchase credits at https://x")),
    "OpenRouter": (429, said("Rate limit exceeded: free-models-per-min. Add 10 credits to unlock 1000 per day")),
    "a day of requests": (429, said("You have reached your usage limit of 1000 requests per day")),
}
MOMENTS: dict[str, tuple[int, Any]] = {
    "no instances": (404, said("no instances available for model echo")),
    "no instance is ready": (404, {"detail": "No running instances found for model 'echo'."}),
    "no worker": (400, said("No available workers (all circuits open or unhealthy)")),
    "no upstream": (404, {"message": "no healthy upstream"}),
    "loading": (400, said("The model echo is currently loading, try again soon.")),
    "for a moment": (404, said("Model echo is temporarily unavailable.")),
}
NO_MODELS: dict[str, tuple[int, Any]] = {
    "Bedrock": (
        400,
        {"message": "Invocation of model ID anthropic.x-v1:0 with on-demand throughput isn\u2019t supported."},
    ),
    "Together": (400, said("Unable to access model x.", code="model_not_available")),
    "Together, words": (400, said("Unable to access model x.")),
    "its name alone": (404, {"error": "echo: not found"}),
    "Groq": (400, said("The model `x` has been decommissioned and is no longer supported.")),
    "Groq, code": (400, said("x", code="model_decommissioned", type="invalid_request_error")),
    "Hugging Face": (400, said("The requested model 'x' is not supported by any provider you have enabled.")),
    "Hugging Face, code": (400, said("x", code="model_not_supported", param="model")),
    "Copilot": (400, said("The requested model is not supported.")),
    "Kimi Code": (404, said("Not found the model kimi-for-coding or Permission denied")),
    "Cloudflare": (400, {"errors": [{"code": 5007, "message": "AiError: x"}]}),
    "GitHub": (400, said("Unavailable model: o4-mini", code="unavailable_model")),
    "GitHub, unknown": (400, said("Unknown model: x/y", code="unknown_model")),
    "Gemini": (400, said("You don't have access to this model or the model name is invalid")),
    "Vertex": (400, said("Project `p` is not allowed to use Publisher Model `projects/p/models/x`")),
    "Vertex, region": (400, said("Publisher model `x` is not servable in region us-east5.")),
    "Bedrock, old": (400, {"message": "This model version has reached the end of its life. Please refer to the docs."}),
    "SambaNova": (400, said("Model echo is not supported", type="invalid_request_error")),
    "MiniMax": (400, said("invalid params, unknown model 'x' (2013)", type="bad_request_error")),
    "LiteLLM": (400, said("LLM Provider NOT provided. Pass in the LLM provider. You passed model=x")),
    "LiteLLM, name": (400, said("/chat/completions: Invalid model name passed in model=x. Call `/v1/models`")),
    "Z.ai, plan": (429, said("Your plan does not include it", code="1311")),
    "Volcengine": (400, said("x", code="InvalidEndpoint.ClosedEndpoint")),
    "Together, dedicated": (400, said("Unable to access non-serverless model x.", code="model_not_available")),
}
UNROUTED: dict[str, tuple[int, Any]] = {
    "new-api": (
        503,
        said("No available channel for model echo under group default (distributor)", code="model_not_found"),
    ),
    "new-api, in Chinese": (503, said("分组 default 下模型 echo 无可用渠道（distributor）", code="model_not_found")),
    "one-api": (503, said("当前分组 default 下对于模型 echo 无可用渠道", type="one_api_error")),
    "one-api, no name": (503, said("当前分组 default 下对于模型  无可用渠道 (request id: 2025)")),
    "a gateway": (400, said("no available channel for model: echo")),
    "MiniMax's plan": (500, said("your current token plan not support model, echo (2061)", type="api_error")),
}
CONTEXTS: dict[str, tuple[int, Any]] = {
    "MLC": (
        400,
        {"message": "Request prompt has 9000 tokens in total, larger than the model input length limit 4096."},
    ),
    "a conversation": (400, said("Conversation too long")),
    "a total": (400, said("total tokens exceed 8192")),
    "llama-server's shift": (500, said("context shift is disabled", code=500, type="server_error")),
    "MLC, shorter": (400, {"message": "larger than the model input length limit -80."}),
    "Cloudflare": (
        400,
        {
            "errors": [
                {
                    "message": "AiError: The estimated number of input and maximum output tokens (9000) exceeded this "
                    "model context window limit (8000).",
                    "code": 5021,
                }
            ]
        },
    ),
    "Copilot": (400, said("prompt token count of 140000 exceeds the limit of 128000")),
    "Mistral": (400, said("Prompt contains 33000 tokens and 0 draft tokens, too large for model with 32768 maximum")),
    "rkllama": (400, said("Prompt is 11543 tokens but the window is 4096 tokens.")),
    "LMDeploy": (400, said("internal error happened, status code ResponseType.INPUT_LENGTH_ERROR")),
    "Fireworks": (400, said("The prompt is too long: 9000, model maximum input length is 8192")),
    "Ollama": (400, said("input length exceeds context length")),
    "SiliconFlow": (
        400,
        {
            "code": 20015,
            "message": "length of prompt_tokens (68957) must be less than max_seq_len (65536).",
            "data": None,
        },
    ),
    "SiliconFlow, total": (400, "max_total_tokens (33802) must be less than or equal to max_seq_len (32768)"),
    "vLLM": (
        400,
        said("This model's maximum context length is 200 tokens. However, your request has 203 input tokens."),
    ),
    "vLLM, decoder": (
        400,
        said("The decoder prompt (length 17772) is longer than the maximum model length of 16384. Make sure that"),
    ),
    "vLLM, images": (
        400,
        said("The prompt (total length 25938) is too long to fit into the model (context length 4096)"),
    ),
    "vLLM, limit": (400, said("Input prompt (35247 tokens) is too long and exceeds limit of 1000")),
    "vLLM, cap": (
        400,
        said(
            "'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 1000 "
            "tokens and your request has 1203 input tokens (1000 > 1000 - 1203). None"
        ),
    ),
    "vLLM, passed": (
        400,
        said(
            "You passed 4097 input tokens and requested 0 output tokens. However, the model's context length is only "
            "4096 tokens, resulting in a maximum input length of 4096 tokens."
        ),
    ),
    "Xinference": (500, {"detail": "[address=0.0.0.0:1, pid=2] The decoder prompt (length 17772) is longer than x."}),
    "Qianfan": (400, said("the max input characters is 20000", code="characters_too_long")),
    "Qianfan, tokens": (400, said("Prompt tokens too long", code="tokens_too_long")),
    "Volcengine": (400, said("Total tokens of image and text exceed max message tokens. Request id: 0217")),
    "Volcengine, length": (400, said("Input length 40000 exceeds the maximum length 32768.")),
    "Cohere": (
        400,
        {"message": "too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048"},
    ),
    "Cohere, size": (400, {"message": "too many tokens: size limit exceeded by 8034 tokens."}),
    "Bedrock": (400, {"message": "The request payload size has exceed context limit."}),
    "Bedrock, Nova": (400, {"message": "Input Tokens Exceeded: Number of input tokens exceeds maximum length."}),
    "LM Studio": (
        400,
        {"error": "The number of tokens to keep from the initial prompt is greater than the context length."},
    ),
    "TensorRT-LLM": (
        400,
        said("default_max_tokens (-5) should be greater than 0, it is max_seq_len (4096) - splited_prompt_len (4101)"),
    ),
    "Anyscale": (400, said("Input too long. Received 7226 tokens, but the maximum input length is 4096 tokens.")),
    "GigaChat": (422, {"status": 422, "message": "Tokens limit exceeded"}),
    "a page, as 413": (413, "<html><head><title>413 Request Entity Too Large</title></head></html>"),
    "nothing, as 413": (413, ""),
    "a page, as 414": (414, "<html><head><title>414 Request-URI Too Large</title></head></html>"),
    "GitHub, as 413": (413, said("Request body too large for gpt-4o model. Max size: 8000 tokens.")),
    "GitHub": (
        400,
        said("Request body too large for gpt-4o model. Max size: 8000 tokens.", code="tokens_limit_reached"),
    ),
}
PARAMETERS: dict[str, tuple[int, Any]] = {
    "deprecated": (400, said("Model 'echo': the parameter temperature has been deprecated")),
    "no longer supported": (400, said("This model no longer supports temperature")),
    "not supported": (400, said("response_format is not supported by any provider of this model")),
    "a token of JSON": (400, said("Invalid token in JSON at position 5")),
    "a quoted prompt": (400, said("bad: 'the security token of the castle is invalid'")),
    "a cap": (400, said("max_completion_tokens is too large: 262144. This model supports at most 256000.")),
    "Volcengine's cap": (
        400,
        said(
            "The parameter `max_tokens` specified in the request are not valid: expected a value <= 4096, but got 8192"
        ),
    ),
    "Qianfan's cap": (400, said("parameter check failed, max_completion_tokens range is [2, 4096]")),
    "a long name": (
        400,
        said("Invalid 'response_format.json_schema.name': string too long. Expected a string with maximum length 64"),
    ),
    "a budget of thinking": (400, said("thinking budget 24576 exceeds the limit of 8192", param="thinking")),
    "a parameter, not supported": (400, said("Model is not supported", param="temperature")),
    "a number of pictures": (400, said("input must be less than 5 images")),
    "nothing": (400, ""),
}


@each_row("name", JUDGED)
def test_a_refusal_is_known_by_its_words(name: str) -> None:
    status, body, kind, code = JUDGED[name]
    fault = HOST.status(status, {}, json.dumps(body).encode())
    assert (type(fault), fault.code) == (kind, code)


KNOWN: dict[tuple[type[ModelError], str], dict[str, tuple[int, Any]]] = {
    (ProviderRejected, "bad_key"): BAD_KEYS,
    (ProviderRejected, "no_credit"): NO_MONEY,
    (RateLimited, "rate_limited"): RATES,
    (ProviderRejected, "unknown_model"): NO_MODELS,
    (RequestRefused, "context"): CONTEXTS,
    (RequestRefused, "unknown_model"): UNROUTED,
    (TransportFailed, "http_404"): {name: each for name, each in MOMENTS.items() if each[0] == 404},
    (TransportFailed, "http_400"): {name: each for name, each in MOMENTS.items() if each[0] == 400},
    (RequestNotAccepted, "bad_request"): PARAMETERS,
}


@each_row("wanted, host", [(wanted, host) for wanted, hosts in KNOWN.items() for host in hosts])
def test_a_refusal_of_a_host_is_known_by_its_words_or_code(wanted: tuple[type[ModelError], str], host: str) -> None:
    status, body = KNOWN[wanted][host]
    fault = HOST.status(status, {}, body.encode() if isinstance(body, str) else json.dumps(body).encode())
    assert (type(fault), fault.code) == wanted
    assert "\n" not in str(fault)


def test_a_model_that_is_served_by_a_profile_alone_is_said_to_be_in_one_line() -> None:
    model = "anthropic.claude-3-7-sonnet-20250219-v1:0"
    words = (
        f"Invocation of model ID {model} with on-demand throughput isn\u2019t supported. Retry your request with the "
        "ID or ARN of an inference profile that contains this model."
    )
    fault = ErrorFactory(BUILT_IN["bedrock"], model).status(400, {}, json.dumps({"message": words}).encode())
    assert (type(fault), fault.code) == (ProviderRejected, "unknown_model")
    assert "is not served on demand by" in str(fault)
    assert f"name an inference profile of this account in its place (such as us.{model})" in str(fault)
    assert "\n" not in str(fault)


def test_the_wait_that_a_body_states_in_seconds_is_asked_for() -> None:
    status, body = RATES["OpenAI, subscription"]
    fault = HOST.status(status, {}, json.dumps(body).encode())
    assert isinstance(fault, RateLimited)
    assert fault.retry_after == 180


@pytest.mark.parametrize(
    ("model", "body"),
    [
        ("default", b"default backend - 404"),
        ("m", b"<html><title>404 Not Found</title></html>"),
        ("m", b'{"message": "I\'m lost: no such resource"}'),
        ("found", b'{"error": "unfound"}'),
    ],
)
def test_a_404_names_a_model_only_as_a_word_of_an_error_in_json(model: str, body: bytes) -> None:
    """A page is a proxy's, whatever words it has."""
    fault = ErrorFactory(BUILT_IN["openai"], model).status(404, {}, body)
    assert (type(fault), fault.code) == (RequestRefused, "unknown_model")


ROOMS: dict[str, tuple[str, int, int | None]] = {
    "OpenAI": (
        "This model's maximum context length is 8192 tokens. However, you requested 20300 tokens (300 in the messages, "
        "20000 in the completion). Please reduce the length of the messages or completion.",
        20_000,
        7_892,
    ),
    "OpenAI, functions": (
        "This model's maximum context length is 8192 tokens. However, you requested 20400 tokens (300 in the messages, "
        "100 in the functions, and 20000 in the completion).",
        20_000,
        7_792,
    ),
    "OpenRouter": (
        "This endpoint's maximum context length is 8192 tokens. However, you requested about 20300 tokens "
        "(300 of text input, 20000 in the output).",
        20_000,
        7_892,
    ),
    "vLLM": (
        "This model's maximum context length is 8192 tokens and your request has 300 input tokens "
        "(20000 > 8192 - 300).",
        20_000,
        7_892,
    ),
    "vLLM, the window as the cap": (
        "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 8192 "
        "tokens and your request has 300 input tokens (8192 > 8192 - 300). None",
        8_192,
        7_892,
    ),
    "vLLM, a longer prompt": (
        "'max_tokens' or 'max_completion_tokens' is too large: 20000. This model's maximum context length is 8192 "
        "tokens and your request has 9000 input tokens (20000 > 8192 - 9000). None",
        20_000,
        None,
    ),
    "SiliconFlow": ("max_total_tokens (20300) must be less than or equal to max_seq_len (8192)", 20_000, 7_892),
    "SiliconFlow, a longer prompt": (
        "max_total_tokens (30300) must be less than or equal to max_seq_len (8192)",
        20_000,
        None,
    ),
    "SGLang": (
        "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of "
        "20300 tokens: 300 tokens from the input messages and 20000 tokens for the completion.",
        20_000,
        7_892,
    ),
    "a total alone": ("Requested tokens (20,300) exceed context window of 8,192", 20_000, 7_892),
    "the prompt alone is too long": (
        "This model's maximum context length is 8192 tokens. However, you requested 9300 tokens (8300 in the messages, "
        "1000 in the completion).",
        1_000,
        None,
    ),
    "next to no room": (
        "This model's maximum context length is 8192 tokens. However, you requested 9150 tokens (8150 in the messages, "
        "1000 in the completion).",
        1_000,
        None,
    ),
    "no cap in it": ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", 2_000, None),
    "a range of caps": ("max_tokens is too large: 20000, the valid range is [1, 8192]", 20_000, None),
}


@each_row("host", ROOMS)
def test_the_room_for_a_reply_is_the_window_without_the_prompt(host: str) -> None:
    words, cap, room = ROOMS[host]
    assert room_for_reply(words, cap) == (None if room is None else room - room // 8)


@pytest.mark.parametrize(
    "words",
    [
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 200 `inputs` tokens and "
        "20000 `max_new_tokens`",
        "input length and max_tokens exceed context limit: 200 + 20000 > 8193, decrease input length or max_tokens",
    ],
)
def test_a_cap_that_leaves_the_prompt_no_room_is_lowered_to_fit(words: str) -> None:
    """Without the total it may be that the smaller number is the window."""
    assert 6_000 < (room_for_reply(words, 20_000) or 0) <= 8_193 - 200


@pytest.mark.parametrize("number", [110, 111])
def test_a_token_that_qianfan_does_not_accept_is_a_bad_key(number: int) -> None:
    words = "Access token invalid or no longer valid" if number == 110 else "Access token expired"
    with pytest.raises(ProviderRejected) as caught:
        chat.completion({"error_code": number, "error_msg": words}, HOST, None)
    assert caught.value.code == "bad_key"


CHAT: dict[str, Any] = {"choices": [{"message": {"content": "W"}, "finish_reason": "stop"}]}
RESPONSES: dict[str, Any] = {
    "status": "completed",
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "W"}]}],
}
MESSAGES: dict[str, Any] = {"type": "message", "content": [{"type": "text", "text": "W"}], "stop_reason": "end_turn"}


@each_row("error", [{"code": None, "message": None}, {"code": 0, "message": "success"}, {}, "", "ok"])
@each_row(
    "wire, answer",
    [(chat, CHAT), (responses, RESPONSES), (messages, MESSAGES)],
)
def test_an_error_that_says_nothing_beside_an_answer_is_none(wire: Any, answer: dict[str, Any], error: object) -> None:
    completion: Completion = wire.completion({**answer, "error": error}, HOST, None)
    assert completion.text == "W"


def test_a_mark_of_the_order_of_bytes_is_no_fault() -> None:
    assert decoded(b"\xef\xbb\xbf" + json.dumps(CHAT).encode(), "application/json", HOST) == CHAT


@pytest.mark.parametrize(
    ("number", "words", "kind", "code"),
    [
        (1002, "rate limit", RateLimited, "rate_limited"),
        (1004, "login fail", ProviderRejected, "bad_key"),
        (1008, "insufficient balance", ProviderRejected, "no_credit"),
        (1026, "input new_sensitive", RequestRefused, "moderation"),
        (1027, "output new_sensitive", RequestRefused, "moderation"),
    ],
)
def test_the_state_of_minimax_is_judged_as_an_error(number: int, words: str, kind: type[ModelError], code: str) -> None:
    envelope = {"choices": None, "base_resp": {"status_code": number, "status_msg": words}}
    with pytest.raises(kind) as caught:
        chat.completion(envelope, HOST, None)
    assert (type(caught.value), caught.value.code) == (kind, code)


def test_an_answer_with_the_state_of_success_is_read() -> None:
    assert chat.completion({**CHAT, "base_resp": {"status_code": 0, "status_msg": ""}}, HOST, None).text == "W"


@pytest.mark.parametrize("reason", ["content_filter: RECITATION", "blacklist", "RECITATION", "finishReason.SAFETY"])
def test_a_filter_is_known_in_any_spelling(reason: str) -> None:
    assert ending(reason) == "filtered"


def test_a_finish_reason_that_is_a_number_is_kept_as_one_that_no_table_knows() -> None:
    choice = {"message": {"content": "Half a"}, "finish_reason": 2}
    completion = chat.completion({"choices": [choice]}, HOST, None)
    assert (completion.finish_reason, ending(completion.finish_reason)) == ("2", None)


TPM = "Request too large for gpt-4o in organization o on tokens per min (TPM): Limit 30000, Requested 40000."
GROQ = "Request too large for model `m` on tokens per minute (TPM): Limit 6,000, Requested 14,810, please reduce"
ANTHROPIC = "This request would exceed the rate limit for your organization of 20,000 input tokens per minute."
UNTOUCHED = {"anthropic-ratelimit-input-tokens-limit": "20000", "anthropic-ratelimit-input-tokens-remaining": "20000"}
USED = {**UNTOUCHED, "anthropic-ratelimit-input-tokens-remaining": "3000"}
BUSY = "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29937, Requested 385. Try in 644ms."


@each_row(
    "status, words, headers, kind",
    [
        (429, TPM, {}, RequestRefused),
        (429, GROQ, {}, RequestRefused),
        (413, GROQ, {}, RequestRefused),
        (429, "Request too large: 40k tokens per minute", {}, RequestRefused),
        (429, ANTHROPIC, UNTOUCHED, RequestRefused),
        (429, ANTHROPIC, USED, RateLimited),
        (429, ANTHROPIC, {}, RateLimited),
        (429, BUSY, {}, RateLimited),
        (429, "Rate limit reached on requests per min (RPM): Limit 3, Used 3, Requested 1.", UNTOUCHED, RateLimited),
    ],
)
def test_a_request_that_is_larger_than_a_limit_is_no_matter_of_waiting(
    status: int, words: str, headers: dict[str, str], kind: type[ModelError]
) -> None:
    body = {"error": {"message": words, "type": "tokens", "code": "rate_limit_exceeded"}}
    fault = HOST.status(status, headers, json.dumps(body).encode())
    assert (type(fault), fault.status) == (kind, status)
    if kind is RequestRefused:
        assert fault.code == "context"
        assert "shorter memories or a smaller max_tokens, or have that limit raised" in str(fault)


def test_a_larger_request_inside_a_200_is_one_as_well() -> None:
    fault = HOST.reported({"code": "rate_limit_exceeded", "message": TPM})
    assert (type(fault), fault.code) == (RequestRefused, "context")


LANGUAGES = {
    "Russian": "Запрос отклонён: он содержит недопустимое содержимое",
    "Japanese": "リクエストは受け付けられませんでした",
    "Korean": "요청을 처리할 수 없습니다",
    "French": "La requête a été refusée, car son contenu n'est pas autorisé",
    "German": "Die Anfrage wurde abgelehnt, da ihr Inhalt nicht erlaubt ist",
    "Spanish": "La solicitud fue rechazada porque su contenido no está permitido",
}
CODED: dict[str, tuple[int, dict[str, Any], type[ModelError], str]] = {
    "filter, by code": (400, {"code": "content_filter"}, RequestRefused, "moderation"),
    "filter, by type": (400, {"type": "content_policy_violation"}, RequestRefused, "moderation"),
    "context, by code": (400, {"code": "context_length_exceeded"}, RequestRefused, "context"),
    "balance, by code": (400, {"code": "insufficient_balance"}, ProviderRejected, "no_credit"),
    "key, by code": (400, {"code": "invalid_api_key"}, ProviderRejected, "bad_key"),
    "key, by type": (400, {"type": "authentication_error"}, ProviderRejected, "bad_key"),
    "key, by status": (400, {"status": "UNAUTHENTICATED"}, ProviderRejected, "bad_key"),
    "limit, by code": (400, {"code": "ThrottlingException"}, RateLimited, "rate_limited"),
    "limit, by type": (403, {"type": "rate_limit_error"}, RateLimited, "rate_limited"),
    "parameter, by param": (400, {"param": "temperature"}, RequestNotAccepted, "bad_request"),
    "nothing that a table knows": (400, {}, RequestNotAccepted, "bad_request"),
}


@each_row("language", LANGUAGES)
@each_row("name", CODED)
def test_codes_decide_in_every_language(name: str, language: str) -> None:
    status, codes, kind, code = CODED[name]
    fault = HOST.status(status, {}, json.dumps({"error": {"message": LANGUAGES[language], **codes}}).encode())
    assert (type(fault), fault.code, fault.status) == (kind, code, status)
    assert isinstance(fault, RequestNotAccepted) is (kind is RequestNotAccepted)


def test_codes_decide_before_english_words() -> None:
    body = {"error": {"message": "The content policy of your account says no.", "code": "invalid_api_key"}}
    assert HOST.status(400, {}, json.dumps(body).encode()).code == "bad_key"


def test_the_key_of_a_router_at_a_host_is_not_the_user_s() -> None:
    raw = json.dumps({"error": {"message": "Nein.", "code": "authentication_error"}})
    body = {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}}
    assert HOST.status(400, {}, json.dumps(body).encode()).code == "bad_request"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"status": {"code": "40003", "message": "Text too long"}, "result": None}, "context"),
        ({"status": {"code": "40003", "message": "Context length exceeded"}}, "context"),
        ({"status": {"code": "40005", "message": "Unavailable output"}}, "moderation"),
        ({"error": {"code": "10021", "message": "输入审核不通过"}}, "moderation"),
        ({"error": {"code": "10907", "message": "token数量超过上限"}}, "context"),
    ],
)
def test_numbers_of_references_are_known(body: dict[str, Any], code: str) -> None:
    assert HOST.status(400, {}, json.dumps(body).encode()).code == code


def test_a_number_that_may_be_a_permission_or_a_quota_is_no_bad_key() -> None:
    assert HOST.reported({"code": 11200, "message": "授权错误"}).code == "forbidden"


@pytest.mark.parametrize("status", [400, 429, 502])
def test_the_host_that_an_error_names_is_kept(status: int) -> None:
    error = {"message": "Provider returned error", "code": status, "metadata": {"provider_name": "Base\nTen"}}
    assert HOST.status(status, {}, json.dumps({"error": error}).encode()).served_by == "Base Ten"
    assert HOST.reported(error).served_by == "Base Ten"
