"""The entry point of `agentsim` and `python -m agentsim`. It installs a Ctrl-C handler before the slow imports."""

from __future__ import annotations

import gc
import os
import signal

from agentsim import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
    gc.disable()  # what an import makes stays, and to look through it takes longer than many an import
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # they are looked for in all installed packages
    from agentsim.cli.app import main as run

    gc.enable()
    run()


def _interrupted(_number: int, frame: FrameType | None) -> None:
    """Raise `KeyboardInterrupt`, or exit at once during an import, which may swallow or replace the exception."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            os._exit(130)
        frame = frame.f_back
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
