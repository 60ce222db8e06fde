"""The ledger: what becomes of a promise by what is done, and where it stands in pages and reports."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import agentsim as library
from agentsim.analysis.said_and_done import PromisingGame, breaking_paid, promise_lines, promise_panels
from agentsim.engine.panel import DataTable, Estimates
from agentsim.records.codes import EVERYONE, OTHER, codes_of
from agentsim.records.ledger import LoggedInteraction, Promise, ledger_of, with_verdict
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles
from agentsim.report.paper import svg
from benchmarks.promises_world import coded, played
from tests.amounts import each_row
from tests.cli.command_line import agentsim

pytestmark = pytest.mark.usefixtures("few_draws")

SPARE = Promise("run", 10, 2, "Ada", "Ben", "Not you.", False, "voted against", "Ben", "this round")
GIVE = replace(SPARE, will=True, deed="gave grain", until="next round")


def did(action: str, whom: str, *, at: int = 20, round: int = 2, who: str = "Ada") -> LoggedInteraction:  # noqa: A002 - as events call it
    return LoggedInteraction(at, round, who, action, whom)


def became(
    promise: Promise, *deeds: LoggedInteraction, left: int | None = None, last: int = 9
) -> tuple[str, int | None]:
    found = with_verdict(promise, deeds, left=left, last=last)
    return found.verdict, found.verdict_at


@each_row(
    "promise, deeds, verdict, settled",
    [
        (SPARE, [did("voted against", "Ben")], "broken", 20),
        (SPARE, [did("voted against", "Cem")], "kept", 20),
        (SPARE, [did("voted against", "Cem"), did("voted against", "Ben", at=21)], "broken", 21),
        (SPARE, [did("voted against", "Ben", round=3)], "open", None),
        (SPARE, [did("voted against", "Ben", at=5)], "open", None),
        (SPARE, [did("voted against", "Ben", who="Cem")], "open", None),
        (SPARE, [did("wrote to", "Ben")], "open", None),
        (SPARE, [], "open", None),
        (replace(SPARE, until="the end"), [did("voted against", "Ben", round=7)], "broken", 20),
        (replace(SPARE, whom=EVERYONE), [did("voted against", "Cem")], "broken", 20),
        (GIVE, [did("gave grain", "Ben", round=3)], "kept", 20),
        (GIVE, [did("gave grain", "Cem", round=3)], "broken", 20),
        (GIVE, [did("gave grain", "Ben", round=4)], "broken", None),
        (GIVE, [], "broken", None),
        (replace(GIVE, until="the end"), [], "open", None),
        (replace(GIVE, whom=EVERYONE), [did("gave grain", "Cem", round=3)], "kept", 20),
        (replace(GIVE, deed=OTHER), [did("gave grain", "Ben", round=3)], "open", None),
    ],
)
def test_a_promise_is_kept_broken_or_open_by_what_is_done_in_its_time(
    promise: Promise, deeds: list[LoggedInteraction], verdict: str, settled: int | None
) -> None:
    assert became(promise, *deeds) == (verdict, settled)


def test_a_promise_whose_time_never_came_is_open() -> None:
    assert became(GIVE, last=3) == ("open", None), "the game ended in its last round"
    assert became(GIVE, left=3) == ("open", None), "the player had left"
    assert became(GIVE, left=4) == ("broken", None)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with eight coded games of a planted world."""
    directory = tmp_path_factory.mktemp("world")
    played(directory, 8, keeps=0.5)
    coded(directory, accuracy=1.0, sample=None)
    return directory


def games_of(directory: Path) -> list[PromisingGame]:
    found = []
    for number in range(1, 9):
        files = RunFiles(directory, f"g{number}")
        history = load_history(files.history)
        found.append(PromisingGame.of(files.name, history, ledger_of(files, history)))
    return found


def test_rates_by_model_have_intervals_that_hold_the_planted_rate(world: Path) -> None:
    (line,) = promise_lines(games_of(world))
    assert line.promises == line.kept + line.broken + line.open
    assert line.rate is not None
    assert line.rate.low is not None
    assert line.rate.high is not None
    # a voter breaks its word with 0.5 if the one whom it promised is on the ballot
    assert line.rate.low < 0.5 < line.rate.high + 0.1
    assert line.rate.value == pytest.approx(line.broken / (line.broken + line.kept))


def test_breaking_is_compared_between_players_and_between_branches_of_a_fork() -> None:
    def game(number: int, verdict: str, rank: float, fork: tuple[str, int, int] | None) -> PromisingGame:
        promise = replace(SPARE, verdict=verdict)  # type: ignore[arg-type]
        ranks = {"Ada": rank, "Ben": 3.0 - rank}
        return PromisingGame(f"g{number}", (promise,), {"Ada": "m", "Ben": "m"}, ranks, {}, fork)

    games = [
        game(number, verdict, rank, ("trunk", 4, number))
        for number in range(6)
        for verdict, rank in (("broken", 1.0), ("kept", 2.0 if number else 1.0))
    ]
    between, paired = breaking_paid(games)
    assert (between.paired, between.broke, between.kept) == (False, 6, 6)
    assert (paired.paired, paired.broke) == (True, 6)
    assert between.difference.value == pytest.approx(-5 / 6)
    assert paired.difference.value == pytest.approx(-5 / 6)
    assert paired.difference.low is not None
    assert [each.paired for each in breaking_paid([replace(each, fork=None) for each in games])] == [False]


def test_rates_that_coders_do_not_agree_on_are_struck_through_with_the_reason(world: Path) -> None:
    games = games_of(world)
    panel, plot, *_ = promise_panels(games, doubt="alpha 0.41 is below 0.67")
    assert isinstance(panel, DataTable)
    assert [type(cell).__name__ for cell in panel.rows[0]][-1] == "Struck"
    assert "Struck through: alpha 0.41 is below 0.67." in panel.note
    assert isinstance(plot, Estimates)
    assert [row.struck for row in plot.rows] == [True]
    drawn = svg(plot)
    assert re.search(r'<text class="row end struck"[^>]*>python:scripted<', drawn)
    assert "(struck through: alpha 0.41 is below 0.67)" in drawn
    _, sure, *_ = promise_panels(games)
    assert isinstance(sure, Estimates)
    assert 'struck"' not in svg(sure)
    (line,) = promise_lines(games)
    assert line.rate is not None
    assert (sure.rows[0].value, sure.rows[0].low, sure.rows[0].high) == (line.rate.value, line.rate.low, line.rate.high)


def test_the_figure_of_a_report_is_the_plot_that_is_asked_for(world: Path, tmp_path: Path) -> None:
    figure = ("--figure", str(tmp_path / "broken.svg"))
    assert agentsim("report", str(world), *figure, "--plot", "share-of-promises-broken", cwd=world).code == 0
    drawn = (tmp_path / "broken.svg").read_text("utf-8")
    assert "<title>Share of promises broken</title>" in drawn
    assert drawn.count('<circle class="dot') == 1
    page = agentsim("report", str(world), "--html", cwd=world)
    assert page.code == 0, page.err
    assert "Share of promises broken: the numbers are in the table below" in (world / "index.html").read_text("utf-8")
    for words, problem in (
        ((*figure, "--plot", "broken"), "--plot broken: there is no such plot in this report (plots: mean-rank, "),
        (("--plot", "broken"), "--plot: needs --figure FILE.svg"),
    ):
        refused = agentsim("report", str(world), *words, cwd=world)
        assert (refused.code, problem in refused.err) == (2, True), refused.err


def test_a_person_decides_before_judges_and_more_than_half_of_judges_among_them(world: Path, tmp_path: Path) -> None:
    class Never:
        async def complete(self, call: library.Call, sampling: library.Sampling) -> str:
            return json.dumps(dict.fromkeys((call.schema or {})["properties"], "none") | {"promise": "no"})

    for path in world.glob("g1.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    files = RunFiles(tmp_path, "g1")
    history = load_history(files.history)
    assert ledger_of(files, history)
    asyncio.run(library.code("g1", "promises", judges=["never"], models={"never": Never()}, logs_dir=tmp_path))
    assert len(codes_of(files)) == 2
    assert ledger_of(files, history) == [], "one of two judges is not more than half"


def test_the_page_links_a_promise_to_its_words_and_to_the_deed(world: Path) -> None:
    files = RunFiles(world, "g1")
    page = library.load("g1", logs_dir=world).page(world / "g1.html").read_text("utf-8")  # type: ignore[union-attr]
    promise = next(each for each in ledger_of(files, load_history(files.history)) if each.verdict_at is not None)
    section = page.partition('id="promises"')[2].partition("</section>")[0]
    assert f'href="#e{promise.seq}"' in section
    assert f'href="#e{promise.verdict_at}">{promise.verdict}</a>' in section
    words = page.partition(f'id="e{promise.seq}"')[2].partition("</article>")[0]
    assert re.search(rf'<p class="promise"><a href="#e{promise.verdict_at}">Promise \(will not', words)
    deed = page.partition(f'id="e{promise.verdict_at}"')[2].partition("</article>")[0]
    assert f'<a href="#e{promise.seq}">{promise.verdict.capitalize()} promise of {promise.by}' in deed


def test_a_page_as_one_player_saw_it_has_no_ledger(world: Path) -> None:
    run = library.load("g2", logs_dir=world)
    page = run.page(world / "seen.html", as_seen_by="Ada").read_text("utf-8")  # type: ignore[union-attr]
    assert 'id="promises"' not in page
    assert 'class="promise"' not in page


def test_the_report_of_a_folder_has_its_codes_and_promises(world: Path) -> None:
    said = agentsim("report", str(world), cwd=world)
    assert said.code == 0, said.err
    tables = said.out.split("\n\n")
    (promises,) = [table for table in tables if table.startswith("Promises\n")]
    assert re.search(r"python:scripted +8 +\d+ +\d+ +\d+ +\d+ +\d+% \(\d+% to \d+%\)", promises)
    assert any(table.startswith("Promises: rates\n") for table in tables)
    assert any(table.startswith("Whether breaking promises paid\n") for table in tables)
    found = json.loads(agentsim("report", str(world), "--json", cwd=world).out)
    assert "promises" in json.dumps(found)
    latex = agentsim("report", str(world), "--format", "latex", cwd=world).out
    assert latex.splitlines()[0] == r"% needs \usepackage{booktabs}"
    assert r"\caption{Promises}" in latex


def test_a_report_with_struck_numbers_names_the_package_that_strikes(world: Path, tmp_path: Path) -> None:
    for path in world.glob("g*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    asyncio.run(library.code(tmp_path, "promises", judges=["bot/random"], logs_dir=tmp_path))
    latex = agentsim("report", str(tmp_path), "--format", "latex", cwd=tmp_path).out
    assert latex.splitlines()[0] == r"% needs \usepackage{booktabs} and \usepackage[normalem]{ulem}"
    assert r"\sout{" in latex


@pytest.mark.parametrize(
    ("deed", "whom", "until", "words"),
    [
        ("voted to hang", "Ben", "the end", "will not: voted to hang Ben (the end)"),
        ("voted to hang", "none", "none", "will not: voted to hang anyone"),
        ("other", "Ben", "this round", "will not: something else (this round)"),
        ("none", "none", "none", "will not: something else"),
    ],
)
def test_a_promise_in_words_names_no_answer_that_means_nothing(deed: str, whom: str, until: str, words: str) -> None:
    promise = Promise("run", 1, 1, "Ada", "Ben", "I will not.", will=False, deed=deed, whom=whom, until=until)
    assert promise.what == words
