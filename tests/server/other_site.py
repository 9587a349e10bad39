"""A site of somebody else: pages of the docs about web pages, served from memory at an address of their own."""

import json
import re
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from tests.meta.repository import ROOT

from sfumato import local

HOW_TO = ROOT / "docs" / "how-to" / "browser.md"
TYPES = {"html": "text/html", "js": "text/javascript", "json": "application/json"}
CURATOR = "https://curator.example"


def examples(language):
    """The blocks of code on the page, in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", HOW_TO.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def survey(protocols, *, key):
    """The files of the examples: one is of a protocol without memory, with a key; the other one of RAPPOR, without."""
    (page,), (once, remembering) = examples("html"), examples("js")
    return {
        "survey.html": page,
        "survey.js": once.replace('""', json.dumps(key)),
        "survey.json": json.dumps(protocols["drinks"].to_json()),
        "homepages.html": page.replace("survey.js", "homepages.js"),
        "homepages.js": remembering.replace("collections/homepages", "collections/votes"),
        "homepages.json": json.dumps(protocols["votes"].to_json()),
        "sfumato-local.js": (Path(local.__path__[0]) / "browser" / "sfumato-local.js").read_text("utf-8"),
    }


@contextmanager
def site():
    """A site with a strict policy, whose files are put into `files` once the collector has an address."""
    files = {}

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self):  # as its class has it
            name = self.path.removeprefix("/")
            self.send_response(200 if name in files else 204)
            self.send_header("Content-Type", TYPES.get(name.rpartition(".")[2], "text/plain"))
            connections = f"connect-src 'self' {files.get('curator', '')}"
            self.send_header("Content-Security-Policy", f"default-src 'none'; script-src 'self'; {connections}")
            self.end_headers()
            self.wfile.write(files.get(name, "").replace(CURATOR, files["curator"]).encode())

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", files
    server.shutdown()
    thread.join()
    server.server_close()
