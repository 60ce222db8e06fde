"""The browser that tests look at pages with, without what a person's browser does beside drawing them."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

# Each window of a full Chromium draws two hidden pages more, the suggestions under its address bar; it has no address
# bar here. The last list of features to do without is the one that holds, so those of Playwright stand here too.
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
    """A Chromium, the smallest that is installed; without one the test is skipped, but in CI it fails.

    Set AGENTSIM_CHROMIUM to the browser's path where it is not found.
    """
    found = os.environ.get("AGENTSIM_CHROMIUM") or next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        missing = "no Chromium found: install one, or set AGENTSIM_CHROMIUM to its path"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(_ARGS))
        yield browser
        browser.close()
