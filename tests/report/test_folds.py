"""Prompts, reasoning, raw replies, usage: what only a flag puts on the page, and how it is folded there."""

from __future__ import annotations

import pytest

from agentsim.history.record import History
from agentsim.report import timeline
from agentsim.report.page import PageOptions
from tests.report.dom import parse
from tests.report.sample import PERSONAS, REASONING, RULES, document
from tests.report.test_page import ALL, changed, event, page, the_event, tree


def test_without_flags_there_are_no_prompts_no_reasoning_and_no_usage() -> None:
    text = page()
    for secret in (RULES, *PERSONAS.values(), *REASONING.values(), "Your reply could not be used", "your pitch please"):
        assert secret not in text
    root = parse(text)
    for cls in ("prompt", "reasoning", "usage", "cost"):
        assert not root.all(cls=cls)
    assert not root.all(id="usage")
    assert not root.all(id="scenario")
    assert "token" not in root.one("main").text.lower()
    assert "Cost" not in [node.text for node in root.all("dt")]


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
    doc["decisions"][0]["tries"][0]["reply"] = [len(doc["texts"]) - 1]
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
