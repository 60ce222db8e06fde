"""The package can be imported without the Unix modules of Python, as on Windows."""

from __future__ import annotations

import subprocess
import sys
import textwrap

UNIX = ("fcntl", "grp", "pwd", "resource", "termios", "tty")
IMPORTS = f"""
    import builtins, importlib, pkgutil

    real = builtins.__import__

    def importing(name, globals=None, *rest):
        if name in {UNIX!r} and str((globals or {{}}).get("__name__")).startswith("agentsim"):
            raise ModuleNotFoundError(name)
        return real(name, globals, *rest)

    builtins.__import__ = importing
    import agentsim

    for module in pkgutil.walk_packages(agentsim.__path__, "agentsim."):
        importlib.import_module(module.name)
    print("all")
"""


def test_every_module_is_imported_without_the_modules_of_unix() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(IMPORTS)], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.stdout, done.returncode) == ("all\n", 0), done.stderr
