"""Debian's chromium, which playwright drives; it is installed where that is possible and it is absent."""

import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

DESKTOP, PHONE = {"width": 1280, "height": 850}, {"width": 390, "height": 800}
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_INSTALL = "apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core"
REPLACED = ("htmx:sendAbort", "htmx:afterRequest")
"""What htmx says where an estimate is not waited for, because a later one is asked for."""

SHOTS = os.environ.get("SFUMATO_SCREENSHOTS")
"""A folder for pictures of every screen, for whoever wants to look at them."""


def executable():
    """Where it is."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None and shutil.which("apt-get") and os.geteuid() == 0:
        subprocess.run(_INSTALL, shell=True, check=False, capture_output=True, timeout=600)  # noqa: S602 # a constant
        found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip("there is no chromium, and it cannot be installed here")
    return found


@contextmanager
def opened():
    """A browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=["--no-sandbox"] * (os.geteuid() == 0))
        yield browser
        browser.close()


class Screen:
    """A page of a browser in which nothing may go wrong.

    Args:
        browser: The browser.
        url: The gateway that it visits.
        options: As of a context of playwright.
    """

    def __init__(self, browser, url, **options):
        self._context = browser.new_context(
            **{"viewport": DESKTOP, "locale": "en-US", "reduced_motion": "reduce"} | options
        )
        self._context.set_default_timeout(30_000)
        self.url, self.page, self.wrong = url, self._context.new_page(), []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.wrong.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("console", self._hear)

    def _hear(self, message):
        if message.type == "error" and not message.text.startswith(REPLACED):
            self.wrong.append(message.text)

    def sign_in(self, key):
        """Sign in by the form."""
        self.go("/sign-in")
        self.page.fill("#key", key)
        self.page.click("button.main")
        self.page.wait_for_url(f"{self.url}/")
        return self

    def go(self, path):
        """Open a page."""
        self.page.goto(f"{self.url}{path}")

    def looked_at(self, name):
        """Nothing went wrong, nothing hangs over the edge, and nothing that axe knows of keeps people out."""
        page = self.page
        page.wait_for_function("() => !document.querySelector('.htmx-request')")
        assert self.wrong == [], (name, self.wrong)
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"], name
        found = Axe().run(page).response["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == [], name
        if SHOTS:
            page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)

    def close(self):
        self._context.close()
