"""Lost decisions by cause, in whole games: equal counts in rates, tables, exports, lists and pages."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentsim.records.fallback_rates import fallback_rates_in
from agentsim.records.load import load_history
from agentsim.report.page import PageOptions, page_of
from agentsim.runs.replay import prove
from tests.amounts import one_in
from tests.cli.command_line import agentsim
from tests.contract.harness import GAMES, on_server
from tests.fakes.replies import envelope, first_by_schema, varied_by_schema
from tests.fakes.server import FakeServer, Raw, Reply
from tests.runs.island import decided, play

LOST = {
    "http_500": ("host", Raw(500, {"error": {"message": "the server is unwell"}})),
    "bad_envelope": ("host", Raw(200, {"choices": []})),
    "rate_limited": ("host", Raw(429, {"error": {"message": "come back in a year"}}, {"Retry-After": "31536000"})),
    "content_filter": ("host", Raw(200, envelope(None, finish_reason="content_filter"))),
    "context": ("host", Raw(400, {"error": {"message": "maximum context length is 9 tokens"}})),
    "moderation": ("host", Raw(403, {"error": {"message": "flagged", "metadata": {"reasons": ["violence"]}}})),
    "refusal": ("model", Raw(200, envelope(None, message={"content": None, "refusal": "I cannot."}))),
    "empty": ("model", Raw(200, envelope(""))),
    "empty_reasoning": ("model", Raw(200, envelope("<think>Whom would I"))),
    "unreadable": ("model", Raw(200, envelope("I would rather not say."))),
}
"""The cause of each reason, and the answer of the server."""
GOES_ON = ("limits.max_fallback_rate=1", 'limits.on_provider_failure="fallback"', "defaults.reasks=0")


def sometimes(raw: Raw, otherwise: Reply) -> Reply:
    """Return a reply function that gives this answer to a third of the prompts, always the same ones."""
    return lambda body: raw if sum(json.dumps(body["messages"]).encode()) % 3 == 0 else otherwise(body)


@pytest.mark.parametrize("reason", LOST)
@one_in(3)
def test_a_loss_is_counted_for_its_cause_everywhere(reason: str, tmp_path: Path) -> None:
    cause, raw = LOST[reason]
    with FakeServer(
        lambda body: raw if decided(body) == ("C", "vote") else varied_by_schema(body)
    ).in_thread() as server:
        result = play(server.url(), tmp_path / "logs", *GOES_ON)
    history = load_history(result.files.history)
    lost = [each for each in history.decisions if each.source == "fallback"]
    assert {(each.player, each.fallback_reason, each.cause) for each in lost} == {("C", reason, cause)}
    found = fallback_rates_in(history)
    assert found.whole.causes == found.by_player["C"].causes == found.by_model["fake/echo"].causes == {cause: len(lost)}
    assert found.by_player["A"].causes == {}
    # the tables, the conversations, the list of runs, the report of one run, and its page
    words = f"{cause} {len(lost)}"
    for form, suffix in (("csv", "decisions.csv"), ("parquet", "decisions.parquet"), ("chat-jsonl", "chat.jsonl")):
        assert agentsim("export", "run", "--format", form, cwd=tmp_path).code == 0
        assert (tmp_path / "logs" / f"run.{suffix}").is_file()
    with (tmp_path / "logs" / "run.decisions.csv").open(encoding="utf-8", newline="") as file:
        cells = Counter(row["cause"] for row in csv.DictReader(file))
    assert cells == {"": len(history.decisions) - len(lost), cause: len(lost)}
    from pyarrow import parquet

    column = parquet.read_table(tmp_path / "logs" / "run.decisions.parquet").column("cause").to_pylist()
    assert Counter(column) == {None: len(history.decisions) - len(lost), cause: len(lost)}
    lines = [json.loads(line) for line in (tmp_path / "logs" / "run.chat.jsonl").read_text("utf-8").splitlines()]
    replied = [each for each in history.decisions if any(attempt.reply is not None for attempt in each.attempts)]
    assert [line["cause"] for line in lines] == [each.cause for each in replied]
    assert (cause in [line["cause"] for line in lines]) == any(each.source == "fallback" for each in replied)
    header, row = agentsim("runs", cwd=tmp_path).out.splitlines()
    assert row[header.index("lost to") :].startswith(words)
    assert json.loads(agentsim("runs", "--json", cwd=tmp_path).out)[0]["fallbacks"]["causes"][cause] == len(lost)
    page = page_of(history, PageOptions(), name="run", directory=tmp_path)
    assert f"<dt>Lost decisions by cause</dt><dd>{words}</dd>" in page
    assert f"Fallback ({cause})" in page


def test_a_loss_to_the_end_of_the_tick_is_the_deadline_s(tmp_path: Path) -> None:
    with FakeServer(latency_s=lambda body: 60.0 if decided(body) == ("C", "vote") else 0.0).in_thread() as server:
        result = play(server.url(), tmp_path, *GOES_ON, "limits.wave_deadline_s=0.3")
    found = fallback_rates_in(load_history(result.files.history))
    assert found.whole.causes == found.by_player["C"].causes == {"deadline": result.history["usage"]["late"]}


@pytest.mark.parametrize("reason", ["http_500", "empty_reasoning"])
@pytest.mark.parametrize("game", GAMES)
@one_in(4)
def test_every_game_counts_its_losses_by_cause(game: str, reason: str, tmp_path: Path) -> None:
    cause, raw = LOST[reason]
    # acts of a society that are drawn by the schema alone are often lost, too: a gift of 0
    answer = first_by_schema if game == "society" else varied_by_schema
    with FakeServer(sometimes(raw, answer)).in_thread() as server:
        result = on_server(game, server.url(), tmp_path, *GOES_ON, "defaults.retry_wait_s=0")
    assert result.error is None
    found, usage = fallback_rates_in(load_history(result.files.history)), result.history["usage"]
    lost = found.whole.fallbacks
    assert lost or (cause == "model" and found.whole.turned_away), "a game may take any reply for a decision"
    assert found.whole.causes == ({cause: lost} if lost else {})
    assert lost == usage["fallbacks"]
    assert prove(result.files).complete


def test_losses_to_several_causes_are_told_apart(tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> str | Raw:
        player, kind = decided(body)
        if kind != "vote":
            return varied_by_schema(body)
        return {"A": LOST["http_500"][1], "B": LOST["unreadable"][1]}.get(player) or varied_by_schema(body)

    with FakeServer(reply).in_thread() as server:
        result = play(server.url(), tmp_path / "logs", *GOES_ON)
    found = fallback_rates_in(load_history(result.files.history))
    assert (set(found.by_player["A"].causes), set(found.by_player["B"].causes)) == ({"host"}, {"model"})
    assert sum(found.whole.causes.values()) == found.whole.fallbacks
    assert list(found.whole.causes) == ["host", "model"]
    said = agentsim("runs", cwd=tmp_path).out
    assert f"host {found.whole.host}, model {found.whole.model}" in said
