"""The tutorial of the dashboard is done as it is written: its commands, its forms, and what the pages then say."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect
from tests.meta.repository import ROOT
from tests.server.dashboard.chromium import SHOTS, Screen, opened

PAGE = (ROOT / "docs" / "tutorials" / "curator.md").read_text("utf-8")
ADDRESS = "http://127.0.0.1:8000"
SECONDS = 60
WIDTH, HEIGHT = 1040, 1100
"""Of pictures, at most."""
STEP = re.compile(
    r"^```(?P<language>\w*)\n(?P<block>.*?)^```$"
    r"|^\| (?P<form>[^|\n]+) \| \|\n\|---\|---\|\n(?P<rows>(?:\|[^\n]*\n)+)"
    r"|Press \*\*(?P<button>[^*]+)\*\*(?P<saved> and save the file)?"
    r'|page says "(?P<said>[^"]+)"'
    r"|called `\$(?P<key>\w+)`"
    rf"|Open <{ADDRESS}(?P<place>[^>]*)>"
    r"|!\[[^\]]*\]\(\.\./images/dashboard/(?P<picture>\w+)\.png\)",
    re.MULTILINE | re.DOTALL,
)


class Reader:
    """Somebody with a terminal and a browser, who does what the page says.

    Args:
        folder: An empty folder.
        browser: A browser.
    """

    def __init__(self, folder, browser):
        self.folder, self._server, self.url = folder, None, ""
        self.screen = Screen(browser, "", viewport={"width": WIDTH, "height": 900})
        self.page, self.names, self._printed = self.screen.page, dict(os.environ), ""
        self.names["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), self.names["PATH"]])

    def step(self, found):
        """Do one step of the page."""
        if found["block"] is not None:
            getattr(self, found["language"] or "terminal")(found["block"])
        elif found["form"]:
            self.form(found["form"], found["rows"])
        elif found["button"]:
            self.press(found["button"], is_saved=bool(found["saved"]))
        elif found["said"]:
            expect(self.page.locator("main")).to_contain_text(found["said"])
        elif found["key"]:
            made = self.page.locator("#made")
            self.names[found["key"]] = made.inner_text() if made.count() else self._printed.strip()
        elif found["place"] is not None:
            self.page.goto(self.url + found["place"])
        else:
            self.look(found["picture"])

    def python(self, code):
        subprocess.run([sys.executable, "-c", code], check=True, cwd=self.folder)

    def sql(self, text):
        self.page.fill("#sql", text.strip())

    def toml(self, lines):
        """What a page shows for a file is what the tutorial has, and goes there."""
        assert lines.strip() in self.page.locator("main").inner_text()
        with (self.folder / "curator.toml").open("a") as file:
            file.write(lines)

    def terminal(self, block):
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            if command.startswith("pip "):
                continue
            if command.startswith("export "):
                assert command.partition("=")[0].removeprefix("export ") in self.names
                continue
            if command.startswith("sfumato serve "):
                self.serve(command)
                continue
            line = command.replace(ADDRESS, self.url or ADDRESS).replace(":8000", ":0")
            self._printed = subprocess.run(  # noqa: S602 # the page's own command
                line, shell=True, check=True, cwd=self.folder, env=self.names, capture_output=True, text=True
            ).stdout  # fmt: skip
            if shown and "…" not in shown:
                assert self._printed.split() == shown.split()

    def serve(self, command):
        """Start the server, or end it first."""
        self.stop()
        self._server = subprocess.Popen(
            command.split(), cwd=self.folder, env=self.names, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True,
        )  # fmt: skip
        self.url = self._server.stdout.readline().split()[-1]
        with httpx.Client(base_url=self.url, timeout=SECONDS) as client:
            end = time.monotonic() + SECONDS
            while client.get("/v1/ready").status_code != 200 and time.monotonic() < end:
                time.sleep(0.1)

    def stop(self):
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)
            self._server.communicate(timeout=SECONDS)
            self._server = None

    def form(self, name, rows):
        """Fill in the part of a page whose heading is that of a table."""
        heading = self.page.locator("h1, h2, legend").filter(has_text=re.compile(f"^{re.escape(name)}$"))
        part = self.page.locator("fieldset, section, .narrow").filter(has=heading).last
        for label, value in re.findall(r"^\| (.+?) \| `?(.+?)`? \|$", rows, re.MULTILINE):
            field = part.get_by_label(label, exact=True)
            if value == "yes":
                field.check()
            elif field.evaluate("field => field.tagName") == "SELECT":
                field.select_option(label=value)
            else:
                field.fill(self.names[value.removeprefix("$")] if value.startswith("$") else value)

    def press(self, name, *, is_saved):
        named = self.page.get_by_role("button", name=name, exact=True)
        found = named.or_(self.page.get_by_role("link", name=name, exact=True)).first
        if is_saved:
            with self.page.expect_download() as loading:
                found.click()
            loading.value.save_as(self.folder / loading.value.suggested_filename)
            return
        found.click()
        self.page.wait_for_load_state("load")

    def look(self, name):
        """Nothing went wrong so far; and a picture for the docs, where somebody wants one."""
        self.page.wait_for_timeout(300)
        assert self.screen.wrong == []
        if SHOTS:
            height = min(HEIGHT, self.page.evaluate("document.documentElement.scrollHeight"))
            clip = {"x": 0, "y": 0, "width": WIDTH, "height": height}
            self.page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True, clip=clip)


@pytest.fixture
def reader(tmp_path):
    with opened() as browser:
        made = Reader(tmp_path, browser)
        yield made
        made.stop()
        made.screen.close()


@pytest.mark.docs
def test_the_tutorial_ends_in_a_first_answer_of_a_colleague(reader):
    steps = list(STEP.finditer(PAGE))
    assert len(steps) > 60
    for found in steps:
        reader.step(found)
    assert (reader.folder / "hospital.toml").is_file()
    assert [path.suffix for path in reader.folder.glob("*.xlsx")] == [".xlsx"]
    (release,) = json.loads((reader.folder / "answer.json").read_text())["releases"]
    assert len(release["groups"]) == 4


def test_every_picture_of_the_dashboard_is_shown_and_small():
    shown = {
        path
        for page in (ROOT / "docs").rglob("*.md")
        for path in re.findall(r"images/dashboard/(\w+\.png)", page.read_text("utf-8"))
    }
    pictures = {path.name: path.stat().st_size for path in (ROOT / "docs" / "images" / "dashboard").iterdir()}
    assert shown == set(pictures)
    assert len(pictures) <= 6
    assert max(pictures.values()) <= 150_000
