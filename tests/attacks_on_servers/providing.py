"""A provider of OpenID Connect between browser and server: npm's certified one at full size, else Authlib's."""

import json
import re
import shutil
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.server.openid import provided
from tests.sizes import FULL_SIZE

HERE = Path(__file__).parent / "provider"
CLIENT = ("sfumato", "a secret of a test")
SECONDS = 120


class OfNode:
    """The provider, and browsers that sign in there."""

    def __init__(self, process, issuer, redirect):
        self._process, self.issuer, self.redirect = process, issuer, redirect

    def set_groups(self, **groups):
        """Say which groups people have from now on."""
        self._process.stdin.write(f"{json.dumps(groups)}\n")
        self._process.stdin.flush()
        while (line := self._process.stdout.readline()) != "set\n":
            assert line.startswith("oidc-provider "), line

    def walk(self, browser, address, person):
        """Follow a provider's pages until it sends the browser back; gives that address."""
        for _ in range(12):
            page = browser.get(address) if isinstance(address, str) else browser.post(address[0], data=address[1])
            if page.status_code in {302, 303}:
                address = page.headers["location"]
                if address.startswith("/"):
                    address = f"{self.issuer}{address}"
                if address.startswith(self.redirect):
                    return address
                continue
            assert page.status_code == 200, page.text
            action = re.search(r'action="([^"]+)"', page.text)[1]
            prompt = re.search(r'name="prompt" value="(\w+)"', page.text)[1]
            address = (action, {"prompt": prompt, "login": person, "password": "x"})
        raise AssertionError("the provider sends nobody back")


@contextmanager
def _with_node(folder, redirect, after):
    """The provider, installed by the hashes of its lock file."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("there is no node, or no npm")
    for name in ("package.json", "package-lock.json", "provider.mjs"):
        shutil.copy(HERE / name, folder)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    installed = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    if installed.returncode:
        pytest.skip("npm cannot fetch oidc-provider here")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        ["node", "provider.mjs", str(port), redirect, after], cwd=folder, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while (line := process.stdout.readline()) != "ready\n":
            assert line, "the provider did not start"
        yield OfNode(process, f"http://127.0.0.1:{port}", redirect)
    finally:
        process.kill()
        process.communicate()


class OfAuthlib:
    """The same of Authlib's server, which asks for no password."""

    def __init__(self, openid, redirect):
        self._openid, self.issuer, self.redirect, self._groups = openid, openid.issuer, redirect, {}

    def set_groups(self, **groups):
        """Say which groups people have from now on."""
        self._groups |= groups

    def walk(self, browser, address, person):
        """Have the provider send the browser back; gives that address."""
        self._openid.person = {"sub": person, "name": f"Name of {person}", "groups": self._groups[person]}
        return browser.get(address).headers["location"]


@contextmanager
def started(folder, redirect, after):
    """The provider.

    Args:
        folder: Where it is installed.
        redirect: Where it sends browsers back to.
        after: Where it sends browsers that have signed out.
    """
    if FULL_SIZE:
        with _with_node(folder, redirect, after) as found:
            yield found
    else:
        with provided(redirect, secret=CLIENT[1]) as openid:
            yield OfAuthlib(openid, redirect)
