"""A host repeats the key in its replies, escaped or in pieces: no file or output of a run shows it."""

from __future__ import annotations

import json
import re
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from tests.amounts import one_in
from tests.cli.command_line import Said, agentsim
from tests.fakes.replies import envelope, varied_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.models.test_redaction import KEY, SPELT, shows
from tests.runs.island import FOUR, scenario_text

IN_PIECES = {
    "a thought": f"{KEY[:12]}<think>so</think>{KEY[12:]}",
    "thoughts": "<think>x</think>".join(KEY),
    "comments": "<!-- x -->".join(KEY),
    "characters without width": r"\u200b".join(KEY),
    "entities": "It&#39;s " + "".join(f"&#{ord(sign)};" for sign in KEY),
    "entities in hexadecimal": "It&#39;s " + "".join(f"&#x{ord(sign):x};" for sign in KEY),
    "an entity": f"It&#39;s {KEY[:9]}&#{ord(KEY[9])};{KEY[10:]}",
    "thoughts in escapes": r"\u003cthink\u003ex\u003c/think\u003e".join(KEY),
}
WRITTEN = list(SPELT.values())
AT_ONCE = [" ".join(WRITTEN[at : at + 3]) for at in range(0, len(WRITTEN), 3)]


def telling(spellings: list[str]) -> FakeServer:
    """Return a server that puts the next spelling of the key into each reply and its reasoning."""
    said, thought = cycle(spellings), cycle(reversed(spellings))

    def reply(body: dict[str, Any]) -> Raw:
        spelt = next(said)
        text = re.sub(r'"text \w+"', lambda _: f'"it is {spelt}"', varied_by_schema(body))
        answer = envelope(text)
        answer["choices"][0]["message"]["reasoning"] = f"hm {next(thought)}"
        return Raw(body=answer)

    return FakeServer(reply)


def play(tmp_path: Path, server: FakeServer) -> list[Said]:
    """Run, export, replay, and repeat from the recording without a key; return the outputs."""
    keyed = scenario_text(server.url(), FOUR).replace(
        "[providers.fake]\n", '[providers.fake]\napi_key_env = "LAB_KEY"\n'
    )
    (tmp_path / "island.toml").write_text(keyed, encoding="utf-8")
    run = ("run", "--config", "island.toml", "--display", "plain", "--include-reasoning", "--include-prompts")
    said = [agentsim(*run, "--name", "run", "--record", "tape.jsonl", cwd=tmp_path, env={"LAB_KEY": KEY})]
    said += [agentsim("export", "run", "--format", name, cwd=tmp_path) for name in ("csv", "chat-jsonl")]
    said.append(agentsim("replay", "run", cwd=tmp_path))
    said.append(agentsim(*run, "--name", "again", "--replay-replies", "tape.jsonl", cwd=tmp_path))
    return said


def history(tmp_path: Path, name: str = "run") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((tmp_path / "logs" / f"{name}.json").read_text(encoding="utf-8"))
    return {part: value for part, value in found.items() if part != "volatile"}


@pytest.mark.parametrize("spellings", [AT_ONCE, list(IN_PIECES.values())], ids=["escaped", "in pieces"])
def test_nothing_that_a_run_leaves_shows_the_key(spellings: list[str], tmp_path: Path) -> None:
    with telling(spellings).in_thread() as server:
        said = play(tmp_path, server)
        assert server.started["ok"] > len(spellings)
    assert [each.err for each in said if each.code not in {0, 4}] == []
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".toml", ".jsonl", ".json", ".html", ".csv"}
    left = {path.name: path.read_text(encoding="utf-8") for path in files}
    left |= {f"stream {number}": each.out + each.err for number, each in enumerate(said)}
    assert [name for name, content in left.items() if shows(content)] == []
    played = history(tmp_path)
    assert json.dumps(played["decisions"] + played["texts"]).count("[redacted]") >= len(spellings)
    assert history(tmp_path, "again") == played, "without the key the replies are read as they were"


CLIENTS: dict[str, tuple[str, str]] = {
    "openai": ("openai", ""),
    "openai over responses": ("openai", 'wire = "responses"'),
    "azure": ("azure", ""),
    "azure over responses": ("azure", 'wire = "responses"'),
    "anthropic": ("anthropic", ""),
    "anthropic over chat": ("anthropic", 'wire = "chat"'),
    "bedrock": ("bedrock", 'region = "eu-west-1"'),
    "vertex": ("vertex", 'project = "p"\nregion = "eu"'),
}
OTHERS = dict.fromkeys(
    (
        *("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"),
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID"),
        *("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "VERTEX_ACCESS_TOKEN", "GOOGLE_API_KEY"),
    ),
    "another-account",
) | dict.fromkeys(("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"), "X-Other: another-account")


@pytest.mark.parametrize("client", CLIENTS)
@one_in(3)
def test_no_client_lets_a_key_out_however_a_host_repeats_it(client: str, tmp_path: Path) -> None:
    """The host repeats the key in replies, reasoning, model names and finish reasons, in errors, and in a rejection."""
    provider, more = CLIENTS[client]
    faults = cycle(
        Raw(status, {"error": {"message": f"{KEY} is overloaded", "type": KEY, "code": KEY}}, {"X-Echo": KEY})
        for status in (500, 429, 200, 529)
    )

    def reply(body: dict[str, Any]) -> Raw:
        asked = len(server.received)
        if asked >= 20:
            return Raw(401, {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}})
        if asked % 2:
            return next(faults)
        text = re.sub(r'"text \w+"', f'"it is {KEY}"', varied_by_schema(body))
        message = {"role": "assistant", "content": text, "reasoning": f"my key is {KEY}"}
        return Raw(body=envelope(None, model=f"echo-{KEY}", message=message, finish_reason=f"done-{KEY}"))

    with FakeServer(reply).in_thread() as server:
        (tmp_path / "island.toml").write_text(
            'game = "agent_island"\nseed = 5\n[limits]\nconcurrency = 1\n'
            f'[defaults]\nmodel = "{provider}/echo"\nretry_wait_s = 0.0\nrate_limit_wait_s = 0.0\nretries = 3\n'
            f'[providers.{provider}]\nbase_url = "{server.url()}"\napi_key_env = "LAB_KEY"\n{more}\n{FOUR}',
            encoding="utf-8",
        )
        said = agentsim(
            *("run", "--config", "island.toml", "--name", "run", "--display", "plain"),
            *("--include-reasoning", "--include-prompts"),
            cwd=tmp_path,
            env={"LAB_KEY": KEY} | OTHERS,
        )
    assert said.code == 3, said.err
    assert "the key in LAB_KEY" in said.err
    left = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.is_file()}
    assert {Path(name).suffix for name in left} == {".toml", ".jsonl", ".json", ".html"}
    left["streams"] = said.out + said.err
    assert [name for name, content in left.items() if shows(content) or "another-account" in content] == []
    assert left["run.jsonl"].count("[redacted]") > 20
    for received in server.received:
        name = "api-key" if provider == "azure" else "authorization"
        assert received.headers[name].removeprefix("Bearer ") == KEY
        assert KEY not in str(received.headers | {name: ""}) + received.path + json.dumps(received.body)
        assert "another-account" not in str(received)
