"""A hostile participant changes nothing for the others: forged keys, floods, large bodies, many and slow streams."""

from __future__ import annotations

import http.client
import json
import re
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path

import pytest

from agentsim.records.run_files import RunFiles
from agentsim.runs.follower import Follower
from agentsim.scenario.load import load
from agentsim.server.stream import MOST_MESSAGES, Channel, PageAudience, Position
from tests.amounts import amounts
from tests.cli.command_line import trio
from tests.playing import play_scenario
from tests.server.site import ISLAND, Held, ServedSite, answer_to, hosted, people, playing, served, until


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServedSite, str]]:
    """A game that waits for its people, and the path of the first one's link."""
    with people(tmp_path_factory.mktemp("waiting"), 3) as (site, paths):
        yield site, paths[0]


def _flood(site: ServedSite, count: int) -> Counter[int]:
    """So many forged forms over one connection at a time; what was answered."""
    found: Counter[int] = Counter()
    connection = http.client.HTTPConnection(site.host, site.port, timeout=30)
    for number in range(count):
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": f"agentsim-{site.port}=forged{number}",
        }
        connection.request("POST", "/runs/run/steer/stop", b"said=x", headers)
        reply = connection.getresponse()
        reply.read()
        found[reply.status] += 1
    connection.close()
    return found


@amounts("many", 300, 10_000)
def test_a_hostile_participant_changes_nothing_for_the_others(tmp_path: Path, many: int) -> None:
    with Held().in_thread() as held, ExitStack() as attack, hosted(tmp_path, ISLAND.format(url=held.url())) as site:
        cookie, files = site.cookie(), RunFiles(site.logs, "run")
        page = site.get("/runs/run").text
        stream = re.search(r'data-stream="([^"]+)"', page)
        assert stream is not None
        with site.stream(stream[1].replace("&amp;", "&")) as watching:
            refused = _flood(site, many)
            assert set(refused) <= {403, 429}
            assert refused[429] > 0, "a flood is turned away before it is looked at"
            for _ in range(3):
                assert site.post("/runs/run/steer/announce", {"said": "x" * (10 * 2**20)}).status in {413, 429}
            slow = [attack.enter_context(socket.create_connection((site.host, site.port))) for _ in range(50)]
            for each in slow:
                each.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            statuses = Counter(
                attack.enter_context(site.stream("/runs/run/stream")).status for _ in range(min(many + 120, 1500))
            )
            assert set(statuses) == {200, 503}
            # The experimenter is served, and what watched before goes on.
            assert site.post("/runs/run/steer/announce", {"said": "Go on."}, Cookie=cookie).status == 303
            assert site.get("/runs/run/steer", Cookie=cookie).status == 200
            with site.stream("/runs/run/stream", Cookie=cookie) as own:
                assert own.status == 200
            held.let()
            watching.upto('id="standings"')
        until(files.history.is_file, "the end")
        text = files.history.read_text("utf-8")
        assert '"status":"completed"' in text
        assert "Go on." in text
        if many > 1_000:  # it takes the 15 seconds that such a connection has
            until(lambda: all(_closed(each) for each in slow), "a connection without a whole request is closed")


@amounts("many", 30, 3_000)
def test_a_forged_or_replayed_link_opens_no_seat_and_an_answer_counts_once(tmp_path: Path, many: int) -> None:
    with people(tmp_path, 3) as (site, paths), ExitStack() as attack:
        for path in paths:
            assert site.post(path, {"seat-step": "agree"}).status == 303
        asked = _asked(site, paths)
        question = answer_to(site.get(asked).text, "theirs")
        hostile, bystander = (path for path in paths if path != asked)
        secret = asked.rpartition("/")[2]
        near = [secret[:-1], f"{secret}A", secret.swapcase(), secret[::-1], f"{secret}%00", hostile[-9:] + secret[9:]]
        for forged in [*near, *map(str, range(many))]:
            assert site.get(f"/seat/{forged}").status == 404
            assert attack.enter_context(site.stream(f"/seat/{forged}/stream")).status == 404
            assert site.post(f"/seat/{forged}", question).status in {404, 429}
        # Who holds one link answers for no other by it, and sees neither the question nor what is told to that seat.
        assert site.post(hostile, {**question, "text": "in another's name"}).status == 303
        with site.stream(f"{asked}/stream?from=") as theirs:
            theirs.event()
            place = theirs.last_id
        with site.stream(f"{hostile}/stream", Last_Event_ID=place) as own:
            assert own.status == 200
            assert 'name="seat-decision"' not in own.event()[1]
        streams = Counter(attack.enter_context(site.stream(f"{hostile}/stream")).status for _ in range(110))
        assert set(streams) == {200, 503}, "one link has so many streams and no more"
        # The others are served as ever; what was answered once is not answered anew.
        with site.stream(f"{bystander}/stream?from=") as stream:
            assert site.post(asked, question).status == 303
            for _ in range(many):
                assert site.post(asked, {**question, "text": "again"}).status in {303, 429}
            assert "theirs" in stream.upto('data-kind="pitch"')
        lines = map(json.loads, (site.logs / "run.jsonl").read_text("utf-8").splitlines())
        assert [line["decision"]["text"] for line in lines if line["record"] == "decision"] == ["theirs"]


@pytest.mark.parametrize(
    ("body", "charset", "status"),
    [(b"seat-step=\xff\xfe", "", 400), (b"seat-step=agree", "; charset=foo", 400),
     (b"seat-step=agree", "; charset=utf-16", 400), (b"seat-step=agree", "; charset=zip", 400),
     (b"seat-step=agree", '; charset="\xe9', 400), (b"a&" * 60_000, "", 413), (b"a=%ED%A0%80&b=%00", "", 303)],
)  # fmt: skip
def test_a_form_that_cannot_be_read_is_refused_in_a_sentence(
    waiting: tuple[ServedSite, str], body: bytes, charset: str, status: int
) -> None:
    site, path = waiting
    kind = f"application/x-www-form-urlencoded{charset}"
    answer = site.ask("POST", path, body, Content_Type=kind, Origin=site.url)
    assert answer.status == status
    assert "Traceback" not in answer.text
    assert 'data-stage="welcome"' in site.get(path).text


@pytest.mark.parametrize(
    ("head", "body"),
    [("Content-Encoding: gzip\r\nContent-Length: 3", b"a=b"), ("Transfer-Encoding: chunked", b"zz\r\na=b\r\n0\r\n\r\n"),
     ("Content-Length: x", b"a=b"), ("X: \x00\r\nContent-Length: 3", b"a=b")],
)  # fmt: skip
def test_a_request_that_is_not_what_it_claims_is_refused_and_fills_no_log(
    waiting: tuple[ServedSite, str], head: str, body: bytes
) -> None:
    site, path = waiting
    request = f"POST {path} HTTP/1.1\r\nHost: {site.host}\r\nContent-Type: application/x-www-form-urlencoded\r\n{head}"
    with socket.create_connection((site.host, site.port), 20) as connection:
        connection.sendall(f"{request}\r\n\r\n".encode("latin-1") + body)
        assert re.match(rb"HTTP/1\.[01] 400 ", connection.recv(4096))
    assert (site.logs.parent / "stderr.txt").read_text("utf-8").count("\n") == 1, "the link with the key, and no more"


def test_what_pages_say_of_themselves_fills_no_memory(tmp_path: Path) -> None:
    """A position in a request is the client's word: messages are kept for a few of them, and are right for each."""
    files = play_scenario(load(trio(tmp_path)), tmp_path / "logs", env={}, stem="run").files
    follower = Follower(files)
    follower.look()
    channel = Channel(follower, PageAudience())
    channel.tell()
    channel.put(channel.drawn(follower.history(), channel.position))
    whole = channel.message(Position())
    assert len(whole[1]) > 10_000
    for number in range(1_000):
        assert channel.message(Position(f"forged{number}", number, number)) == whole
    here = channel.position
    for pieces, version in product(range(here.pieces + 1), range(here.version + 1)):
        channel.message(here._replace(pieces=pieces, version=version))
    assert len(channel._messages) <= MOST_MESSAGES
    assert channel.message(here) == (here, b"")
    assert channel.message(Position()) == whole


def _asked(site: ServedSite, paths: list[str]) -> str:
    """The seat that has a question, once one has."""
    found: list[str] = until(
        lambda: [path for path in paths if 'name="seat-decision"' in site.get(path).text], "a question"
    )
    return found[0]


def _closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_keys_are_in_no_page_no_address_and_no_file(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    play_scenario(load(trio(tmp_path)), logs, env={}, stem="run")
    with served(logs) as site:
        answer = site.get(f"/enter?key={site.keys['steer']}")
        assert answer.status == 303
        assert answer.headers["Location"] == "/"
        kept = answer.headers["Set-Cookie"]
        assert "HttpOnly" in kept
        assert "SameSite=Strict" in kept
        cookie = site.cookie()
        for path in ("/", "/runs/run", "/runs/run/steer"):
            assert site.keys["steer"] not in site.get(path, Cookie=cookie).text
        assert site.get("/enter?key=forged").status == 403
        written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        assert site.keys["steer"].encode() not in written
        site.process.terminate()
        out, err = site.process.communicate(timeout=20)
        assert site.keys["steer"] not in out + err


def test_a_server_that_other_machines_reach_demands_a_key_for_every_page(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    with Held().in_thread() as held, playing(held, logs), served(logs, "--host", "0.0.0.0") as site:
        here = ServedSite("127.0.0.1", site.port, site.process, logs, site.keys)
        for path in ("/", "/runs/run", "/runs/run/stream", "/runs/run/steer"):
            assert here.get(path).status == 403
        assert here.get("/static/logs.css").status == 200
        assert len(set(site.keys.values())) == 2
        assert min(map(len, site.keys.values())) >= 43
        watcher, own = here.cookie("watch"), here.cookie()
        until(lambda: any(b"\n" in each.read_bytes() for each in logs.glob("run.jsonl")), "the head of the run")
        assert here.get("/runs/run", Cookie=watcher).status == 200
        assert here.get("/runs/run/steer", Cookie=watcher).status == 403
        assert here.post("/runs/run/steer/stop", {}, Cookie=watcher, Origin=here.url).status == 403
        assert here.get("/runs/run/steer", Cookie=own).status == 200
        assert here.get("/", Host="evil.invalid").status == 403
