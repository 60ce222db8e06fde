"""The forms of `.env` files with a key, and of files without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsim.errors import ScenarioError, UsageError
from agentsim.models.keys import Variables, environment, key_for
from agentsim.models.profiles import BUILT_IN

NAME = "A_LAB_KEY_OF_A_TEST"
FORMS = {
    "plain": (b"%s=sk-1\n", "sk-1"),
    "no line end": (b"%s=sk-1", "sk-1"),
    "of a shell": (b"export %s=sk-1\n", "sk-1"),
    "double quotes": (b'%s="sk-1"\n', "sk-1"),
    "single quotes": (b"%s='sk-1'\n", "sk-1"),
    "spaces": (b"  %s = sk-1 \n", "sk-1"),
    "lines of Windows": (b"# keys\r\n%s=sk-1\r\n", "sk-1"),
    "byte order mark": (b"\xef\xbb\xbf%s=sk-1\n", "sk-1"),
    "comment behind": (b"%s=sk-1 # mine\n", "sk-1"),
    "hash within": (b"%s=sk-1#2\n", "sk-1#2"),
    "equal signs within": (b"%s=c2s==\n", "c2s=="),
    "dollars stay": (b"%s=a${HOME}$B\n", "a${HOME}$B"),
    "the last of two": (b"%s=old\n%s=sk-1\n", "sk-1"),
    "a line that is none before": (b"!!\n%s=sk-1\n", "sk-1"),
    "empty": (b"%s=\n", ""),
    "no value": (b"%s\n", None),
}


@pytest.mark.parametrize(("form", "value"), FORMS.values(), ids=FORMS)
def test_a_key_is_read_in_every_form_of_a_line(
    form: bytes, value: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    content = form.replace(b"%s", NAME.encode())
    for name in (".env", "my.env"):
        Path(name).write_bytes(content)
        assert environment(None if name == ".env" else Path(name)).get(NAME) == value
        Path(name).unlink()


def test_the_environment_wins_and_then_the_file_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".env").write_text(f"{NAME}=here\n", encoding="utf-8")
    Path("my.env").write_text(f"{NAME}=named\n", encoding="utf-8")
    assert environment(Path("my.env"))[NAME] == "named"
    monkeypatch.setenv(NAME, "set")
    assert environment(Path("my.env"))[NAME] == "set"


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_file_in_another_encoding_is_refused_in_one_line(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "my.env"
    path.write_bytes(f"{NAME}=clé\n".encode(encoding))
    with pytest.raises(UsageError) as caught:
        environment(path)
    assert str(caught.value) == f"{path}: cannot be read as UTF-8 text"


def test_a_line_that_is_none_names_its_file_and_is_told_where_a_key_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "my.env"
    path.write_text(f"# a comment\n{NAME}: x\nOTHER_KEY=1\n", encoding="utf-8")
    found = environment(path)
    assert found["OTHER_KEY"] == "1"
    assert found.unread == (f"{path}: line 2 is not KEY=VALUE, and is not read",)
    profile = BUILT_IN["openai"]
    with pytest.raises(ScenarioError, match="line 2 is not KEY=VALUE"):
        key_for(profile, Variables({}, (), found.unread))
