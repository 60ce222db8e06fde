"""A person codes in a browser: one unit after the other, blind to the judges, and nothing sent is lost."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe

from agentsim.records.codes import Codes, codes_of
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles
from agentsim.studies.coding import PERSON, Coding, CodingPlan, load_codebook
from benchmarks.promises_world import coded, meaning, played
from tests.chromium import chromium
from tests.cli.processes import CommandProcess, in_a_process

SECRET_JUDGE = "python:scripted"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two games that a judge has coded."""
    directory = tmp_path_factory.mktemp("world")
    played(directory, 2)
    coded(directory, sample=None)
    return directory


@contextmanager
def desk(directory: Path, *words: str, sample: int = 12) -> Iterator[tuple[str, CommandProcess]]:
    """Run `agentsim code --human` in a process; yield the link and the process."""
    given = ("--codebook", "promises", "--human", "--sample", str(sample), "--port", "0", "--logs-dir", ".", *words)
    process = CommandProcess("code", ".", *given, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    link = process.stdout.readline().strip()
    assert link.startswith("http://127.0.0.1:"), (link, process.stderr)
    try:
        yield link, process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=20)


def ask(link: str, form: dict[str, str] | None = None, **headers: str) -> tuple[int, str]:
    at = urlsplit(link)
    connection = http.client.HTTPConnection(at.hostname or "", at.port or 0, timeout=20)
    try:
        if form is None:
            connection.request("GET", at.path, headers=headers)
        else:
            kind = {"Content-Type": "application/x-www-form-urlencoded", **headers}
            connection.request("POST", at.path, urlencode(form), kind)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def answers(page: str) -> dict[str, str]:
    """Return a person's form for the unit of a page, who knows what the words of the world mean."""
    words = unescape(re.findall(r'<blockquote class="said">(.*?)</blockquote>', page, re.DOTALL)[0])
    kind, whom = meaning(re.sub("<.*?>", "", words))
    form = {"code-unit": unescape(re.findall(r'name="code-unit" value="(.*?)"', page)[0])}
    if kind != "promise":
        return {**form, "promise": "no"}
    details = {"to": whom, "will": "will not", "deed": "voted to eliminate", "whom": whom, "until": "this round"}
    return {**form, "promise": "yes", **details}


def test_a_person_codes_a_sample_blind_and_the_judge_is_corrected_by_it(world: Path) -> None:
    with desk(world, sample=30) as (link, process):
        forms = []
        for number in range(30):
            status, page = ask(link)
            assert status == 200
            assert f"{number} of 30 coded" in page
            assert SECRET_JUDGE not in page, "no judge, no model"
            forms.append(answers(page))
            assert ask(link, forms[-1])[0] == 303
        assert "All is coded." in ask(link)[1]
        assert process.wait(20) == 0, "it ends by itself"
        assert process.stdout is not None
        said = process.stdout.read()
        assert "human: 30 of 30 units" in said
        assert "Rogan-Gladen" in said
    plan = CodingPlan.of(str(world), load_codebook("promises"), world, sample=30)
    found = Coding.read(plan)
    assert [coder.person for coder in found.coders] == [False, True]
    order = [f"{unit.run} {unit.anchor}" for _, unit in plan.chosen]
    assert [form["code-unit"] for form in forms] == order, "in the drawn order, across games"
    for path in world.glob(f"*.{PERSON}.codes"):
        path.unlink()


def test_judges_and_a_person_code_at_once_and_neither_waits(world: Path) -> None:
    with desk(world, "--judge", "bot/random", sample=3) as (link, process):
        for _ in range(3):
            assert ask(link, answers(ask(link)[1]))[0] == 303
        assert process.wait(20) == 0
        assert process.stdout is not None
        said = process.stdout.read()
    assert "human: 3 of 3 units" in said
    assert "bot/random: 3 of 3 units" in said
    for path in (*world.glob(f"*.{PERSON}.codes"), *world.glob("*.bot-random-*.codes")):
        path.unlink()


def test_a_port_that_is_taken_is_said_in_one_line(world: Path) -> None:
    with desk(world) as (link, _):
        port = str(urlsplit(link).port)
        words = ("--codebook", "promises", "--human", "--judge", "bot/random", "--port", port, "--logs-dir", ".")
        said = in_a_process("code", ".", *words, cwd=world)
        assert (said.code, said.out) == (2, "")
        assert said.line == f"--port {port}: Address already in use (0 takes a free one)"


def test_what_was_sent_survives_a_kill_and_is_not_asked_again(world: Path) -> None:
    with desk(world) as (link, process):
        for _ in range(3):
            assert ask(link, answers(ask(link)[1]))[0] == 303
        twice = answers(ask(link)[1])
        assert ask(link, twice)[0] == 303
        assert ask(link, twice)[0] == 303, "a form sent twice changes nothing"
        assert "4 of 12 coded" in ask(link)[1]
        process.kill()
        process.wait()
    assert sum(len(Codes.read(path).units) for path in world.glob(f"*.{PERSON}.codes")) == 4
    with desk(world) as (link, process):
        assert "4 of 12 coded" in ask(link)[1]
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    for path in world.glob(f"*.{PERSON}.codes"):
        path.unlink()


def test_what_is_not_legal_is_said_at_the_form_and_records_nothing(world: Path) -> None:
    with desk(world) as (link, _):
        form = answers(ask(link)[1])
        status, page = ask(link, {**form, "promise": "perhaps"})
        assert (status, "That will not do: One of these, please: no, yes." in unescape(page)) == (422, True)
        assert "0 of 12 coded" in ask(link)[1]
        assert not list(world.glob(f"*.{PERSON}.codes"))


def test_other_links_other_sites_and_pages_of_runs_are_refused(world: Path) -> None:
    with desk(world) as (link, _):
        base = link.rpartition("/code/")[0]
        assert ask(f"{base}/code/other")[0] == 404
        assert ask(f"{base}/")[0] == 404
        assert ask(f"{base}/runs/g1")[0] == 404, "a run's page would show models and judges"
        assert ask(link, answers(ask(link)[1]), Origin="http://evil.example")[0] == 403


def test_the_page_works_in_a_browser_and_passes_axe(world: Path) -> None:
    with desk(world) as (link, _), chromium() as browser:
        page = browser.new_page()
        page.goto(link)
        results = Axe().run(page)
        assert results.violations_count == 0, results.generate_report()
        page.get_by_label("no", exact=True).check()
        page.get_by_role("button", name="Next").click()
        page.get_by_text("1 of 12 coded").wait_for()
        page.close()
    for path in world.glob(f"*.{PERSON}.codes"):
        path.unlink()


def test_a_persons_codes_of_a_run_have_no_model_and_no_attempt(world: Path) -> None:
    with desk(world, sample=1) as (link, process):
        assert ask(link, answers(ask(link)[1]))[0] == 303
        assert process.wait(20) == 0
    (path,) = world.glob(f"*.{PERSON}.codes")
    files = RunFiles(world, path.name.partition(".")[0])
    mine = next(codes for codes in codes_of(files) if codes.person)
    assert (mine.coder, mine.failed, mine.usage.calls) == (PERSON, 0, 0)
    assert load_history(files.history).outcome is not None
    path.unlink()
