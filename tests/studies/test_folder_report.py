"""`agentsim report` over folders of games: what is compared, what is left out, what the page holds."""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agentsim.analysis.finished_games import vendor
from agentsim.records.run_files import RunFiles
from agentsim.report.page import EXPLORATORY
from agentsim.studies.folder_report import slug, verdict
from tests.cli.command_line import TRIO, agentsim, trio

pytestmark = pytest.mark.usefixtures("without_workers", "few_draws")

QUIET = ("--display", "none")


def batch(tmp_path: Path, games: int, *words: str, text: str = TRIO) -> Path:
    config = trio(tmp_path, text)
    done = agentsim("batch", "--config", str(config), "--games", str(games), "--out", "b", *words, *QUIET, cwd=tmp_path)
    assert done.code == 0, done.err
    return tmp_path / "b"


def reported(folder: Path, *words: str) -> dict[str, Any]:
    said = agentsim("report", str(folder), "--json", *words, cwd=folder.parent)
    assert (said.code, said.out.count("\n")) == (0, 1), said.err
    found: dict[str, Any] = json.loads(said.out)
    return found


def test_the_report_counts_what_the_histories_say(tmp_path: Path) -> None:
    folder = batch(tmp_path, 6)
    found = reported(folder)
    histories = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("game_*.json"))]
    winners = [history["outcome"]["winner"] for history in histories]
    models = {player["id"]: player["model"] for player in histories[0]["players"]}
    for line in found["lines"]:
        assert line["wins"] == sum(models[winner] == line["label"] for winner in winners)
        assert (line["games"], line["entries"], line["cost_usd"]) == (6, 6, 0.0)
    assert sum(line["win_rate"]["value"] for line in found["lines"]) == pytest.approx(1)


def test_what_is_unfinished_or_no_history_is_left_out_and_said(tmp_path: Path) -> None:
    folder = batch(tmp_path, 3)
    history = RunFiles(folder, "game_0002").history
    history.write_text(history.read_text("utf-8").replace('"status":"completed"', '"status":"interrupted"'), "utf-8")
    (folder / "game_0003.json").write_text("{}", encoding="utf-8")
    found = reported(folder)
    assert (found["games"], sorted(found["left_out"])) == (1, ["game_0002", "game_0003"])
    said = agentsim("report", str(folder), cwd=tmp_path)
    assert (said.code, "2 left out" in said.err) == (0, True)


@pytest.mark.parametrize(
    ("players", "why"), [([], "'A' is not one of its players"), ([0, 1, 2, 0], "does not name each player once")]
)
def test_a_history_that_does_not_name_each_player_once_is_left_out(
    players: list[int], why: str, tmp_path: Path
) -> None:
    folder = batch(tmp_path, 2)
    history = RunFiles(folder, "game_0002").history
    document = json.loads(history.read_text("utf-8"))
    document["players"] = [document["players"][each] for each in players]
    history.write_text(json.dumps(document), encoding="utf-8")
    left_out = reported(folder)["left_out"]
    assert list(left_out) == ["game_0002"]
    assert left_out["game_0002"].endswith(why)
    assert "Value error" not in left_out["game_0002"]


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    assert "holds no finished game" in agentsim("report", str(tmp_path), cwd=tmp_path).line


def test_a_name_begins_no_line_of_the_terminals(tmp_path: Path) -> None:
    folder = batch(tmp_path, 1)
    history = RunFiles(folder, "game_0001").history
    name = "x\nagentsim: p = 0.001\u001b[31m\u202e" + "y" * 200
    history.write_text(history.read_text("utf-8").replace("bot/grudge", json.dumps(name)[1:-1]), encoding="utf-8")
    out = agentsim("report", str(folder), cwd=tmp_path).out
    assert "x agentsim: p = 0.001" in out
    assert "\nagentsim" not in out
    assert not {"\x1b", "\u202e"} & set(out)
    tables = [line for line in out.splitlines() if "  " in line]
    assert max(map(len, tables)) < 300


def test_a_folder_without_a_finished_game_is_refused(tmp_path: Path) -> None:
    (tmp_path / "logs" / "rotated").mkdir(parents=True)
    (tmp_path / "file").touch()
    for words in (("report", "rotatd"), ("pool", "rotatd", "--out", "pool.json")):
        where = f"neither here nor in {tmp_path / 'logs'} (did you mean rotated?)"
        assert f"rotatd: there is no such folder, {where}" in agentsim(*words, cwd=tmp_path).line
    assert "is not a directory" in agentsim("report", "file", cwd=tmp_path).line
    assert "holds no finished game" in agentsim("report", str(tmp_path), cwd=tmp_path).line


def test_identical_bots_under_different_names_are_not_told_apart(tmp_path: Path) -> None:
    same = TRIO.replace("bot/grudge", "bot/random").replace("bot/loyal", "bot/random")
    found = reported(batch(tmp_path, 40, "--rotate", text=same))
    assert (found["by"], found["null_p"] > 0.05) == ("player", True)


FIRST = ("Standings", "Scores", "Calls and cost")
FURTHER = ("Ratings", "Ranks by strength", "Head to head", "Seats", "Order of speaking")


def test_a_report_has_one_rating_scores_and_costs_and_the_rest_on_request(tmp_path: Path) -> None:
    folder = batch(tmp_path, 4)
    out = agentsim("report", str(folder), cwd=tmp_path).out
    assert [title for title in (*FIRST, *FURTHER) if f"\n{title}\n" in out] == [*FIRST]
    heads = [line.split("  ") for line in out.splitlines() if "win rate" in line]
    assert len(heads) == 1
    assert "rating" in heads[0][-1]
    assert "rounds survived" in out
    whole = agentsim("report", str(folder), "--exploratory", cwd=tmp_path).out
    assert [title for title in (*FIRST, *FURTHER) if f"\n{title}\n" in whole] == [*FIRST, *FURTHER]


def test_the_page_holds_every_part_and_the_pages_that_it_links_to_are_there(tmp_path: Path) -> None:
    folder = batch(tmp_path, 6)
    RunFiles(folder, "game_0001").page.write_text("mine", encoding="utf-8")
    said = agentsim("report", str(folder), "--html", cwd=tmp_path)
    assert (said.code, said.err) == (0, f"page: {folder / 'index.html'}\n")
    text = (folder / "index.html").read_text("utf-8")
    assert re.findall(r'href="(game_\d+.html)"', text) == [f"game_000{number}.html" for number in range(1, 7)]
    assert all(RunFiles(folder, f"game_000{number}").page.is_file() for number in range(1, 7))
    assert RunFiles(folder, "game_0001").page.read_text("utf-8") == "mine"
    first = text.partition("<dl")[0]
    assert "ean ranks" in first
    facts = text.partition("<dl")[2].partition("</dl>")[0]
    for label, value in (("Models", "bot/loyal"), ("Played", ""), ("Config", "trio.toml")):
        assert value in facts.partition(f"<dt>{label}</dt>")[2].partition("</dd>")[0]
        assert f"<dt>{label}</dt>" in facts
    won = json.loads(RunFiles(folder, "game_0001").history.read_bytes())
    models = {player["id"]: player["model"] for player in won["players"]}
    assert f"{won['outcome']['winner']} ({models[won['outcome']['winner']]})" in text
    shown, _, folded = text.partition('<section id="exploratory"')
    assert all(f">{title}</h3>" in shown for title in FIRST)
    assert all(f">{title}</h3>" in folded.partition("</section>")[0] for title in FURTHER)
    assert folded.lstrip('"').partition("<details>")[0].count("<h3") == 0
    assert "sign-flip test: p = " in first
    assert text.count("<svg") >= 2
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")


def test_a_models_maker_is_read_off_its_name() -> None:
    assert vendor("openrouter/openai/gpt-5-mini") == "openai"
    assert vendor("gemini/gemini-2.5-flash") == "gemini"
    assert vendor("openrouter/x-ai/grok > openai/gpt-5") == "x-ai"


SIDEBARS = '[game_config]\nphases = ["sidebars", "pitches", "votes"]\n'


def with_sidebars(tmp_path: Path) -> Path:
    """Five games without sidebars and five with them, each five a batch."""
    batch(tmp_path, 5).rename(tmp_path / "plain")
    text = TRIO.replace("seed = 7\n", f"seed = 8\n{SIDEBARS}")
    batch(tmp_path, 5, text=text).rename(tmp_path / "sidebars")
    both = tmp_path / "both"
    both.mkdir()
    for folder in ("plain", "sidebars"):
        for path in (tmp_path / folder).glob("game_*.json"):
            (both / f"{folder}_{path.name}").write_bytes(path.read_bytes())
    return both


def test_conditions_are_named_and_never_pooled_unless_asked(tmp_path: Path) -> None:
    folder = with_sidebars(tmp_path)
    said = agentsim("report", str(folder), "--exploratory", cwd=tmp_path).out
    plain, sidebars = ('game_config.phases=["pitches", "votes"]', 'game_config.phases=["sidebars", "pitches", "votes"]')
    assert f"10 games of agent_island in 2 conditions, not pooled: {plain} (5), {sidebars} (5)" in said.splitlines()[0]
    for title in (
        "Conditions",
        f"Conditions: {sidebars} vs. {plain}",
        *(f"Standings ({each})" for each in (plain, sidebars)),
    ):
        assert f"\n{title}\n" in said
    found = reported(folder)
    assert [(each["condition"], each["games"]) for each in found["parts"]] == [(plain, 5), (sidebars, 5)]
    assert {each["measure"] for each in found["differences"]} >= {"rank", "win", "rounds_survived"}
    pooled = reported(folder, "--pool")
    assert (pooled["games"], pooled["condition"], pooled["differences"]) == (10, "", [])
    apart = agentsim("report", "plain", "sidebars", "--json", cwd=tmp_path)
    assert [each["games"] for each in json.loads(apart.out)["parts"]] == [5, 5]


def test_planned_comparisons_stand_apart(tmp_path: Path) -> None:
    folder = with_sidebars(tmp_path)
    said = agentsim(
        "report", str(folder), "--exploratory", "--html", "--planned", "game_config.phases", cwd=tmp_path
    ).out
    planned, _, exploratory = said.partition("\nExploratory")
    assert "\nConditions\n" in planned
    assert "\nStandings" in exploratory
    assert "\nStandings" not in planned
    page = (folder / "index.html").read_text("utf-8")
    assert (
        page.index('id="planned"') < page.index("Conditions:") < page.index('id="panels"') < page.index("Standings (")
    )
    wrong = agentsim("report", str(folder), "--planned", "luck", cwd=tmp_path)
    assert (wrong.code, "luck is neither a table here nor a setting that varies" in wrong.line) == (2, True)


def test_what_was_not_named_beforehand_is_said_to_be_exploratory(tmp_path: Path) -> None:
    folder = batch(tmp_path, 2)
    said = " ".join(agentsim("report", str(folder), cwd=tmp_path).out.split())
    assert said.count(EXPLORATORY) == 1
    assert said.index(EXPLORATORY) < said.index("Suggested sentence")


def test_seats_that_a_batch_spreads_unevenly_are_said_to_be_uneven(tmp_path: Path) -> None:
    found = reported(batch(tmp_path, 8, "--rotate"), "--by", "player")
    label, fewest, most = found["uneven"]["seat"]
    assert (fewest, most) == (2, 3), "eight games, three seats"
    (seats,) = (each["sentence"] for each in found["sentences"] if each["title"] == "Seats")
    assert f"seats were uneven ({label}: 2 to 3 times in each)" in seats
    (tmp_path / "even").mkdir()
    found = reported(batch(tmp_path / "even", 6, "--rotate"), "--by", "player")
    assert found["uneven"]["seat"] is None
    (seats,) = (each["sentence"] for each in found["sentences"] if each["title"] == "Seats")
    assert "uneven" not in seats


def test_a_very_small_p_value_is_never_said_to_be_nothing() -> None:
    assert "sign-flip test: p < 0.001, 14 games" in verdict_of(0.0004, 1.5, 2.5)


def verdict_of(p: float, *mean_ranks: float) -> str:
    """The verdict of players A, B, ... with these mean ranks."""
    lines = [
        SimpleNamespace(label=label, mean_rank=SimpleNamespace(value=mean_rank))
        for label, mean_rank in zip("ABC", mean_ranks, strict=False)
    ]
    part: Any = SimpleNamespace(
        table=SimpleNamespace(null_p=p, lines=lines), condition=SimpleNamespace(ranked=range(14))
    )
    return str(verdict(cast("Any", SimpleNamespace(groups=[SimpleNamespace(parts=[part])], whole=part, designs=()))))


def test_a_tie_names_no_best_and_no_difference_names_none() -> None:
    assert "A has the best" in verdict_of(0.001, 1.0, 2.0, 3.0)
    assert "A and B share the best" in verdict_of(0.001, 1.5, 1.5, 3.0)
    assert (
        verdict_of(0.5, 1.9, 2.0, 2.1) == "Mean ranks do not differ detectably (sign-flip test: p = 0.500, 14 games)."
    )


def test_models_that_a_batch_rotates_are_a_planned_comparison(tmp_path: Path) -> None:
    folder = batch(tmp_path, 3, "--models", "bot/loyal,bot/grudge")
    said = {each["title"]: each["planned"] for each in reported(folder)["sentences"]}
    assert (said["Standings"], said["Ratings"], said["Seats"]) == (True, True, False)


def test_a_table_is_planned_by_one_name_on_the_page_and_in_numbers(tmp_path: Path) -> None:
    folder = batch(tmp_path, 3, "--models", "bot/loyal,bot/grudge")
    titled = {slug(each["title"]): each["title"] for each in reported(folder)["sentences"]}
    assert "for-and-against-each-other" in titled
    for name in sorted({*titled} & {*reported(folder)["tables"]}):
        found = json.loads(agentsim("report", str(folder), "--json", "--planned", name, cwd=tmp_path).out)
        assert {row["planned"] for row in found["tables"][name]} == {True}, name
        assert next(each["planned"] for each in found["sentences"] if each["title"] == titled[name]), name


def test_tables_are_written_in_numbers_with_what_varies_and_the_sentence(tmp_path: Path) -> None:
    folder = with_sidebars(tmp_path)
    assert agentsim("report", str(folder), "--format", "csv", "--out", "tables", cwd=tmp_path).code == 0
    with (tmp_path / "tables" / "standings.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["condition"] for row in rows} == {each["condition"] for each in reported(folder)["parts"]}
    assert all(float(row["win_rate_low"]) <= float(row["win_rate"]) <= float(row["win_rate_high"]) for row in rows)
    gaps = reported(folder)["tables"]["differences"]
    assert all(row["sentence"].startswith(f"The difference in the mean {row['measure']} of ") for row in gaps)
    assert (
        agentsim("report", str(folder), "--out", "x", cwd=tmp_path).line
        == "--out: needs --format csv, latex or markdown"
    )
    assert agentsim("export", str(folder), cwd=tmp_path).code == 0
    with (folder / "both.usage.csv").open(encoding="utf-8") as file:
        assert {row["game_config.phases"] for row in csv.DictReader(file)} == {
            '["pitches", "votes"]',
            '["sidebars", "pitches", "votes"]',
        }


def test_every_table_says_what_one_may_write(tmp_path: Path) -> None:
    folder = batch(tmp_path, 8, "--rotate")
    found = reported(folder)
    silent = [each["title"] for each in found["sentences"] if not each["sentence"]]
    assert silent == ["Calls and cost"], "nothing was paid for"
    line = found["lines"][0]
    (standings,) = (each["sentence"] for each in found["sentences"] if each["title"] == "Standings")
    assert f"{line['label']} came first in {line['win_rate']['value']:.0%}" in standings
    assert "8 games" in standings


def test_several_games_have_tables_each(tmp_path: Path) -> None:
    folder = batch(tmp_path, 4)
    text = 'game = "werewolf"\nseed = 3\n' + "".join(
        f'[[players]]\nid = "{player}"\nmodel = "bot/random"\n' for player in "ABCDEF"
    )
    other = tmp_path / "other"
    other.mkdir()
    done = batch(other, 4, text=text)
    found = json.loads(agentsim("report", str(folder), str(done), "--by", "player", "--json", cwd=tmp_path).out)
    assert [each["game"] for each in found["parts"]] == ["agent_island", "werewolf"]
    said = agentsim("report", str(folder), str(done), "--by", "player", cwd=tmp_path).out
    assert "\nStandings (agent_island)\n" in said
    assert "\nStandings (werewolf)\n" in said


def test_turns_are_shown_where_chance_drew_them_alone(tmp_path: Path) -> None:
    assert reported(batch(tmp_path, 2))["turn"]
    bots = ("shark", "turtle")
    text = 'game = "monopoly"\nseed = 3\n[game_config]\nmax_turns = 4\n' + "".join(
        f'[[players]]\nid = "{bot}"\nmodel = "bot/{bot}"\n' for bot in bots
    )
    other = tmp_path / "other"
    other.mkdir()
    assert reported(batch(other, 2, text=text))["turn"] == [], "the order of talk is the policies' own"
