"""The browser of page tests, without features that are not needed to draw a page."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

# Each window of a full Chromium draws two more hidden pages, the suggestions under its address bar, which is not needed
# here. Chromium uses the last list of disabled features only, so the features that Playwright disables are repeated.
_UNUSED = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup"),
    *("AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync"),
    *("DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay"),
    *("MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch"),
    "ThirdPartyStoragePartitioning",
)
_ARGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", f"--disable-features={','.join(_UNUSED)}"),
)
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Start the smallest Chromium that is installed; without one, skip the test, or fail in CI.

    AGENTSIM_CHROMIUM may name the path of the browser.
    """
    found = os.environ.get("AGENTSIM_CHROMIUM") or next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        missing = "no Chromium found: install one, or set AGENTSIM_CHROMIUM to its path"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)
    with sync_playwright() as playwright:
        expect.set_options(timeout=30_000)  # a busy machine takes longer than 5 s to follow a game
        browser = playwright.chromium.launch(executable_path=found, args=list(_ARGS))
        yield browser
        browser.close()
