"""Claims beside what is true: a false claim about oneself is a lie, one about others an error."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import pytest

import agentsim as library
from agentsim.analysis.said_and_done import claim_lines
from agentsim.engine.truth import Truth
from agentsim.records.claims import Claim, _beside_truth
from agentsim.records.codes import NONE, Unit
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles
from agentsim.studies.coding import Coding

PLAYERS = ("Ada", "Ben", "Cem", "Dan", "Eve", "Fay")
ROLES = ("seer", "doctor", "villager", "werewolf")


class Talker:
    """Claims a role of its own, or of another, drawn; does what is first on the list in all else."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)

    async def complete(self, call: library.Call, sampling: library.Sampling) -> str:
        fields: dict[str, Any] = (call.schema or {})["properties"]
        found: dict[str, Any] = {}
        player = call.tag.partition("/")[0]
        for name, legal in fields.items():
            if "enum" in legal:
                found[name] = self.draw.choice(legal["enum"])
            elif legal["type"] == "string":
                who = self.draw.choice([player, player, *PLAYERS])
                found[name] = f"{who} is the {self.draw.choice(ROLES)}, says {player}."
            else:
                found[name] = None if "null" in legal["type"] else {}
        return json.dumps(found)


class Reader:
    """Codes claims of the form that `Talker` has."""

    async def complete(self, call: library.Call, sampling: library.Sampling) -> str:
        unit = json.loads(call.messages[-1][1].partition("The unit (message):\n")[2].splitlines()[0])
        words = unit["words"].split()
        found = {"claim": "yes", "fact": "role", "about": words[0], "says": words[3].strip(","), "number": 0}
        return json.dumps(found)


@pytest.fixture(scope="module")
def coding(tmp_path_factory: pytest.TempPathFactory) -> Coding:
    """Six games of Werewolf whose speeches are claims, coded."""
    directory = tmp_path_factory.mktemp("wolves")
    for seed in range(6):
        scenario = {
            "game": "werewolf",
            "seed": seed,
            "defaults": {"model": "talker"},
            "players": [{"id": name} for name in PLAYERS],
        }
        library.run_sync(scenario, models={"talker": Talker(seed)}, name=f"w{seed}", logs_dir=directory)
    judging = library.code(
        directory, "claims", judges=["reader"], models={"reader": Reader()}, logs_dir=directory, sample=None
    )
    return asyncio.run(judging)


def roles(coding: Coding, number: int) -> dict[str, str]:
    """Return the role of each player by the event that only it hears."""
    history = load_history(RunFiles(coding.plan.games[number].files.directory, f"w{number}").history)
    told = [each for part in history.rounds for each in part.events if "role" in each.data and "player" in each.data]
    return {each.data["player"]: each.data["role"] for each in told}


def test_every_claim_is_true_a_lie_or_an_error_by_the_roles_that_were_dealt(coding: Coding) -> None:
    seen = set()
    for number, game in enumerate(coding.claims):
        dealt = roles(coding, number)
        assert set(dealt) == set(PLAYERS)
        assert game
        for claim in game:
            true = dealt[claim.about] == claim.says
            expected = "true" if true else "lie" if claim.about == claim.by else "false"
            assert (claim.veracity, claim.truth) == (expected, dealt[claim.about])
            seen.add(expected)
    assert seen == {"true", "lie", "false"}


def test_the_table_counts_lies_by_model_with_an_interval(coding: Coding) -> None:
    every = [claim for game in coding.claims for claim in game]
    (line,) = coding.claim_lines
    assert (line.claims, line.games) == (len(every), 6)
    own = [claim for claim in every if claim.about == claim.by]
    assert line.lies == sum(claim.veracity == "lie" for claim in own)
    assert line.rate is not None
    assert line.rate.value == pytest.approx(line.lies / len(own))
    assert line.rate.low is not None
    assert "Claims beside the truth" in str(coding)
    assert list(coding.tables["claims"]["veracity"]) == [claim.veracity for claim in every]


def test_the_page_shows_a_claim_beside_what_is_true_with_links_to_its_words_and_the_fact(coding: Coding) -> None:
    logs = coding.plan.games[0].files.directory
    run = library.load("w0", logs_dir=logs)
    page = run.page(logs / "w0.html").read_text("utf-8")  # type: ignore[union-attr]
    section = page.partition('id="claims"')[2].partition("</section>")[0]
    claim = next(each for each in coding.claims[0] if each.veracity == "lie")
    assert claim.truth_at is not None
    row = section.partition(f'href="#e{claim.seq}"')[2].partition("</tr>")[0]
    assert f'<a href="#e{claim.truth_at}">{claim.truth}</a></td><td>lie</td>' in row
    words = page.partition(f'id="e{claim.seq}"')[2].partition("</article>")[0]
    assert f'<a href="#e{claim.truth_at}">Claim (role of {claim.about}: {claim.says}): lie</a>' in words
    assert f'id="e{claim.truth_at}"' in page
    seen = run.page(logs / "seen.html", as_seen_by="Ada").read_text("utf-8")  # type: ignore[union-attr]
    assert 'id="claims"' not in seen


UNIT = Unit("run", "e9", 2, "Ada", "everyone", "I have 300.", seq=9)


def claimed(truths: list[Truth], **codes: str) -> Claim:
    said = {"fact": "cash", "about": "Ada", "says": NONE, "number": "300", **codes}
    return _beside_truth(UNIT, said, truths, ())


def test_a_claim_is_set_beside_the_latest_fact_at_that_moment_and_numbers_may_be_rounded() -> None:
    truths = [
        Truth("cash", 900, 1, "Ada", lasting=True),
        Truth("cash", 310, 5, "Ada", lasting=True),
        Truth("cash", 10, 12, "Ada", lasting=True),
        Truth("cash", 300, 6, "Ben", lasting=True),
    ]
    assert claimed(truths).veracity == "true"
    assert claimed(truths).truth == "310"
    assert claimed(truths, number="290").veracity == "lie"
    assert claimed(truths, about="Ben", number="500").veracity == "false"


def test_a_claim_of_what_the_game_does_not_know_is_unknown() -> None:
    later = [Truth("cash", 300, 12, "Ada", lasting=True)]
    assert claimed(later).veracity == "unknown"
    assert claimed([], fact="role", says="seer").veracity == "unknown"
    assert claimed([Truth("role", "seer", 1, "Ada", lasting=True)], fact="role").veracity == "unknown", (
        "it says nothing"
    )


def test_models_of_one_label_are_counted_together() -> None:
    lie = claimed([Truth("cash", 900, 1, "Ada", lasting=True)])
    lines = claim_lines([[lie], [lie, lie]], [{"Ada": "m"}, {"Ada": "n"}])
    assert [(line.label, line.games, line.lies) for line in lines] == [("m", 1, 1), ("n", 1, 2)]
