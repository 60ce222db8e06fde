"""The page: what it holds, how it is built, and what it never holds."""

from __future__ import annotations

import base64
import hashlib
import sys
from dataclasses import replace
from typing import Any

import pytest

from agentsim.records.history import History
from agentsim.report import timeline
from agentsim.report.markup import foreign, worded
from agentsim.report.page import PageOptions, render
from tests.report.dom import Node, parse
from tests.report.sample import PERSONAS, PITCHES, REASONING, RULES, VOTES, document, panels, sample

BARE = PageOptions()
ALL = PageOptions(include_prompts=True, include_reasoning=True, include_usage=True)
NAME = "gameplay_20260412_093005"


def page(history: History | None = None, options: PageOptions = BARE, css: str = "body { margin: 0 }") -> str:
    return render(history or sample(), panels(), options, name=NAME, css=css)


def tree(history: History | None = None, options: PageOptions = BARE) -> Node:
    return parse(page(history, options))


def changed(**fields: Any) -> History:
    return History.model_validate(document() | fields)


def event(root: Node, seq: int) -> Node:
    return root.one("article", id=f"e{seq}")


def the_event(kind: str, role: str, nth: int = 0) -> int:
    """The seq of the nth such event."""
    found = [e.seq for r in sample().rounds for e in r.events if e.kind == kind and e.role == role]
    return found[nth]


def test_kinds_of_events_are_named_as_the_game_labels_them() -> None:
    kinds = {each.attrs["value"]: each.text for each in tree().one("select", id="by-kind").all("option")}
    assert kinds["eliminated"] == "Elimination"
    assert kinds["tally"] == "Count of votes"
    assert "3\u00a0×\u00a0vote" in tree().one("section", id="players").text


def test_the_same_history_gives_the_same_bytes() -> None:
    assert page(options=ALL).encode() == page(options=ALL).encode()


def test_an_event_says_which_decision_it_is_and_how_to_play_on_from_there_in_another_way() -> None:
    decided = {e.seq: e.metadata["decision"] for r in sample().rounds for e in r.events if "decision" in e.metadata}
    assert decided
    root = tree()
    for seq, decision in decided.items():
        (line,) = root.one("article", id=f"e{seq}").all("p", cls="at")
        assert line.text == f"decision {decision}, agentsim fork {NAME} --at {decision}"
    assert not list(tree(options=PageOptions(as_seen_by="B")).all("p", cls="at")), "its reader has no such run"


@pytest.mark.parametrize("options", [PageOptions(), ALL, PageOptions(as_seen_by="B")], ids=["bare", "all", "B"])
def test_the_page_is_sound(options: PageOptions) -> None:
    root = tree(options=options)
    ids = [node.attrs["id"] for node in root.walk() if "id" in node.attrs]
    assert len(ids) == len(set(ids))
    for node in root.walk():
        assert not {name for name in node.attrs if name == "style" or name.startswith("on")}, node
        assert node.tag not in {"img", "link", "iframe", "object", "base"}
        if "href" in node.attrs:
            assert node.attrs["href"][0] == "#"
            assert node.attrs["href"][1:] in ids
        for name in ("aria-labelledby", "for"):
            assert set(node.attrs.get(name, "").split()) <= set(ids)
    assert [node.tag for node in root.all() if node.tag in {"h1", "main", "header"}][:2] == ["header", "h1"]


def test_the_policy_names_exactly_the_inlined_style_and_script() -> None:
    root = tree(options=ALL)
    policy = root.one("meta", http_equiv="Content-Security-Policy").attrs["content"]

    def sha(node: Node) -> str:
        return base64.b64encode(hashlib.sha256(node.text.encode()).digest()).decode()

    style, script = root.one("style"), root.one("script")
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{sha(style)}'; script-src 'sha256-{sha(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    head = [node.tag for node in root.one("head").all()]
    assert head.index("meta") < head.index("style"), "the policy must stand before what it governs"


def test_the_header_says_what_was_played() -> None:
    header = tree(options=ALL).one("header", cls="masthead")
    assert header.one("h1").text == NAME
    assert header.one("p", cls="kicker").text == "Agent Island: Deliberations", "the game's title"
    assert header.one("p", cls="lead").text == (
        "Gemini 2.5 Flash (C) beat GPT-5 Mini (A). The jury was tied, one vote each; the lot fell on C."
    )
    facts = {fact.one("dt").text: fact.one("dd").text for fact in header.all("div", cls="fact")}
    assert facts == {
        "Cost": "unknown",
        "Calls": "22",
        "Decisions": "19, 1 by fallback, 3 asked again",
        "Lost decisions by cause": "model 1",
        "Fallbacks by model": "Claude Haiku 4.5 20%",
        "Players": "4",
        "Seed": "7",
        "Started": "2026-04-12 09:30:05 UTC",
        "Took": "1 min 44 s",
    }
    foot = tree(options=ALL).one("footer").text
    assert "agent_island rules 1, seed 7, agentsim 0.1.0" in foot


def test_what_says_nothing_is_no_fact() -> None:
    doc = document()
    nothing = {"calls": 0, "failed_calls": 0, "reasks": 0, "fallbacks": 0, "cost_usd": 0.0}
    quiet = changed(usage={**doc["usage"], **nothing}, decisions=[], volatile={"wall_s": 0})
    facts = {node.text for node in tree(quiet).one("header", cls="masthead").all("dt")}
    assert facts == {"Cost", "Decisions", "Players", "Seed"}
    assert tree(quiet).one("header", cls="masthead").all("dd")[0].text == "none: no model was called"


def test_the_header_warns_where_fallbacks_decided_more_than_a_twentieth() -> None:
    (notice,) = tree().one("header", cls="masthead").all("p", cls="notice")
    assert notice.text.startswith("Fallbacks decided 1 of 19 (5%), by cause: model 1: ")
    made = [replace(each, source="model") for each in sample().decisions]
    assert not tree(changed(decisions=made)).one("header", cls="masthead").all("p", cls="notice")


def test_a_shared_first_place_and_no_outcome_are_said() -> None:
    standings = [{"player": p, "rank": 1, "score": {}} for p in "AB"]
    shared = changed(outcome={"reason": "Out of rounds.", "winner": None, "standings": standings})
    assert (
        tree(shared).one("p", cls="lead").text
        == "First place is shared by GPT-5 Mini (A), Claude Haiku 4.5 (B). Out of rounds."
    )
    stopped = tree(changed(outcome=None, status="stopped_budget", volatile={}))
    assert "Started" not in [node.text for node in stopped.all("dt")]
    assert "No outcome" in stopped.one("p", cls="lead").text
    assert stopped.one("dd", cls="stopped_budget").text == "Stopped at the budget; it can be resumed"
    assert not stopped.all("section", id="standings")


def test_standings_are_a_table_of_ranks_and_scores() -> None:
    table = tree().one("section", id="standings").one("table")
    assert [cell.text for cell in table.one("thead").all("th")] == [
        "Rank", "Player", "jury votes", "votes against", "fallbacks"]  # fmt: skip
    rows = [
        [cell.text.strip() for cell in row.all() if cell.tag in {"td", "th"}] for row in table.one("tbody").all("tr")
    ]
    assert rows[0] == ["1", "C winner Gemini 2.5 Flash", "1", "0", "0%"]
    assert rows[2] == ["3", "B Claude Haiku 4.5", "–", "2", "20%"]
    titles = [span.attrs["title"] for span in table.all("span", cls="model")]
    assert titles[0] == "openrouter/google/gemini-2.5-flash"


def test_every_event_is_there_once_in_order_with_its_words() -> None:
    shown = tree().one("section", id="timeline").all("article")
    events = [e for r in sample().rounds for e in r.events]
    assert [node.attrs["id"] for node in shown] == [f"e{e.seq}" for e in events]
    for node, e in zip(shown, events, strict=True):
        assert node.one("h4").text == e.heading
        assert node.one("p", cls="role").text == f"{e.seq} {e.role.removeprefix('player ')}"
        assert node.one("div", cls="said").text == e.content
        assert node.attrs["data-kind"] == e.kind
    assert [node.text for node in tree().all("h3") if node.attrs.get("id", "").startswith("round-")] == [
        "Set-up", "Round 1", "Round 2", "Final"]  # fmt: skip


def test_private_and_log_only_events_say_who_saw_them() -> None:
    root = tree()
    vote = event(root, the_event("vote", "player A"))
    assert not vote.all("div", cls="sight"), "the style sheet says of what one player alone saw that it is private"
    assert "private" in vote.classes
    message = event(root, the_event("message", "player A"))
    assert message.one("div", cls="sight").text == "Private. Seen by A, C"
    log = event(root, 2)
    assert log.one("div", cls="sight").text == "Log only. No player saw this"
    assert not event(root, 3).all("div", cls="sight")
    doc = document()
    doc["rounds"][0]["events"][1]["visibility"] = [f"p{i}" for i in range(40)]
    sight = event(tree(History.model_validate(doc)), 2).one("div", cls="sight")
    assert sight.one("summary").text == "40 players"
    assert "p39" in sight.text


def test_fallbacks_reasks_and_retries_are_badges() -> None:
    def badges(kind: str, role: str, nth: int = 0) -> list[str]:
        return [badge.text for badge in event(tree(), the_event(kind, role, nth)).all("li", cls="badge")]

    assert badges("vote", "player D") == ["Re-asked: illegal you may not vote for yourself; valid: C, A, B"]
    assert badges("vote", "player B", 1) == [
        "Fallback (model) unreadable",
        "Re-asked: unreadable no vote can be found in the reply",
        "Failed: unreadable no vote can be found in the reply",
    ]
    assert badges("pitch", "player C", 2) == ["Retried: timeout no answer within 30 s"]
    assert badges("pitch", "player A") == []
    assert "bad" in event(tree(), the_event("vote", "player B", 1)).all("li", cls="badge")[0].classes


def test_a_repair_and_a_reply_cut_short_are_badges() -> None:
    doc = document()
    doc["decisions"][0]["parse"] = {"stage": "lenient", "candidates": 1, "repaired": True}
    doc["decisions"][0]["attempts"][0]["completion"]["finish_reason"] = "length"
    labels = [b.one("strong").text for b in event(tree(History.model_validate(doc)), 3).all("li", cls="badge")]
    assert labels == ["Cut short", "Repaired"]


def test_hidden_characters_become_chips_and_joiners_of_words_stay() -> None:
    doc = document()
    doc["rounds"][1]["events"][0]["content"] = "a\u202eb\x1b[31m\x00\r c\ud800 v\u200do \U0001f469\u200d\U0001f467\nend"
    doc["rounds"][1]["events"][0]["kind"] = "odd\u202ekind"
    root = parse(render(History.model_construct(**_constructed(doc)), [], PageOptions(), name="n\u202e", css=""))
    said = event(root, 3).one("div", cls="said")
    assert [chip.text for chip in said.all("span", cls="chip")] == [
        "U+202E", "U+001B", "U+0000", "U+000D", "U+D800", "U+200D"]  # fmt: skip
    assert "\U0001f469\u200d\U0001f467\nend" in said.text
    assert event(root, 3).attrs["data-kind"] == "odd⟨U+202E⟩kind"
    assert root.one("title").text.startswith("n⟨U+202E⟩")


@pytest.mark.parametrize(
    ("text", "said", "heading"),
    [
        ("Ana 2, José 1", "<bdi>Ana 2, José 1</bdi>", '<bdi dir="ltr">Ana 2, José 1</bdi>'),
        ("Ana 2, علی 1", "<bdi>Ana 2, <bdi>علی</bdi> 1</bdi>", '<bdi dir="ltr">Ana 2, <bdi>علی</bdi> 1</bdi>'),
        ("علی רות is out", "<bdi>علی רות is out</bdi>", '<bdi dir="ltr"><bdi>علی רות</bdi> is out</bdi>'),
        ("1 علی<b>", "<bdi>1 علی&lt;b&gt;</bdi>", '<bdi dir="ltr">1 <bdi>علی</bdi>&lt;b&gt;</bdi>'),
        ("Ana <3", "Ana &lt;3", "Ana &lt;3"),
    ],
)
def test_a_name_from_right_to_left_does_not_turn_the_words_around_it(text: str, said: str, heading: str) -> None:
    assert (foreign(text), worded(text)) == (said, heading)


def _constructed(doc: dict[str, Any]) -> dict[str, Any]:
    """The fields of a history, without the validation that a lone surrogate would not pass."""
    content = doc["rounds"][1]["events"][0]["content"]
    doc["rounds"][1]["events"][0]["content"] = ""
    history = History.model_validate(doc)
    first = replace(history.rounds[1].events[0], content=content)
    round1 = history.rounds[1].model_copy(update={"events": [first, *history.rounds[1].events[1:]]})
    return {**dict(history), "rounds": [history.rounds[0], round1, *history.rounds[2:]]}


def test_a_page_as_seen_by_one_player_holds_nothing_of_the_others() -> None:
    for reader in PERSONAS:
        text = page(options=PageOptions(True, True, True, as_seen_by=reader))
        for player in set(PERSONAS) - {reader}:
            assert PERSONAS[player] not in text
            for (_, thinker), thought in REASONING.items():
                assert thinker == reader or thought not in text
            for votes in VOTES.values():
                assert player not in votes or not votes[player][1] or votes[player][1] not in text
        assert PERSONAS[reader] in text
        assert PITCHES[1]["A"].split("\n")[0] in text
        assert "The orders of speech were drawn" not in text
        assert "gpt-5-nano" not in text
        assert ("You kept me. I keep you." in text) == (reader in "AC")
        speakers = [option.text for option in parse(text).one("select", id="by-player").all("option")]
        assert "A" in speakers, "who spoke in public is known without the decision"


def test_the_work_of_a_page_grows_with_its_events() -> None:
    """Calls are counted, and no clock is looked at: four times the events may take six times the calls, not sixteen."""

    def made(count: int) -> tuple[int, str]:
        doc, calls = document(), 0
        events = [e for r in doc["rounds"] for e in r["events"]]
        many = [events[i % len(events)] | {"seq": i + 1} for i in range(count)]
        starts = range(0, count, 100)
        doc["rounds"] = [
            {"index": n, "title": f"Round {n}", "events": many[at : at + 100]} for n, at in enumerate(starts)
        ]
        history = History.model_validate(doc)

        def counting(_frame: object, _event: str, _arg: object) -> None:
            nonlocal calls
            calls += 1

        sys.setprofile(counting)
        try:
            text = page(history, ALL)
        finally:
            sys.setprofile(None)
        return calls, text

    (few, _), (more, text) = made(1_000), made(4_000)
    assert text.count('<article class="event') == 4_001
    assert few > 10_000, "or there is nothing to test"
    assert more < 6 * few


def test_a_page_of_very_many_events_is_without_their_data_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "This page is too long to hold the events' data"
    assert tree().one("section", id="timeline").all("details", cls="data")
    assert said not in tree().text
    monkeypatch.setattr(timeline, "MOST_FOLDS", 2)
    monkeypatch.setattr("agentsim.report.page.MOST_FOLDS", 2)
    assert not tree().one("section", id="timeline").all("details", cls="data")
    assert said in tree().text


# what only a flag puts on the page, and how it is folded there


def test_without_flags_there_are_no_prompts_no_reasoning_and_no_usage() -> None:
    text = page()
    for secret in (RULES, *PERSONAS.values(), *REASONING.values(), "Your reply could not be used", "your pitch please"):
        assert secret not in text
    root = parse(text)
    for cls in ("prompt", "reasoning", "of-reasoning", "usage", "cost"):
        assert not root.all(cls=cls)
    assert not root.all(id="usage")
    assert not root.all(id="scenario")
    assert "token" not in root.one("main").text.lower()
    assert "Cost" in [node.text for node in root.all("dt")], "what a game cost is no secret"


def test_prompts_and_reasoning_are_folded_under_their_event() -> None:
    root = tree(options=ALL)
    vote = event(root, the_event("vote", "player D"))
    prompt = vote.one("details", cls="prompt")
    assert "open" not in prompt.attrs
    said = list(zip((p.text for p in prompt.all("p")), (pre.text for pre in prompt.all("pre")), strict=True))
    assert said[0] == ("system", f"{RULES}\nPersona of D: {PERSONAS['D']}")
    assert said[1][0] == "user"
    assert said[2:] == [  # what the first attempt had sent already is not repeated
        ("reply", '{"vote": "D"}'),
        ("user, attempt 2", "Your reply could not be used: you may not vote for yourself; valid: C, A, B"),
        ("reply, attempt 2", '{"vote": "A", "why": "The promise is a threat to my arithmetic."}'),
    ]
    reasoning = vote.one("details", cls="reasoning")
    assert reasoning.one("div", cls="said").text == REASONING[(1, "D")]
    for node in root.all("details"):
        if "prompt" in node.classes or "reasoning" in node.classes:
            assert "open" not in node.attrs


def test_a_prompt_without_a_decision_is_shown_from_the_event() -> None:
    history = changed(decisions=[])
    first = event(tree(history, ALL), 3)
    assert RULES in first.one("details", cls="prompt").one("pre").text


def test_raw_replies_need_both_flags() -> None:
    doc = document()
    doc["texts"].append("<think>RAW THOUGHT</think>")
    doc["decisions"][0]["attempts"][0]["completion"]["text"] = len(doc["texts"]) - 1
    history = History.model_validate(doc)
    assert "RAW THOUGHT" not in page(history, PageOptions(include_prompts=True))
    assert "RAW THOUGHT" not in page(history, PageOptions(include_reasoning=True))
    assert "RAW THOUGHT" in page(history, ALL)


def test_the_second_event_of_a_decision_links_to_the_first() -> None:
    doc = document()
    doc["rounds"][1]["events"][1]["metadata"] = {"decision": 1}
    link = event(tree(History.model_validate(doc), ALL), 4).one("a", cls="elsewhere")
    assert link.attrs["href"] == "#e3"


def test_beyond_the_budget_a_repeated_text_is_a_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "PROMPT_BUDGET", 0)
    root = tree(options=ALL)
    assert RULES in event(root, 3).text
    second = event(root, 4)
    assert RULES not in second.text
    assert second.all("a", cls="again")[0].attrs["href"] == "#e3"


def test_decisions_without_an_event_are_listed() -> None:
    silent = tree().one("section", id="silent")
    assert [node.attrs["id"] for node in silent.all("article")] == ["d19"]
    assert "I was second." in silent.text


def test_usage_ends_the_page_and_an_unknown_cost_is_unknown() -> None:
    main = tree(options=ALL).one("main")
    usage = main.all("section")[-1]
    assert usage.attrs["id"] == "usage"
    rows = [[cell.text for cell in row.all() if cell.tag in {"td", "th"}] for row in usage.all("tr")]
    assert rows[1] == ["Player", "made", "failed", "re-asks", "fallbacks", "prompt", "cached", "share",
                       "completion", "reasoning", "Cost"]  # fmt: skip
    assert rows[2][0] == "A"
    assert rows[2][-1] == "$0.0018"
    assert rows[4] == ["C", "6", "1", "0", "0", "704", "352", "50%", "238", "20", "unknown"]
    assert rows[-1][0] == "In all"
    assert rows[-1][-1] == "unknown"
    assert "5 calls have no known price" in usage.text


def test_decisions_that_no_event_tells_of_and_that_are_the_same_stand_there_once() -> None:
    doc = document()
    last = doc["decisions"][-1]
    doc["decisions"] += [dict(last, index=last["index"] + more) for more in (1, 2, 3)]
    doc["decisions"][-1]["decision"] = {"summary": "Another one."}
    folded = parse(page(History.model_validate(doc))).one("section", id="silent")
    assert [node.attrs["id"] for node in folded.all("article")] == ["d19", "d22"]
    assert folded.all("summary")[0].text == "4 decisions"
    assert "and 2 more like it" in folded.all("article")[0].text
    whole = parse(page(History.model_validate(doc), ALL)).one("section", id="silent")
    assert len(whole.all("article")) == 4, "each has its own prompt"
