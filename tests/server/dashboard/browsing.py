"""Somebody with a browser that runs no scripts: it keeps cookies, and sends forms with what pages gave it."""

import re
from html import unescape

import httpx

SECONDS = 60
PROOF = re.compile(r'name="proof" value="([0-9a-f]{64})"')


class Visitor:
    """A browser.

    Args:
        beside: The gateway that it visits.
        headers: What it sends with each request.
    """

    def __init__(self, beside, **headers):
        host, port = beside.address
        self.keys = beside.keys
        self.client = httpx.Client(base_url=f"http://{host}:{port}", headers=headers, timeout=SECONDS)
        self.proof = ""

    def get(self, path):
        """A page; its proof is kept for the next form."""
        page = self.client.get(path)
        if found := PROOF.search(page.text):
            self.proof = found[1]
        return page

    def post(self, path, /, **fields):
        """Send a form, with the proof of the last page."""
        page = self.client.post(path, data={"proof": self.proof, **fields})
        if found := PROOF.search(page.text):
            self.proof = found[1]
        return page

    def sign_in(self, person):
        """Sign in with somebody's key."""
        self.get("/sign-in")
        page = self.post("/sign-in", key=self.keys[person])
        assert page.status_code in {303, 204}, page.text
        self.get("/keys")
        return self


def words(page):
    """What a page says, without its markup."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page.text)).split())
