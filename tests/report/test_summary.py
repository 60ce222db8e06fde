"""The result card: model names, the margin, who led when, where the game turned, and who left it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from agentsim.engine.event import Everyone, LoggedEvent
from agentsim.engine.panel import Chart, Overview, Series, TurnedAt
from agentsim.games import find
from agentsim.games.agent_island.view import RoundBegan
from agentsim.games.agent_island.votes import Voted
from agentsim.records.events import compute_from_log, told_events
from agentsim.records.history import History
from agentsim.report.game_panels import said_and_done_table
from agentsim.report.markup import TemplateContext
from agentsim.report.page import PageOptions, render
from agentsim.report.summary import TurningPoint, exchanges, readable, summary
from agentsim.results import RecordedRun
from tests.amounts import each_row
from tests.report.dom import parse
from tests.report.sample import document, sample

RunOfConfig: TypeAlias = Callable[[str], RecordedRun]


@each_row(
    "model, name",
    [
        ("openrouter/anthropic/claude-haiku-4.5", "Claude Haiku 4.5"),
        ("openrouter/openai/gpt-5-mini", "GPT-5 Mini"),
        ("openrouter/deepseek/deepseek-chat-v3.1:free", "DeepSeek Chat v3.1"),
        ("openrouter/meta-llama/llama-3.3-70b-instruct", "Llama 3.3 70B Instruct"),
        ("lab/gpt-oss-20b > ollama/llama3.2", "GPT OSS 20B"),
        ("bot/shark", ""),
        ("human", ""),
        ("", ""),
    ],
)
def test_a_model_is_called_as_one_says_it(model: str, name: str) -> None:
    assert readable(model) == name


def standing(lowest: bool = False, **lines: tuple[float | None, ...]) -> Overview:
    """An overview of the sample's rounds 0 to 3."""
    series = tuple(Series(name, values) for name, values in lines.items())
    return Overview(Chart("Votes", "line", tuple("0123"), series, rounds=(0, 1, 2, 3)), lowest, ("jury_votes",))


def card(overview: Overview, history: History | None = None) -> TemplateContext:
    return summary(history or sample(), (), overview, {player: index for index, player in enumerate("ABCD")})


def test_the_lead_changes_where_another_is_ahead_and_a_tie_changes_nothing() -> None:
    assert card(standing(A=(1, 1, 1, 1), B=(0, 1, 2, 3))).leads == [2]
    assert card(standing(True, A=(1, 1, 1, 1), B=(0, 1, 2, 3))).leads == [2]
    assert card(standing(A=(0, 0, 0, 0), B=(0, 0, 0, 0))).leads == []
    assert card(standing(A=(2, 2, None, None), B=(1, 1, 1, 1))).leads == [2]
    assert card(standing(village=(2, 0, 2, 0), wolves=(0, 2, 0, 2))).leads == [], "only players lead"


def test_the_largest_change_is_linked_to_the_event_that_gives_its_number() -> None:
    [point] = [p for p in card(standing(A=(0, 0, 0, 0), D=(0, 3, 3, 3))).points if p.what == "Largest change"]
    assert (point.who, point.round) == ("D", 1)
    assert point.text.startswith("votes +3")
    event = next(e for r in sample().rounds for e in r.events if f"e{e.seq}" == point.anchor)
    assert event.kind == "tally"


def test_no_event_explains_a_change_of_another_size() -> None:
    [point] = [p for p in card(standing(A=(0, 0, 0, 0), D=(0, 77, 77, 77))).points if p.what == "Largest change"]
    assert (point.text, point.anchor) == ("votes +77", "round-1")


def test_the_margin_is_of_the_score_that_decided() -> None:
    doc = document()
    doc["outcome"]["standings"][0]["score"] = {"jury_votes": 3, "votes_against": 0}
    doc["outcome"]["standings"][1]["score"] = {"jury_votes": 2, "votes_against": 0}
    assert card(standing(), History.model_validate(doc)).margin == "3 to 2 in jury votes"
    assert card(standing()).margin == "tied at 1 in jury votes", "decided by lot"


def test_a_verdict_takes_the_place_of_a_winner() -> None:
    page = parse(render(sample(), [], PageOptions(), name="n", css="", overview=Overview(verdict="efficiency 98%")))
    lead = page.one("p", cls="lead").text
    assert lead.startswith("Efficiency 98%.")
    assert "beat" not in lead
    assert not page.all("span", cls="laurel")


SAYS: dict[str, tuple[str, ...]] = {
    "agent_island_bots": ("beat", "in jury votes.", "voted for ", "First to leave", "Last change of the lead"),
    "auction": ("beat", "in quality", "required components for", "Decided", "Best bargain"),
    "monopoly_bots": ("beat", "in net worth", "in rent and paid", "First to leave", "Largest change"),
    "werewolf_bots": ("The werewolves won: ", "The village hanged", "First to leave", "Decided", "seer", "doctor"),
    "smith_1962": ("Efficiency 100.0% in 5 periods, Smith's alpha", "in equilibrium", "Supply and demand", "nearest"),
    "market_bots": ("beat", "in capital", "units and sold", "Largest change", "Last change of the lead"),
    "society_bots": ("agents are active after", "Gini coefficient", "food made", "First law", "Closest vote", "median"),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "society_bots")) for name in SAYS]
)
def test_the_first_screen_of_every_game_answers(run_of_config: RunOfConfig, tmp_path: Path, name: str) -> None:
    text = run_of_config(name).page(tmp_path / "page.html").read_text("utf-8")
    page = parse(text)
    first = page.one("header", cls="masthead").text + page.one("div", cls="result").text
    for words in SAYS[name]:
        assert words in first, words
    ids = {node.attrs["id"] for node in page.walk() if "id" in node.attrs}
    links = [link.attrs["href"][1:] for link in page.one("div", cls="result").all("a")]
    assert len(links) >= 2
    assert "no model was called" in first, "what it cost"
    assert set(links) <= ids
    if name == "society_bots":
        assert len(text.encode()) <= 4_000_000


def test_who_leaves_the_game_is_said_with_the_turn(run_of_config: RunOfConfig) -> None:
    history = run_of_config("monopoly_bots").typed_history
    game = find("monopoly")
    log = told_events(history, game)
    made: Any = summary(history, log, compute_from_log(game.overview, log, history), {})
    gone = [p.id for p in history.seated if p.id != history.outcome.winner] if history.outcome else []
    assert sorted(made.out) == sorted(gone)
    assert all(title.startswith("Turn ") for title in made.out.values())


def test_survival_on_the_island_agrees_with_its_standings(run_of_config: RunOfConfig) -> None:
    history = run_of_config("agent_island_bots").typed_history
    game = find("agent_island")
    panels = compute_from_log(game.panels, told_events(history, game), history)
    [chart] = [panel for panel in panels if isinstance(panel, Chart) and panel.title == "Survival"]
    assert history.outcome is not None
    said = {each.player: each.score["rounds_survived"] for each in history.outcome.standings}
    assert dict(zip(chart.x, chart.series[0].values, strict=True)) == said


@pytest.mark.parametrize(("name", "hostile"), [("monopoly_bots", False), ("werewolf_bots", True)])
def test_to_say_no_is_no_hostile_act(
    run_of_config: RunOfConfig, name: str, hostile: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentsim.report.summary.MOST_POINTS", 9)
    history = run_of_config(name).typed_history
    game = find(history.game)
    log = told_events(history, game)
    overview = compute_from_log(game.overview, log, history)
    points = summary(history, log, overview, {}).points
    assert any(point.what.startswith(("First hostile act", "First betrayal")) for point in points) == hostile


def of_island(*votes: tuple[str, str], waves: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> TurningPoint:
    """The hostile turning point of votes to eliminate, each a voter and a choice, decided in these waves."""
    monkeypatch.setattr("agentsim.report.summary.MOST_POINTS", 9)
    doc = document()
    shape = doc["rounds"][1]["events"][0]
    told, records = [LoggedEvent(RoundBegan(1, 2, tuple("ABCD"), (), ("votes",)), Everyone, 0)], [shape]
    decisions = [dict(doc["decisions"][0]) for _ in votes]
    for index, (voter, choice) in enumerate(votes, start=1):
        decisions[index - 1] |= {"index": index, "wave": waves[index - 1], "player": voter}
        told.append(LoggedEvent(Voted(voter, choice, tuple("ABCD"), "So."), (voter,), 0, voter, index))
        records.append(shape)
    doc["decisions"] = decisions
    doc["rounds"] = [
        {**doc["rounds"][1], "index": 0, "events": [{**each, "seq": at} for at, each in enumerate(records, 1)]}
    ]
    point: TurningPoint
    (point,) = [
        point
        for point in summary(History.model_validate(doc), told, Overview(), {}).points
        if point.what.startswith("First hostile")
    ]
    return point


def test_votes_at_the_same_moment_have_no_first_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    point = of_island(("D", "A"), ("B", "A"), ("A", "D"), waves=(4, 4, 4), monkeypatch=monkeypatch)
    text = "at the same moment: D and B voted to eliminate A; A voted to eliminate D"
    assert (point.what, point.who, point.text) == ("First hostile acts", None, text)


def test_a_vote_to_eliminate_is_said_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    point = of_island(("D", "A"), ("B", "A"), waves=(4, 5), monkeypatch=monkeypatch)
    assert (point.what, point.who, point.text) == ("First hostile act", "D", "voted to eliminate A")


def test_many_changes_as_large_as_the_largest_are_no_turning_point() -> None:
    points = card(standing(A=(0, 1, 1, 1), B=(0, 0, 1, 1), C=(0, 0, 0, 1))).points
    assert not [point for point in points if point.what == "Largest change"]


def test_a_course_says_why_and_names_turning_points_before_the_general_ones(run_of_config: RunOfConfig) -> None:
    history = run_of_config("agent_island_bots").typed_history
    game = find(history.game)
    log = told_events(history, game)
    overview = replace(
        compute_from_log(game.overview, log, history), turns=(TurnedAt(4, "Here", "it turned"), TurnedAt(5, "There"))
    )
    made = summary(history, log, overview, {})
    events = [event for part in history.rounds for event in part.events]
    named = [(p.what, p.text, p.anchor) for p in made.points if p.what in {"Here", "There"}]
    assert named == [("Here", "it turned", f"e{events[4].seq}"), ("There", events[5].heading, f"e{events[5].seq}")]
    assert history.outcome is not None
    jury = [event for event in events if event.kind == "vote" and event.data.get("choice") == history.outcome.winner]
    assert all(str(event.data["voter"]) in overview.why for event in jury[-2:])


def test_on_the_island_a_vote_stands_beside_what_the_voter_last_said_to_all(run_of_config: RunOfConfig) -> None:
    history = run_of_config("agent_island_bots").typed_history
    table = said_and_done_table(history, reasoning=False)
    assert table is not None
    assert table.title == "Said, explained and done"
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    events = {part.title: part.events for part in history.rounds}
    pitched = {(when, e.role): e.content for when, some in events.items() for e in some if e.kind == "pitch"}
    assert all(row["said"] == pitched.get((str(row["when"]), f"player {row['who']}")) for row in rows)
    assert sum(row["said"] is None for row in rows) == 5, "the jury, which no longer speaks"
    assert {str(row["did"]).split(" votes for ")[0] for row in rows} == {f"Player {row['who']}" for row in rows}
    sample = exchanges(table, history, {1}).sample
    assert all(sample[part] for part in ("said", "explanation", "did")), "an explanation of a vote is no thought"
    assert sample["turn"] == 1
