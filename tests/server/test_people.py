"""The waiting room, the clock, double submits, and that a seat's stream is its own: without a browser."""

from __future__ import annotations

import asyncio
import json
import re
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from agentsim.errors import ScenarioError
from agentsim.models.keys import Variables
from agentsim.records.fallback_rates import fallback_rates_in
from agentsim.records.journal import read_journal
from agentsim.records.load import load_history
from agentsim.records.people_file import PeopleFile
from agentsim.records.run_files import RunFiles
from agentsim.runs.follower import Follower
from agentsim.runs.replay import prove
from agentsim.runs.run import RunOptions, create_run
from agentsim.scenario.load import load
from agentsim.server import hosting
from agentsim.server.app import make_app
from agentsim.server.site import Site
from agentsim.server.stream import Channel, PageAudience, Position
from tests.cli.command_line import agentsim
from tests.playing import play_scenario

Client = Any


def island(*seats: str, **people: Any) -> dict[str, Any]:
    """An island of these models, for people who only have to come."""
    players = [{"id": "ABCDE"[index], "model": model} for index, model in enumerate(seats)]
    return {"game": "agent_island", "seed": 4, "people": people, "players": players}


def served(
    tmp_path: Path, scenario: dict[str, Any] | None, does: Callable[[Client, hosting.HostedRun], Awaitable[None]]
) -> Any:
    """Play a scenario, or go on with the run, beside a server, with someone who sends forms to it."""

    async def body() -> RunFiles:
        site, env = Site(tmp_path), Variables({})
        async with TestClient(TestServer(make_app(site), host="127.0.0.1")) as client:
            if scenario is None:
                run = await hosting.resume(site, RunFiles(tmp_path, "run"), env=env)
            else:
                session = create_run(scenario, tmp_path, RunOptions(env, served=True), name="run")
                run = hosting.host(site, session)
            await does(client, run)
            await hosting.stop_all(site)
        return run.files

    return asyncio.run(body())


async def send(client: Client, run: hosting.HostedRun, player: str, **form: str) -> tuple[int, str]:
    assert run.people is not None
    data = {f"seat-{name}" if name in {"step", "decision"} else name: text for name, text in form.items()}
    answer = await client.post(run.people.seats[player].path, data=data, allow_redirects=False)
    return answer.status, await answer.text()


async def asked(run: hosting.HostedRun, player: str) -> Any:
    """The person's question, once there is one."""
    assert run.people is not None
    seat = run.people.seats[player]
    while seat.question is None and run.playing:  # noqa: ASYNC110 - the game's own pace
        await asyncio.sleep(0.01)
    return seat.question


async def answer_all(
    client: Client, run: hosting.HostedRun, player: str, said: str, streamed: list[str] | None = None
) -> None:
    """Answer every question, with a stream only once it has come there: who reads before answering sees all."""
    while (question := await asked(run, player)) is not None:
        while streamed is not None and f'name="seat-decision" value="{question.ask.index}"' not in "".join(streamed):  # noqa: ASYNC110 - the stream has its own pace
            await asyncio.sleep(0.01)
        form = {"seat-step": "answer", "seat-decision": str(question.ask.index), "text": said, "explanation": said}
        for field in question.page.fields:
            if field.options:
                form[field.name] = field.options[0][0]
        assert (await send(client, run, player, **form))[0] == 303


def test_a_seat_that_stays_empty_is_filled_on_record_and_replayed(tmp_path: Path) -> None:
    async def does(client: Client, run: hosting.HostedRun) -> None:
        assert run.people is not None
        assert (await send(client, run, "A", step="agree"))[0] == 303
        await answer_all(client, run, "A", "hello")
        assert run.people.seats["B"].stage == "taken"
        page = await (await client.get(run.people.seats["B"].path)).text()
        assert "This seat is taken" in page
        await send(client, run, "B", step="agree")
        assert not run.people.seats["B"].ready, "who comes too late has not agreed to anything"
        assert run.people.seats["A"].stage == "done"

    files = served(tmp_path, island("web", "web", "bot/random", wait_s=0.2, fill_with="bot/loyal"), does)
    assert read_journal(files.journal).filled == {"B": "bot/loyal"}
    history = json.loads(files.history.read_text(encoding="utf-8"))
    assert [player["model"] for player in history["players"]] == ["web", "bot/loyal", "bot/random"]
    assert history["volatile"]["filled"] == {"B": "bot/loyal"}
    assert {each["source"] for each in history["decisions"] if each["player"] == "B"} == {"bot"}
    assert {each["source"] for each in history["decisions"] if each["player"] == "A"} == {"human"}
    prove(files)


def test_the_game_waits_until_all_are_there(tmp_path: Path) -> None:
    async def does(client: Client, run: hosting.HostedRun) -> None:
        assert run.people is not None
        await client.get(run.people.seats["B"].path)  # to open a link is not yet to come
        await send(client, run, "A", step="agree")
        assert run.people.here == (1, 2)
        assert run.people.seats["A"].stage == "waiting"
        assert read_journal(run.files.journal).decisions == {}
        await send(client, run, "B", step="decline")
        assert run.people.seats["B"].stage == "declined"
        assert run.people.seats["A"].stage == "waiting"
        await send(client, run, "B", step="agree")
        assert await asked(run, "A") or await asked(run, "B")

    served(tmp_path, island("web", "web", "bot/random"), does)


def test_a_clock_that_runs_out_falls_back_and_is_counted(tmp_path: Path) -> None:
    async def does(client: Client, run: hosting.HostedRun) -> None:
        await send(client, run, "A", step="agree")
        await run.ended()

    scenario = island("web", "bot/random", "bot/random")
    scenario["players"][0]["timeout_s"] = 0.05
    files = served(tmp_path, scenario, does)
    history = json.loads(files.history.read_text(encoding="utf-8"))
    mine = [each for each in history["decisions"] if each["player"] == "A"]
    assert mine
    assert {(each["source"], each["fallback_reason"]) for each in mine} == {("fallback", "no_answer")}
    assert history["usage"]["fallbacks"] == len(mine)
    assert fallback_rates_in(load_history(files.history)).whole.causes == {"person": len(mine)}
    prove(files)


def test_a_form_that_is_sent_twice_or_late_counts_once(tmp_path: Path) -> None:
    async def does(client: Client, run: hosting.HostedRun) -> None:
        await send(client, run, "A", step="agree")
        question = await asked(run, "A")
        form = {"seat-step": "answer", "seat-decision": str(question.ask.index), "text": "first"}
        answers = await asyncio.gather(*(send(client, run, "A", **{**form, "text": f"{n}"}) for n in range(5)))
        assert {status for status, _ in answers} == {303}
        assert (await send(client, run, "A", **{**form, "text": "late"}))[0] == 303
        (entry,) = [each for each in read_journal(run.files.journal).decisions.values() if each.player == "A"]
        assert entry.decision == {"text": "0"}

    served(tmp_path, island("web", "bot/random", "bot/random"), does)


def test_an_answer_that_will_not_do_comes_back_with_the_reason_and_the_form_filled(tmp_path: Path) -> None:
    async def does(client: Client, run: hosting.HostedRun) -> None:
        await send(client, run, "A", step="agree")
        question = await asked(run, "A")
        status, page = await send(client, run, "A", step="answer", decision=str(question.ask.index), text=" ")
        assert (status, "An empty answer says nothing." in page, 'aria-invalid="true"' in page) == (422, True, True)
        vote = {"seat-step": "answer", "seat-decision": str(question.ask.index), "text": "x" * 1201}
        status, page = await send(client, run, "A", **vote)
        assert status == 422
        assert "x" * 1201 in page
        assert not [each for each in read_journal(run.files.journal).decisions.values() if each.player == "A"]

    served(tmp_path, island("web", "bot/random", "bot/random"), does)


def test_a_wrong_link_is_no_seat(tmp_path: Path) -> None:
    async def does(client: Client, run: hosting.HostedRun) -> None:
        for path in ("/seat/nothing", "/seat/nothing/stream"):
            assert (await client.get(path)).status == 404
        assert (await client.post("/seat/nothing", data={"seat-step": "agree"})).status == 404

    served(tmp_path, island("web", "bot/random", "bot/random"), does)


def test_what_one_seat_is_sent_does_not_change_with_the_private_words_of_another(tmp_path: Path) -> None:
    """The noninterference of requests, on the bytes of a page and of a stream."""

    def sent_to_a(folder: Path, secret: str) -> str:
        streamed: list[str] = []

        async def does(client: Client, run: hosting.HostedRun) -> None:
            assert run.people is not None
            for player in "AB":
                await send(client, run, player, step="agree")

            async def follow() -> None:
                async with client.get(f"{run.people.seats['A'].path}/stream?from=") as answer:  # type: ignore[union-attr]
                    async for line in answer.content:  # what came before a break is looked at too
                        streamed.append(line.decode())  # noqa: PERF401 - see above

            following = asyncio.create_task(follow())
            await asyncio.gather(answer_b(client, run, secret), answer_all(client, run, "A", "open", streamed))
            await following
            streamed.append(await (await client.get(run.people.seats["A"].path)).text())

        async def answer_b(client: Client, run: hosting.HostedRun, words: str) -> None:
            while (question := await asked(run, "B")) is not None:
                form = {
                    "step": "answer",
                    "decision": str(question.ask.index),
                    "text": "open",
                    "explanation": words,
                }
                form |= {field.name: field.options[0][0] for field in question.page.fields if field.options}
                await send(client, run, "B", **form)

        files = served(folder, island("web", "web", "bot/random"), does)
        people = PeopleFile.load(files)
        assert people is not None
        assert secret in files.journal.read_text(encoding="utf-8")
        seen = "".join(line for line in streamed if line.startswith("data: ") or "<" in line)
        for each in people.people.values():
            seen = seen.replace(each.token, "TOKEN").replace(each.code, "CODE")
        return seen

    one, other = (sent_to_a(tmp_path / secret, secret) for secret in ("nightshade", "foxglove"))
    assert "nightshade" not in one
    assert "pitch" in one
    assert _parts(one) == _parts(other)


def _parts(seen: str) -> set[str]:
    """The elements that came: how many messages they came in is a matter of the machine's pace, and so is which
    states of the game's panels were drawn; of those see the test of the channel.
    """
    text = re.sub(r'<section id="panels".*?</section>|<figure.*?</figure>', "", seen.replace("data: ", ""), flags=re.S)
    return {line for line in text.splitlines() if not re.search("It is not your turn|Waiting for|(is|are) here", line)}


def test_the_panels_of_a_seat_do_not_change_with_the_private_words_of_another(tmp_path: Path) -> None:
    """Decision by decision, and to the byte: what stands on A's page once B has thought the one or the other."""

    def drawn(secret: str) -> list[str]:
        logs = tmp_path / secret
        replies = {"pitch": ["open"] * 9, "*": [json.dumps({"vote": "A", "explanation": secret})] * 9}
        script = tmp_path / f"{secret}.json"
        script.write_text(json.dumps(replies), encoding="utf-8")
        scenario = island("bot/random", f"script:{script}", "bot/random")
        del scenario["people"]
        result = play_scenario(load(scenario, allow_dirs=[tmp_path]), logs, env={}, stem="run")
        lines = result.files.journal.read_text(encoding="utf-8").splitlines(keepends=True)
        assert any(secret in line for line in lines)
        follower = Follower(RunFiles(logs, "some"))
        channel, found = Channel(follower, PageAudience("A", seated=True)), []
        for line in lines:
            with follower.files.journal.open("a", encoding="utf-8") as file:
                file.write(line)
            follower.look()
            channel.tell()
            channel.put(channel.drawn(follower.history(), channel.position))
            found.append(channel.since(Position()))
        assert any("<figure" in each for each in found)
        return found

    one, other = drawn("nightshade"), drawn("foxglove")
    assert "nightshade" not in "".join(one)
    assert one == other


def test_who_leaves_before_an_answer_is_decided_for_and_asked_nothing_more(tmp_path: Path) -> None:
    async def leaves(client: Client, run: hosting.HostedRun) -> None:
        for player in "AB":
            await send(client, run, player, step="agree")
        assert run.people is not None
        seat = run.people.seats["A"]
        await asked(run, "A")
        assert "Leave the study" in await (await client.get(seat.path)).text()
        async with client.get(f"{seat.path}/stream?from=") as stream:
            assert (await send(client, run, "A", step="withdraw"))[0] == 303
            assert "event: end" in await stream.text(), "the other page of who has left is told nothing more"
        page = await (await client.get(seat.path)).text()
        assert ("You have left the study" in page, 'id="timeline"' in page, "Leave now" in page) == (True, False, False)
        assert (await send(client, run, "A", step="agree"))[0] == 303
        assert seat.stage == "withdrawn", "there is no way back"
        await asked(run, "B")
        await run.stop()  # and on it goes in another process, where the person has still left

    async def ends(client: Client, run: hosting.HostedRun) -> None:
        assert run.people is not None
        assert run.people.seats["A"].stage == "withdrawn"
        await answer_all(client, run, "B", "hello")
        await run.ended()

    files = served(tmp_path, island("web", "web", "bot/random"), leaves)
    served(tmp_path, None, ends)
    history = json.loads(files.history.read_text(encoding="utf-8"))
    reasons = {each["player"]: (each["source"], each.get("fallback_reason")) for each in history["decisions"]}
    assert (reasons["A"], reasons["B"]) == (("fallback", "withdrawn"), ("human", None))
    assert set(fallback_rates_in(load_history(files.history)).by_player["A"].causes) == {"person"}
    kept = PeopleFile.load(files)
    assert kept is not None
    assert (kept.people["A"].withdrawn_at is not None, kept.people["A"].finished_at) == (True, None)
    prove(files)


def test_who_leaves_the_waiting_room_is_not_waited_for(tmp_path: Path) -> None:
    async def does(client: Client, run: hosting.HostedRun) -> None:
        await send(client, run, "A", step="agree")
        await send(client, run, "A", step="withdraw")
        assert run.people is not None
        assert run.people.here == (0, 1)
        await send(client, run, "B", step="agree")
        await answer_all(client, run, "B", "hello")
        assert run.people.seats["A"].stage == "withdrawn"

    files = served(tmp_path, island("web", "web", "bot/random", wait_s=60, fill_with="bot/loyal"), does)
    assert read_journal(files.journal).filled == {"A": "bot/loyal"}
    prove(files)


def test_the_waiting_room_tells_nothing_of_the_game(tmp_path: Path) -> None:
    async def does(client: Client, run: hosting.HostedRun) -> None:
        await send(client, run, "A", step="agree")
        assert run.people is not None
        async with client.get(f"{run.people.seats['A'].path}/stream?from=") as stream:
            first = ""
            while "Waiting for the others" not in first:
                first += (await stream.content.readuntil(b"\n\n")).decode()
            assert "article" not in first

    served(tmp_path, island("web", "web", "bot/random"), does)


@pytest.mark.parametrize(
    ("people", "line"),
    [
        ({"wait_s": 5}, "people: wait_s and fill_with go together"),
        ({"wait_s": 5, "fill_with": "bot/nobody"}, "people.fill_with: must be a bot of agent_island"),
        ({"konsent": "x"}, "people.konsent: unknown key (did you mean consent?)"),
    ],
)
def test_what_is_wrong_with_the_table_is_said_in_one_line(people: dict[str, Any], line: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(island("web", "bot/random", "bot/random", **people))
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_without_people_and_a_seat_without_a_server_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match='people: no player has model = "web"'):
        load(island("bot/random", "bot/random", "bot/random", completion="thanks"))
    (tmp_path / "x.toml").write_text(
        'game = "agent_island"\n[[players]]\nid = "A"\nmodel = "web"\n'
        '[[players]]\nid = "b"\ncount = 2\nmodel = "bot/random"\n'
    )
    said = agentsim("run", "x.toml", cwd=tmp_path)
    assert (said.code, "web needs a server: `agentsim run --serve`" in said.line) == (2, True)
    assert not (tmp_path / "logs").exists()


def test_the_people_of_a_run_are_exported_without_their_links(tmp_path: Path) -> None:
    async def does(client: Client, run: hosting.HostedRun) -> None:
        await send(client, run, "A", step="agree")
        path = run.people.seats["A"].path if run.people is not None else ""
        await client.post(
            path, data={"seat-step": "before", "step": "30"}
        )  # a question of that name is only a question
        await answer_all(client, run, "A", "hello")

    question = {"name": "step", "ask": "How old?", "least": 18, "most": 99}
    files = served(tmp_path / "logs", island("web", "bot/random", "bot/random", before=[question]), does)
    said = agentsim("export", "run", cwd=tmp_path)
    assert said.code == 0
    assert stat.S_IMODE((tmp_path / "logs" / "run.people.csv").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "logs" / "run.standings.csv").stat().st_mode) == 0o644
    head, row = (tmp_path / "logs" / "run.people.csv").read_text(encoding="utf-8").splitlines()
    assert head == "player,arrived_at,consented_at,declined_at,ready_at,withdrawn_at,finished_at,code,before_step"
    kept = PeopleFile.load(files)
    assert kept is not None
    assert kept.people["A"].code in row
    assert row.endswith(",30")
    assert kept.people["A"].token not in row
