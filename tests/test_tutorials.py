"""The tutorials in docs/ are correct: their files, written as they stand, play what the page says."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from benchmarks.promises_world import OTHERS, meaning
from benchmarks.promises_world import PROMISES as WORDINGS
from tests.cli.command_line import ROOT, agentsim
from tests.cli.processes import CommandProcess
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.server.site import PATIENCE_S, ServedSite, answer_to, until
from tests.server.test_coding import answers, ask
from tests.test_docs import blocks, commands

pytestmark = pytest.mark.usefixtures("few_draws")

STUDY = (ROOT / "docs" / "tutorial_study.md").read_text(encoding="utf-8")
PROMISES = (ROOT / "docs" / "tutorial_promises.md").read_text(encoding="utf-8")
PEOPLE = (ROOT / "docs" / "tutorial_people.md").read_text(encoding="utf-8")


def write_files(page: str, folder: Path) -> None:
    """Write every block that begins with the name of a file; a text file has no comments, so its first line goes."""
    for block in blocks(page, "toml", "text", "python"):
        named = re.match(r"# ([\w./]+\.(?:toml|txt|py))\n", block)
        if named:
            path = folder / named[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block[named.end() :] if path.suffix == ".txt" else block, encoding="utf-8")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


BLOCKS = 6


@pytest.mark.usefixtures("without_workers")
@pytest.mark.slow
def test_the_study_of_personas_leads_from_toml_to_a_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake server answers in place of the provider, and fewer blocks are played."""
    write_files(STUDY, tmp_path)
    monkeypatch.chdir(tmp_path)
    design = tmp_path / "study" / "personas.toml"
    design.write_text(design.read_text("utf-8").replace("replicates = 20", f"replicates = {BLOCKS}"), encoding="utf-8")
    with FakeServer(varied_by_schema).in_thread() as server:
        lab = f'[providers.lab]\nbase_url = "{server.url()}"\n[prices."lab/m"]\ninput = 0.1\noutput = 0.1\n'
        island = tmp_path / "study" / "island.toml"
        text = island.read_text("utf-8").replace("openrouter/openai/gpt-5-mini", "lab/m")
        island.write_text(f"{text}\n{lab}", encoding="utf-8")
        said = {}
        for words in commands(STUDY):
            done = agentsim(*words, cwd=tmp_path)
            assert (done.code, "agentsim: " in done.err) == (0, False), f"{words}: {done.err}"
            said[" ".join(words)] = done.out
    personas = {request.body["messages"][0]["content"].count("promise every player") for request in server.received}
    assert personas == {0, 1}, "both personas were played"
    assert len([*(tmp_path / "logs" / "personas").glob("game_*.json")]) == 2 * BLOCKS
    table = said["report logs/personas --figure personas.svg"].split("\n\n")[1].splitlines()
    assert table[0] == "Planned effects"
    for row, measure in zip(table[2:5], ("rank", "win", "votes against"), strict=True):
        assert " ".join(row.split()).startswith(f"persona: betray vs. neutral {measure} ")
    assert r"\begin{tabular}" in (tmp_path / "tables" / "planned-effects.tex").read_text("utf-8")
    for name in ("events", "votes"):
        assert rows(tmp_path / "logs" / "personas" / f"personas.{name}.csv")
    assert "<svg" in (tmp_path / "personas.svg").read_text("utf-8")
    (loaded,) = blocks(STUDY, "python")
    exec(compile(loaded, "tutorial_study.md", "exec"), {})


def come_and_play(site: ServedSite, path: str) -> None:
    """Agree, answer the questions before, each question of the game with its first choice, and those after."""
    site.post(path, {"seat-step": "agree"})
    site.post(path, {"seat-step": "before", "age": "33"})

    def over() -> bool:
        page = site.get(path).text
        if 'name="seat-decision"' in page:
            site.post(path, answer_to(page, "Keep me."))
            return False
        if 'value="after"' not in page:
            return False
        site.post(path, {"seat-step": "after", "programs": "All of them."})
        return True

    until(over, "the questions after the game")


def test_people_and_programs_play_one_session_and_leave_the_files_that_the_page_names(tmp_path: Path) -> None:
    write_files(PEOPLE, tmp_path)
    run, export, replay = commands(PEOPLE)
    assert run[0] == "run"
    with CommandProcess(*run, "--port", "0", "--display", "none", cwd=tmp_path, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            host, _, port = process.stdout.readline().strip().partition("://")[2].partition(":")
            site = ServedSite(host, int(port), process, tmp_path / "logs")
            links = dict(process.stdout.readline().strip().split(": ", 1) for _ in range(2))
            assert [*links] == ["Ada", "Bruno"]
            paths = [link.partition(f":{port}")[2] for link in links.values()]
            with ThreadPoolExecutor() as seats:
                for done in [seats.submit(come_and_play, site, path) for path in paths]:
                    done.result()
            until((tmp_path / "logs" / "session.json").is_file, "the history")
            for words in (export, replay):
                said = agentsim(*words, cwd=tmp_path)
                assert said.code == 0, said.err
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE_S)
    for name in re.findall(r"^\| `(session\.\w+\.csv)`", PEOPLE, re.MULTILINE):
        assert rows(tmp_path / "logs" / name), name
    people = rows(tmp_path / "logs" / "session.people.csv")
    assert [(row["player"], row["before_age"], row["after_programs"]) for row in people] == [
        ("Ada", "33", "All of them."),
        ("Bruno", "33", "All of them."),
    ]
    assert {row["source"] for row in rows(tmp_path / "logs" / "session.decisions.csv")} == {"human", "bot"}


ISLANDERS = ("Ada", "Ben", "Cem", "Dan", "Eve", "Fay")
FAITHLESS = "gemini-2.5-flash"


def promising(body: Mapping[str, Any]) -> str:
    """The reply of a player that promises in a third of its pitches, or of a judge who knows the wordings.

    The model `FAITHLESS` breaks every second promise, the other none. A judge errs in a twentieth of the messages.
    """
    last = str(body["messages"][-1]["content"])
    draw = int(hashlib.sha256(json.dumps([body["messages"], body["model"]]).encode()).hexdigest(), 16)
    properties = body["response_format"]["json_schema"]["schema"]["properties"]
    if "promise" in properties:
        kind, whom = meaning(json.loads(last.partition("The unit (message):\n")[2].splitlines()[0])["words"])
        given = (kind == "promise") != (draw % 20 == 0)
        details = {"to": whom, "will": "will not", "deed": "voted to eliminate", "whom": whom, "until": "this round"}
        found = dict.fromkeys(properties, "none") | {"promise": "yes" if given else "no"}
        return json.dumps(found | details if given else found)
    if "vote" not in properties:
        words, whom = (WORDINGS if draw % 3 == 0 else OTHERS), ISLANDERS[draw // 3 % len(ISLANDERS)]
        return json.dumps({"text": words[draw // 18 % len(words)].format(x=whom)})
    ballot = properties["vote"]["enum"]
    kind, whom = meaning(re.findall(r'\(you\) pitch: "(.*?)"$', last, re.MULTILINE)[-1])
    if kind == "promise" and whom in ballot:
        breaks = FAITHLESS in body["model"] and draw % 2 == 0
        ballot = [whom] if breaks else [name for name in ballot if name != whom]
    return json.dumps({"explanation": "So.", "vote": ballot[draw // 2 % len(ballot)]})


def code_in_browser(words: list[str], folder: Path) -> str:
    """Run `agentsim code --human`, code each message that its page shows, and return what it prints."""
    with CommandProcess(*words, "--port", "0", cwd=folder, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        while "All is coded." not in (page := ask(link)[1]):
            assert ask(link, answers(page))[0] == 303
        said = process.stdout.read()
        assert process.wait(PATIENCE_S) == 0
    return str(said)


@pytest.mark.usefixtures("without_workers")
def test_the_study_of_promises_leads_from_a_question_to_a_table_and_a_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fake server answers in place of the provider, and a person codes in a browser."""
    write_files(PROMISES, tmp_path)
    monkeypatch.chdir(tmp_path)
    said = {}
    with FakeServer(promising).in_thread() as server:
        with (tmp_path / "word" / "island.toml").open("a", encoding="utf-8") as file:
            file.write(f'\n[providers.openrouter]\nbase_url = "{server.url()}"\n')
            for model in ("openai/gpt-5-mini", "google/gemini-2.5-flash", "anthropic/claude-haiku-4.5"):
                file.write(f'[prices."openrouter/{model}"]\ninput = 0.25\noutput = 2.0\n')
        for words in commands(PROMISES):
            if "--human" in words:
                said["human"] = code_in_browser(words, tmp_path)
                continue
            done = agentsim(*words, cwd=tmp_path)
            assert done.code == 0, f"{words}: {done.err}"
            said[" ".join(words[:2] + words[-1:])] = done.out + done.err
    forecast, ledger = blocks(PROMISES, "text")
    judged = said["code logs/word 2"]
    assert masked(forecast) in masked(judged), "the price depends on the provider"
    assert "human: 40 of 40 units" in said["human"]
    report = said["report logs/word share-of-promises-broken"]
    title, *lines = ledger.splitlines()
    found = report.partition(f"\n{title}\n")[2].splitlines()[: len(lines)]
    assert list(map(masked, found)) == list(map(masked, lines))
    broken = {line.split()[0].rpartition("/")[2]: int(line.split()[4]) for line in found[1:]}
    assert broken[FAITHLESS] > 3 * broken["gpt-5-mini"]
    drawn = (tmp_path / "broken.svg").read_text("utf-8")
    assert "<title>Share of promises broken</title>" in drawn
    assert drawn.count('<circle class="dot') == 2
    assert r"\caption{Promises}" in (tmp_path / "tables" / "promises.tex").read_text("utf-8")
    assert 'id="promises"' in (tmp_path / "logs" / "word" / "game_0001.html").read_text("utf-8")
    (loaded,) = blocks(PROMISES, "python")
    exec(compile(loaded, "tutorial_promises.md", "exec"), {})


def masked(text: str) -> str:
    """Return a text with its intervals left out, every number as 0 and every gap as one space."""
    without = re.sub(r" \([^()\n]*% to [^()\n]*\)", "", text)
    return " ".join(re.sub(r"\d[\d,.]*", "0", without).split())
