"""Ping: one small request to every model over a socket, and one line for each failure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import Said, agentsim
from tests.fakes.replies import envelope, first_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.runs.island import FOUR, scenario_text

CANARY = "sk-canary-0123456789abcdef"


def pinged(directory: Path, text: str, *words: str, env: dict[str, str] | None = None) -> Said:
    (directory / "island.toml").write_text(text, encoding="utf-8")
    said = agentsim("validate", "--config", "island.toml", "--ping", *words, cwd=directory, env=env)
    assert said.err == ""
    assert "canary" not in said.out
    assert sorted(path.name for path in directory.iterdir()) == ["island.toml"], "nothing is written"
    return said


def answers(said: Said) -> list[str]:
    rows = said.out.splitlines()
    return [row.strip() for row in rows[rows.index("ping:") + 1 :]]


def ollama(url: str) -> str:
    """Return the same island on a model without cost."""
    return scenario_text(url).replace('"fake/echo"', '"ollama/echo"').replace("[providers.fake]", "[providers.ollama]")


def test_a_model_that_answers_is_asked_once_as_its_seat_would_be(tmp_path: Path) -> None:
    with FakeServer(first_by_schema).in_thread() as server:
        said = pinged(tmp_path, scenario_text(server.url()), "--set", "defaults.temperature=0.3")
        assert len(server.received) == 1
        body = server.received[0].body
    assert said.code == 0
    (line,) = answers(said)
    assert line.startswith("fake/echo: ok: answered by echo in 0.")
    assert line.endswith("; its reply fits the schema of vote")
    assert body["temperature"] == 0.3
    assert "max_tokens" not in body
    assert body["response_format"]["json_schema"]["name"] == "vote", "a real schema, with little room for words"
    assert sum(len(message["content"]) for message in body["messages"]) < 1000


def test_what_the_host_made_us_leave_out_is_said(tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> Any:
        if "temperature" in body:
            return Raw(400, {"error": {"message": 'Unknown name "temperature": Cannot find field.'}})
        return first_by_schema(body)

    with FakeServer(answer).in_thread() as server:
        said = pinged(tmp_path, scenario_text(server.url()), "--set", "defaults.temperature=0.3")
    (line,) = answers(said)
    assert line.endswith("; its reply fits the schema of vote; the host does not accept temperature, which is left out")


FAILURES = {
    "bad_key": "needs a key, and none was sent",
    "no_credit": "no credit is left",
    "forbidden": "the key may not use this model",
    "unknown_model": "is not found at 127.0.0.1:",
    "bad_parameter": "leave `temperature` out for this model",
    "quota": "no credit is left",
    "http_500": "HTTP 500",
    "html_200": "not JSON (text/html)",
    "redirect": "answers with a redirect",
    "reset": "broke",
    "context": "the prompt is too long",
}


@pytest.mark.parametrize(("fault", "words"), FAILURES.items(), ids=FAILURES)
def test_what_fails_is_one_line_and_exit_3(tmp_path: Path, fault: str, words: str) -> None:
    with FakeServer().in_thread() as server:
        said = pinged(tmp_path, scenario_text(server.url(fault)))
    assert said.code == 3
    (line,) = answers(said)
    assert line.startswith("fake/echo: FAILS: ")
    assert words in line


@pytest.mark.parametrize(("wait", "when"), [("37", "in 37 s"), (None, "later")], ids=["told", "untold"])
def test_a_limit_that_is_reached_says_when_to_ask_again_and_what_helps(
    tmp_path: Path, wait: str | None, when: str
) -> None:
    with FakeServer(retry_after=wait).in_thread() as server:
        said = pinged(tmp_path, scenario_text(server.url("rate_limited")))
    assert said.code == 3
    assert answers(said)[0].endswith(
        f"; ask again {when}; a game waits as it is told to, and `requests_per_minute` or `tokens_per_minute` in "
        "[providers.fake] keeps below a limit"
    )


def test_a_server_that_is_not_running(tmp_path: Path) -> None:
    said = pinged(tmp_path, ollama("http://127.0.0.1:9/v1"))
    assert said.code == 3
    assert answers(said) == [
        "ollama/echo: FAILS: cannot be reached at 127.0.0.1:9 (Connection refused); is `ollama serve` running?"
    ]


def test_a_key_that_is_missing_or_wrong(tmp_path: Path) -> None:
    with FakeServer().in_thread() as server:
        keyed = 'api_key_env = "LAB_KEY"\n'
        text = scenario_text(server.url("bad_key")).replace("[providers.fake]\n", f"[providers.fake]\n{keyed}")
        said = pinged(tmp_path, text)
        assert said.code == 3
        assert "LAB_KEY" in answers(said)[0]
        assert server.received == []
        said = pinged(tmp_path, text, env={"LAB_KEY": CANARY})
        assert said.code == 3
        assert "does not accept the key in LAB_KEY (HTTP 401)" in answers(said)[0]
        assert server.received[0].headers["authorization"] == f"Bearer {CANARY}"


def test_each_distinct_model_is_asked_and_one_failure_fails(tmp_path: Path) -> None:
    players = FOUR.replace('id = "B"\n', 'id = "B"\nmodel = "fake/other"\n').replace(
        'id = "C"\n', 'id = "C"\nmodel = "lab/third"\n'
    )
    with FakeServer().in_thread() as server:
        lab = f'[providers.lab]\nbase_url = "{server.url("unknown_model")}"\n'
        said = pinged(tmp_path, scenario_text(server.url(), f"{lab}{players}"))
        assert sorted(request.body["model"] for request in server.received) == ["echo", "other", "third"]
    assert said.code == 3
    assert [line.split(": ")[:2] for line in answers(said)] == [
        ["fake/echo", "ok"],
        ["fake/other", "ok"],
        ["lab/third", "FAILS"],
    ]


def test_the_spare_models_of_a_chain_are_asked_too(tmp_path: Path) -> None:
    with FakeServer().in_thread() as server:
        said = pinged(tmp_path, scenario_text(server.url()), "--set", 'defaults.model=["fake/echo", "fake/spare"]')
        assert sorted(request.body["model"] for request in server.received) == ["echo", "spare"]
    assert said.code == 0


def test_a_reply_that_ignores_the_schema_is_said_to(tmp_path: Path) -> None:
    with FakeServer(lambda body: "Certainly! I vote for nobody.").in_thread() as server:
        said = pinged(tmp_path, scenario_text(server.url()))
    assert said.code == 0, "the game would re-ask"
    assert "but its reply does not fit the schema of vote: " in answers(said)[0]


def cutting(most: int) -> Any:
    """Return a reply function of a model that reads at most so many tokens of a prompt, and does not say so."""

    def reply(body: dict[str, Any]) -> Raw:
        answer = envelope(first_by_schema(body), model=body["model"])
        words = sum(len(message["content"]) for message in body["messages"]) // 4
        answer["usage"]["prompt_tokens"] = min(words, most)
        return Raw(body=answer)

    return reply


@pytest.mark.parametrize(("most", "code"), [(500, 3), (100_000, 0)], ids=["cut", "whole"])
def test_a_free_model_is_sent_the_longest_prompt_and_a_silent_cut_is_found(
    tmp_path: Path, most: int, code: int
) -> None:
    with FakeServer(cutting(most)).in_thread() as server:
        said = pinged(tmp_path, ollama(server.url()))
        assert len(server.received) == 2
        assert server.received[1].body["max_tokens"] == 1
    assert said.code == code
    (line,) = answers(said)
    assert ("FAILS: the context is too small: " in line) == (code == 3)
    assert ("tokens fits" in line) == (code == 0)


def test_a_free_model_that_refuses_the_longest_prompt_says_so(tmp_path: Path) -> None:
    def refusing(body: dict[str, Any]) -> str | Raw:
        if len(json.dumps(body)) < 4000:
            return first_by_schema(body)
        return Raw(400, {"error": {"message": "this exceeds the context size", "code": "exceed_context_size_error"}})

    with FakeServer(refusing).in_thread() as server:
        said = pinged(tmp_path, ollama(server.url()))
    assert said.code == 3
    assert "FAILS: a prompt of about " in answers(said)[0]
    assert "the prompt is too long" in answers(said)[0]


def test_a_model_of_the_catalogue_with_too_little_context_is_known_without_its_prompt(tmp_path: Path) -> None:
    with FakeServer().in_thread() as server:
        text = scenario_text(server.url()).replace('"fake/echo"', '"openai/gpt-4"')
        text = text.replace("[providers.fake]", '[providers.openai]\napi_key_env = "LAB_KEY"')
        said = pinged(tmp_path, text, "--set", "defaults.max_tokens=8000", env={"LAB_KEY": CANARY})
        assert len(server.received) == 1
    assert said.code == 3
    assert "FAILS: the context is too small: 8,192 tokens, and " in answers(said)[0]


def test_without_models_there_is_nobody_to_ask(tmp_path: Path) -> None:
    said = pinged(tmp_path, scenario_text("http://127.0.0.1:9/v1"), "--set", 'defaults.model="bot/random"')
    assert said.code == 0
    assert said.out.splitlines()[-1] == "ping: no player uses a model that can be asked"
