"""`agentsim models PROVIDER`: the list of an endpoint, in the formats of hosts, and one line for every fault."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentsim.models.offers import Offer
from tests.cli.command_line import Said, agentsim
from tests.fakes.server import FakeServer, Raw, Received

KEY = "sk-canary-1234567890abcdef"


class Listing(FakeServer):
    """A server that answers each GET by its path."""

    def __init__(self, answer: Callable[[str], Raw]) -> None:
        super().__init__()
        self.answer_to = answer

    def _play(self, connection: Any, behaviour: str, name: str, received: Received) -> None:
        assert received.method == "GET"
        self._finish(connection, name, self.answer_to(received.path))


def listed(tmp_path: Path, body: Any, *words: str, status: int = 200, provider: str = "lab", **table: str) -> Said:
    """List the models of a provider whose endpoint gives this answer."""
    with Listing(lambda _path: Raw(status, body)).in_thread() as server:
        return asked(tmp_path, server.url(), *words, provider=provider, **table)


def asked(tmp_path: Path, url: str, *words: str, provider: str = "lab", **table: str) -> Said:
    settings = {"base_url": url, "api_key_env": "LAB_KEY", **table}
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    seats = "".join(f'[[players]]\nid = "{player}"\nmodel = "bot/random"\n' for player in "ABC")
    (tmp_path / "game.toml").write_text(
        f'game = "agent_island"\n[providers.{provider}]\n{lines}{seats}', encoding="utf-8"
    )
    return agentsim("models", provider, "--config", "game.toml", *words, cwd=tmp_path, env={"LAB_KEY": KEY})


def offer(name: str, **known: Any) -> dict[str, Any]:
    return {"name": f"lab/{name}", **Offer(name, **known).record()}


SHAPES: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "OpenAI": ({"object": "list", "data": [{"id": "b"}, {"id": "a"}]}, [offer("a"), offer("b")]),
    "OpenRouter": (
        {
            "data": [
                {
                    "id": "x/y",
                    "context_length": 200_000,
                    "pricing": {"prompt": "0.00000125", "completion": "0.00001"},
                    "top_provider": {"context_length": 100_000, "max_completion_tokens": 64_000},
                },
                {"id": "x/auto", "context_length": 2_000_000, "pricing": {"prompt": "-1", "completion": "-1"}},
            ]
        },
        [
            offer("x/auto", context=2_000_000),
            offer("x/y", context=200_000, max_output=64_000, input=1.25, output=10.0),
        ],
    ),
    "ids alone": (["b", "a"], [offer("a"), offer("b")]),
    "ids in models": ({"models": ["b", "a"]}, [offer("a"), offer("b")]),
    "an object by id": ({"data": {"b": {"context_length": 9}, "a": {}}}, [offer("a"), offer("b", context=9)]),
    "by model": ({"models": [{"model": "a"}]}, [offer("a")]),
    "Together": (
        [
            {
                "id": "t",
                "type": "chat",
                "context_length": 131_072,
                "pricing": {"input": 0.88, "output": 0.9, "hourly": 0},
            }
        ],
        [offer("t", context=131_072, input=0.88, output=0.9)],
    ),
    "vLLM": ({"data": [{"id": "Qwen/Qwen3-8B", "max_model_len": 40_960}]}, [offer("Qwen/Qwen3-8B", context=40_960)]),
    "Groq": (
        {"data": [{"id": "g", "context_window": 131_072, "max_completion_tokens": 32_768}]},
        [offer("g", context=131_072, max_output=32_768)],
    ),
    "Mistral": ({"data": [{"id": "m", "max_context_length": 32_768}]}, [offer("m", context=32_768)]),
    "llama-server": (
        {"models": [{"name": "q"}], "data": [{"id": "q", "meta": {"n_ctx_train": 8192}}]},
        [offer("q", context=8192)],
    ),
    "LM Studio": ({"data": [{"id": "l", "max_context_length": 4096}]}, [offer("l", context=4096)]),
    "Gemini": ({"data": [{"id": "models/gemini-x"}]}, [offer("gemini-x")]),
    "none": ({"data": []}, []),
    "odd": (
        {
            "data": [
                None,
                5,
                {},
                {"id": 5},
                {"id": "a", "context_length": "x", "pricing": {"prompt": "free"}},
                {"id": "a"},
            ]
        },
        [offer("a")],
    ),
    "hostile": ({"data": [{"id": "a\x1b[31m\nb" + KEY}]}, [offer("a b[redacted]")]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_models_of_an_endpoint_are_listed(shape: str, tmp_path: Path) -> None:
    body, found = SHAPES[shape]
    said = listed(tmp_path, body, "--json")
    assert said.code == 0, said.err
    assert json.loads(said.out) == found
    assert KEY not in said.out + said.err
    assert "\x1b" not in listed(tmp_path, body).out


def test_the_table_says_what_is_known(tmp_path: Path) -> None:
    said = listed(tmp_path, SHAPES["OpenRouter"][0])
    assert said.out.splitlines() == [
        "name        context    longest reply  input  output",
        "lab/x/auto  2,000,000  -              -      -",
        "lab/x/y     200,000    64,000         $1.25  $10",
    ]
    assert listed(tmp_path, {"data": []}).out == "lab lists no models\n"


def test_the_pages_of_anthropics_list_are_read_to_the_end(tmp_path: Path) -> None:
    paths: list[str] = []

    def answer(path: str) -> Raw:
        paths.append(path.partition("/v1/")[2])
        first = "after_id" not in path
        model = {"type": "model", "max_input_tokens": 200_000, "max_tokens": 64_000}
        data = [{**model, "id": "claude-a"}, {**model, "id": "claude b"}] if first else [{**model, "id": "claude-c"}]
        return Raw(body={"data": data, "has_more": first, "first_id": "x", "last_id": data[-1]["id"]})

    with Listing(answer).in_thread() as server:
        said = asked(tmp_path, server.url(), "--json", wire="messages")
    assert said.code == 0, said.err
    assert json.loads(said.out) == [
        offer(name, context=200_000, max_output=64_000) for name in ("claude b", "claude-a", "claude-c")
    ]
    assert paths == ["models?limit=1000", "models?limit=1000&after_id=claude%20b"]


def test_a_list_that_never_ends_does(tmp_path: Path) -> None:
    asked_for: list[str] = []

    def answer(path: str) -> Raw:
        asked_for.append(path)
        return Raw(body={"data": [{"id": "a"}], "has_more": True, "last_id": "a"})

    with Listing(answer).in_thread() as server:
        assert asked(tmp_path, server.url(), wire="messages").code == 0
    assert len(asked_for) == 2


FAULTS: dict[str, tuple[int, Any, str]] = {
    "a bad key": (401, {"error": {"message": "no"}}, "lab: does not accept the key in LAB_KEY (HTTP 401)"),
    "no list": (404, "not here", "lab has no list of models at 127.0.0.1:"),
    "not allowed": (405, "", "lab has no list of models at 127.0.0.1:"),
    "unwell": (503, {"error": {"message": f"it is {KEY}"}}, "lab: HTTP 503"),
    "a limit": (429, {}, "lab: rate limited"),
    "a page": (200, "<html>", "lab: the answer is not a list of models: not JSON"),
    "no list in it": (200, {"data": "x"}, "lab: the answer of 127.0.0.1:"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_and_the_exit_code_of_a_provider(fault: str, tmp_path: Path) -> None:
    status, body, line = FAULTS[fault]
    said = listed(tmp_path, body, status=status)
    assert (said.code, said.out) == (3, "")
    assert said.err.splitlines()[-1].startswith(f"agentsim: {line}"), said.err
    assert len(said.err.splitlines()) == 2, "the line before says where the key goes"
    assert KEY not in said.err


def test_an_endpoint_that_cannot_be_reached(tmp_path: Path) -> None:
    said = asked(tmp_path, "http://127.0.0.1:9/v1")
    assert said.code == 3
    assert "lab: cannot be reached at 127.0.0.1:9" in said.err


def test_without_a_key_nothing_is_asked(tmp_path: Path) -> None:
    said = agentsim("models", "openai", cwd=tmp_path)
    assert (said.code, said.line) == (
        2,
        "openai needs a key: set OPENAI_API_KEY in the environment or in ./.env",
    )
    said = agentsim("models", "opnai", cwd=tmp_path)
    assert said.code == 2
    assert said.line.startswith("there is no provider 'opnai'; did you mean openai?")


NO_LIST = {
    "azure": ({"base_url": "https://x.openai.azure.com/openai"}, "azure lists the models of a region and not"),
    "bedrock": ({}, "bedrock has no list of models at this address"),
    "vertex": ({"project": "p"}, "vertex has no list of models at this address"),
}


@pytest.mark.parametrize("provider", NO_LIST)
def test_where_there_is_no_list_that_is_said_without_a_call(provider: str, tmp_path: Path) -> None:
    table, line = NO_LIST[provider]
    lines = "".join(f'{name} = "{value}"\n' for name, value in table.items())
    seats = "".join(f'[[players]]\nid = "{player}"\nmodel = "bot/random"\n' for player in "ABC")
    (tmp_path / "g.toml").write_text(f'game = "agent_island"\n[providers.{provider}]\n{lines}{seats}', encoding="utf-8")
    env = dict.fromkeys(("AZURE_OPENAI_API_KEY", "AWS_BEARER_TOKEN_BEDROCK", "VERTEX_ACCESS_TOKEN"), KEY)
    said = agentsim("models", provider, "--config", "g.toml", cwd=tmp_path, env=env)
    assert said.code == 3
    assert said.err.splitlines()[-1].startswith(f"agentsim: {line}")


@pytest.fixture(name="own")
def _own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the pages of OpenAI's own address."""
    import agentsim.models.offers as module

    async def page(endpoint: Any, path: str, faults: Any) -> Any:
        return {"data": [{"id": "gpt-5-mini"}, {"id": "nobody-knows"}]}

    monkeypatch.setattr(module, "_page", page)


@pytest.mark.usefixtures("own")
def test_the_catalogue_knows_what_the_providers_own_list_does_not_say(tmp_path: Path) -> None:
    said = agentsim("models", "openai", "--json", cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
    known, unknown = json.loads(said.out)
    assert (known["name"], known["input"], known["output"]) == ("openai/gpt-5-mini", 0.25, 2.0)
    assert known["context"] >= 100_000
    assert unknown == {"name": "openai/nobody-knows", **Offer("nobody-knows").record()}


def test_an_error_inside_a_200_is_told(tmp_path: Path) -> None:
    said = listed(tmp_path, {"error": {"message": "no such key", "code": 401}})
    assert said.code == 3
    assert "does not accept the key" in said.err
