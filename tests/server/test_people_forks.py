"""Forks of a run with people: each person's seat has a link of the fork's own, unless a bot takes it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from agentsim.records.journal import read_journal
from agentsim.records.load import load_history
from agentsim.records.people_file import PeopleFile
from agentsim.records.run_files import RunFiles
from agentsim.runs.replay import prove
from tests.server.site import ServedSite, answer_to, hosted, until

PEOPLE = """\
game = "agent_island"
seed = 5
[people]
{people}
[[players]]
id = "A"
model = "web"
[[players]]
id = "B"
model = "web"
[[players]]
id = "C"
model = "bot/random"
"""


@pytest.fixture
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[ServedSite]:
    """A game in which both have come and have pitched; a test's parameter is its table `people`."""
    with hosted(tmp_path, PEOPLE.format(people=getattr(request, "param", ""))) as site:
        links = links_of(site, "run")
        come(site, links)
        journal = RunFiles(site.logs, "run").journal
        until(lambda: answered(site, links) and len(read_journal(journal).decisions) >= 3, "three pitches")
        yield site


def links_of(site: ServedSite, name: str) -> dict[str, str]:
    page = site.get(f"/runs/{name}/steer", Cookie=site.cookie()).text
    return dict(re.findall(r'aria-label="Link of (\w)" value="http://[^/]+(/seat/[^"]+)"', page))


def come(site: ServedSite, links: Mapping[str, str]) -> None:
    for link in links.values():
        assert site.post(link, {"seat-step": "agree"}).status == 303


def answered(site: ServedSite, links: Mapping[str, str]) -> bool:
    """Answer what is asked now."""
    for player, link in links.items():
        if 'name="seat-decision"' in (page := site.get(link).text):
            site.post(link, answer_to(page, f"{player} speaks in {link[-4:]}"))
    return True


def ended(files: RunFiles) -> bool:
    return files.history.is_file() and load_history(files.history).status == "completed"


def forked(site: ServedSite, **form: str) -> RunFiles:
    answer = site.steer("/runs/run/steer/fork", form)
    assert answer.status == 303, answer.text
    return RunFiles(site.logs, answer.headers["Location"].removeprefix("/runs/").removesuffix("/steer"))


def test_people_get_new_links_for_a_fork_and_play_it_from_there(site: ServedSite) -> None:
    first = RunFiles(site.logs, "run")
    old = links_of(site, "run")
    until(lambda: 'name="seat-decision"' in site.get(old["A"]).text, "A's vote")
    said = "seat that stays one gets a new link"
    assert said in site.get("/runs/run/steer", Cookie=site.cookie()).text
    kept = read_journal(first.journal).decisions.values()
    at = next(each.index for each in kept if each.player == "B")
    files = forked(site, at=str(at))
    new = links_of(site, files.name)
    assert new.keys() == old.keys()
    assert not {*new.values()} & {*old.values()}
    assert len(read_journal(files.journal).decisions) < 3
    assert 'name="seat-decision"' in site.get(old["A"]).text, "the first game goes on"
    come(site, {"A": new["A"]})
    assert 'data-stage="waiting"' in site.get(new["A"]).text, "the fork waits for its own people"
    come(site, {"B": new["B"]})
    until(lambda: answered(site, new) and ended(files), "the end of the fork")
    entries = read_journal(files.journal).decisions.values()
    assert {each.source for each in entries if each.player in new} == {"human"}
    before = {each.index: each.decision for each in kept if each.index < at}
    assert {each.index: each.decision for each in entries if each.index < at} == before
    (anew,) = [each.decision for each in entries if each.index == at]
    assert anew == {"text": f"B speaks in {new['B'][-4:]}"}
    prove(files)
    assert not ended(first)


@pytest.mark.parametrize("site", ['wait_s = 1\nfill_with = "bot/random"'], indirect=True)
def test_a_fork_is_resumed_with_its_links_and_fills_its_own_empty_seats(site: ServedSite) -> None:
    first = RunFiles(site.logs, "run")
    files = forked(site, at="3")
    new = links_of(site, files.name)
    assert site.steer(f"/runs/{files.name}/steer/stop", {}).status == 303
    assert site.steer(f"/runs/{files.name}/steer/go-on", {}).status == 303
    assert links_of(site, files.name) == new
    come(site, {"A": new["A"]})
    until(lambda: answered(site, {"A": new["A"]}) and ended(files), "the end of the fork")
    assert read_journal(files.journal).filled == {"B": "bot/random"}
    assert read_journal(first.journal).filled == {}
    assert [each.model for each in load_history(files.history).players] == ["web", "bot/random", "bot/random"]
    prove(files)


def test_a_fork_in_which_no_person_has_a_seat_is_played_to_its_end(site: ServedSite) -> None:
    files = forked(site, at="3", player="A", model="bot/random", set="players.1.model=bot/random")
    assert PeopleFile.load(files) is None
    until(lambda: ended(files), "the end of the fork")
