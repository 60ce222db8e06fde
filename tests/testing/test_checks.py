"""Every check of `agentsim.testing` sees the fault that it is for, says where, and finds nothing in a sound game."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agentsim.engine.chance import Chance
from agentsim.engine.game import bots_of
from agentsim.engine.play import GamePlay
from agentsim.games.auction.game import AgentAuction
from agentsim.testing import CHECKS, case_of, contract
from agentsim.testing.case import RANDOM, Case
from agentsim.testing.golden import playthrough
from agentsim.testing.redrawn import Draw, Redrawn
from tests.cli.command_line import ROOT, agentsim
from tests.testing.planted import case

# fault, the check that finds it, what it says
PLANTED = (
    ("votes in a view", "no_information_leak", "`extra.Ann` is"),
    ("the whole log", "no_information_leak", "`heard"),
    (
        "luck in a view",
        "no_information_leak",
        "but for draw 1 of 'luck', wave 2, Ben is asked vote (number 1): `extra` is",
    ),
    ("unchecked vote", "games_end", "AssertionError: a vote is for a player"),
    ("whispers in a view", "private_words", "which Cid does not hear"),
    ("chance in a prompt", "asking_changes_nothing", "state.0 is"),
    ("counter in a prompt", "asking_changes_nothing", "state.0 is"),
    ("mutable request", "asking_changes_nothing", "when the game is over"),
    ("set order", "same_process", "with PYTHONHASHSEED 1 and 2"),
    ("global counter", "same_seed", "played twice"),
    ("global counter", "log_replays", "the replay asks something else"),
    ("stateful bot", "bots_pure", "when asked again"),
    ("illegal fallback", "fallbacks_legal", "vote must be one of: Ben, Cid"),
    ("unshown value", "leaves_shown", "vote.extra: no prompt"),
    ("undeclared event", "games_end", "RulesBroken: Whispered is told, and is not in the game's `events`"),
    ("event for no player", "declared", "event whispered: it is told, and no player hears it"),
    ("uncounted vote", "invariants_hold", "every vote is counted"),
    ("lot by seat", "invariants_hold", "each falls on the first of those"),
    ("no warning", "warnings_true", "is turned away ('That is nothing new.') without a warning"),
    ("nameless event", "json_and_back", "event nameless: it has no heading"),
    ("window on history", "history_grows", "stands there no more"),
    ("raw words", "no_control_tokens", "'[INST]', which a player said"),
    ("hole in a prompt", "prompts_filled", "the prompt says 'None'"),
    ("no rules", "person_can_play", "there are no rules to show"),
    ("no standing", "games_end", "the standings are not of the players"),
    ("broken invariant", "games_end", "RulesBroken: after wave 1: a vote is a vote"),
    ("a table that comes and goes", "pages_and_tables", "what the log alone heard: the tables are []"),
)
BESIDE = {"golden_files", "run_replays"}
"""Checks that need files, or an installed game: below."""


def test_every_check_has_a_planted_fault() -> None:
    assert {check for _, check, _ in PLANTED} | BESIDE == set(CHECKS)


@pytest.mark.parametrize("check", CHECKS)
def test_a_sound_game_passes(check: str) -> None:
    report = CHECKS[check](case())
    assert not report.findings, str(report)
    assert report.looked_at.startswith("nothing") == (check in BESIDE)


@pytest.mark.parametrize(("fault", "check", "said"), PLANTED, ids=[f"{fault}-{check}" for fault, check, _ in PLANTED])
def test_a_planted_fault_is_found_and_explained(fault: str, check: str, said: str) -> None:
    report = CHECKS[check](case(fault))
    assert said in str(report)
    assert all(finding.where and finding.what and finding.advice.endswith(".") for finding in report.findings)


@pytest.mark.parametrize(
    ("fault", "check", "advice"),
    [
        ("no standing", "games_end", "`ranked` makes standings of scores (1, 1, 3)."),
        ("event for no player", "declared", "Tell it to the player whose decision it follows."),
        ("event of no player", "declared", "Say of its class that it is `for_log`."),
        ("private event for no player", "declared", "Tell it to the players that its class names as `private`."),
        ("unshown value", "leaves_shown", "Leave it out of the request."),
        ("unshown rule", "leaves_shown", "Show it in the prompt: what is legal, or the fallback, depends on it."),
        ("luck in a view", "no_information_leak", "Leave it out of the request: its prompt does not show it."),
        (
            "the whole log",
            "no_information_leak",
            "Make the request of what its player heard (`table.heard`, `table.memory`).",
        ),
        ("illegal fallback", "fallbacks_legal", "Let it choose from what `options` and `why_not` allow."),
        ("nameless event", "json_and_back", "Give its class a heading."),
        ("hole in a prompt", "prompts_filled", "Put into words what has no value."),
    ],
)
def test_a_finding_has_the_one_advice_that_fits_it(fault: str, check: str, advice: str) -> None:
    assert {finding.advice for finding in CHECKS[check](case(fault)).findings} == {advice}


def test_a_fault_in_another_scenario_of_the_game_is_found_there() -> None:
    other = replace(case("set order"), tiny=Path("tiny_other.toml"), partial=True)
    report = CHECKS["same_process"](replace(case(), others=(other,)))
    assert report.findings
    assert all(finding.where.startswith("tiny_other, ") for finding in report.findings)


def test_a_secret_that_is_told_to_all_differs_from_the_golden_file(tmp_path: Path) -> None:
    look = CHECKS["golden_files"]
    assert look(case(), golden=tmp_path).looked_at.endswith("written now")
    assert (tmp_path / "planted.txt").read_text(encoding="utf-8") == playthrough(case())
    assert not look(case(), golden=tmp_path).findings
    (finding,) = look(case("role told to all"), golden=tmp_path).findings
    assert finding.where.startswith(f"{tmp_path / 'planted.txt'}:1")
    assert "* [Ann] dealt" in finding.what
    assert "* [everyone] dealt" in finding.what
    assert not look(case("role told to all"), golden=tmp_path, update=True).findings
    assert look(case(), golden=tmp_path).findings


def test_a_game_that_cannot_be_replayed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chance that depends on how many games this process has played."""
    games: list[Chance] = []
    made = Chance.__init__

    def counting(self: Chance, seed: int | str, script: object = None) -> None:
        games.append(self)
        made(self, f"{seed}/{len(games)}")

    monkeypatch.setattr(Chance, "__init__", counting)
    assert "JournalMismatch" in str(CHECKS["run_replays"]("auction"))


def test_a_run_is_resumed_at_each_decision_and_at_a_few_in_a_check_of_few_games() -> None:
    decisions = len(case_of("werewolf").game_by().asked)
    assert CHECKS["run_replays"](case_of("werewolf")).looked_at.endswith(f"resumed at {decisions - 1} decisions")
    assert CHECKS["run_replays"](case_of("werewolf", seeds=1)).looked_at.endswith("resumed at 3 decisions")


def test_checks_share_the_games_of_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    checked, started, start = case(), list[GamePlay](), Case.start

    def counted(case: Case, seed: int | None = None) -> GamePlay:
        started.append(play := start(case, seed))
        return play

    monkeypatch.setattr(Case, "start", counted)
    for check in ("invariants_hold", "bots_pure", "invariants_hold"):
        assert not CHECKS[check](checked).findings
    games = {("bot/random", seed) for seed in range(checked.seeds)}
    games |= {*((f"bot/{name}", checked.seed) for name in bots_of(checked.game)), (RANDOM, checked.seed)}
    assert len(started) == len(games)


def test_one_draw_falls_otherwise_and_all_others_as_they_did() -> None:
    def drawn(chance: Chance) -> list[object]:
        one, two = chance.stream("one"), chance.stream("two")
        return [one.shuffled(range(9)), two.below(99), one.integer(1, 99), one.pick("abcdefgh"), two.random()]

    usual, plain = drawn(Chance(1)), Redrawn(1)
    assert drawn(plain) == usual
    assert plain.draws == {"one": 3, "two": 2}
    for index, draw in enumerate([("one", 1), ("two", 1), ("one", 2), ("one", 3), ("two", 2)]):
        other = drawn(Redrawn(1, Draw(*draw), "word"))
        assert [at for at, both in enumerate(zip(usual, other, strict=True)) if both[0] != both[1]] == [index]


def test_what_is_declared_and_never_happens_is_said_and_is_no_finding() -> None:
    report = CHECKS["declared"](case())
    assert report.looked_at.endswith("; never told: nameless")
    assert not report.findings


def test_a_game_that_stops_in_another_process_is_found_at_the_same_place() -> None:
    stopping = case_of(case(), config={"rounds": 3})
    ((where, what, _, stopped),) = CHECKS["same_seed"](stopping).findings
    assert CHECKS["same_process"](stopping).findings == ((where, what, "No game may stop there.", stopped),)


def test_a_game_that_stops_is_a_finding_with_the_place_in_its_own_code() -> None:
    report = CHECKS["games_end"](case("broken invariant"))
    assert len(report.findings) == 1
    broken = case_of(case(), config={"rounds": 3})
    (finding,) = CHECKS["games_end"](broken).findings
    assert "rounds" in finding.what


@pytest.mark.slow
def test_contract_is_a_pytest_test_of_every_check(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "from agentsim.testing import contract\nfrom tests.testing.planted import case\n"
        "test_sound = contract(case())\ntest_broken = contract(case('illegal fallback'))\n",
        encoding="utf-8",
    )
    words = ["-q", "-n0", "-p", "no:cacheprovider", "-c", "/dev/null", str(tmp_path / "test_it.py")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert "test_broken[fallbacks_legal]" in done.stdout
    assert "Let it choose from what `options`" in done.stdout
    assert f"{len(CHECKS)} passed" not in done.stdout
    assert "test_sound[" not in done.stdout
    assert contract(case()) is not contract(case())


def test_no_check_needs_pytest() -> None:
    script = "import sys, agentsim.testing; assert 'pytest' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_the_command_says_a_line_for_each_check_and_fails_where_one_does(tmp_path: Path) -> None:
    said = agentsim("check", "werewolf", "--seeds", "1", "--golden", "golden", cwd=tmp_path)
    lines = said.out.splitlines()
    assert [name for name in CHECKS if sum(f" {name}: " in line for line in lines) < 1] == []
    assert any(line.startswith("ok golden_files: golden/werewolf.txt, written now") for line in lines)
    failed = {line.split()[1] for line in lines if line.startswith("FAILED")}
    assert said.code == bool(failed)
    assert (lines[-1] == f"werewolf: {len(failed)} of {len(CHECKS)} checks found something") == bool(failed)


def test_an_error_of_the_rules_is_said_once_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(game: object, table: object, config: object) -> None:
        raise KeyError("points")

    monkeypatch.setattr(AgentAuction, "play", play)
    said = agentsim("check", "auction", "--seeds", "1", cwd=tmp_path)
    (failed,) = (line for line in said.out.splitlines() if line.startswith("FAILED"))
    assert failed.startswith(f"FAILED games_end: {__file__}:")
    assert failed.endswith("in play: KeyError: 'points'. No game may stop there.")
    assert " more checks stopped at the error that games_end found: fallbacks_legal, declared, " in said.out


def test_a_changed_golden_file_is_one_line_and_exit_code_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentsim.testing.CHECKS", {"golden_files": CHECKS["golden_files"]})
    agentsim("check", "auction", "--seeds", "1", "--golden", "golden", cwd=tmp_path)
    path = tmp_path / "golden" / "auction.txt"
    path.write_text(path.read_text(encoding="utf-8").replace("Amber", "Umber", 1), encoding="utf-8")
    said = agentsim("check", "auction", "--seeds", "1", "--golden", "golden", cwd=tmp_path)
    assert said.code == 1
    assert "FAILED golden_files: golden/auction.txt:" in said.out
    again = agentsim("check", "auction", "--seeds", "1", "--golden", "golden", "--update", cwd=tmp_path)
    assert "ok golden_files: golden/auction.txt, written now" in again.out


def test_what_cannot_be_checked_is_one_line(tmp_path: Path) -> None:
    assert "there is no game 'chess'" in agentsim("check", "chess", cwd=tmp_path).line
    assert agentsim("check", "auction", "--update", cwd=tmp_path).line == "--update: needs --golden DIR"
