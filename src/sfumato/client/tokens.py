"""API keys of whoever asks: from an argument, the environment, or the file that `sfumato login` wrote.

A key is shown by nothing: it stands in no text of an object, in no error and in no log.
"""

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NoReturn

from sfumato.errors import ParameterError
from sfumato.privacy.formats import parse_json

VARIABLE: Final = "SFUMATO_TOKEN"
"""The variable of the environment that has a key."""

_OTHERS: Final = 0o077


class Token:
    """An API key, which no text of an object shows.

    Raises:
        ParameterError: It is not text that can stand in a request.

    Example:
        >>> Token("sfk_secret")
        Token(…)
    """

    __slots__ = ("__secret",)

    def __init__(self, secret: str) -> None:
        of_a_kind: object = secret  # of which nothing is shown
        is_line = isinstance(of_a_kind, str) and of_a_kind.isascii() and of_a_kind.isprintable()
        if not is_line or not secret or " " in secret:
            raise ParameterError("token", "an API key", "must be one line of printable ASCII without spaces: sfk_…")
        self.__secret = secret

    @property
    def authorization(self) -> str:
        """What a request says of who sends it."""
        return f"Bearer {self.__secret}"

    def store(self, address: str) -> Path:
        """Keep the key for a server, in a file that only its owner can read."""
        place = _file()
        return _keep(place, dict(_kept(place)) | {address: self.__secret})

    def __repr__(self) -> str:
        return "Token(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an API key is written nowhere but by store()")


def token_for(address: str, stated: str | None) -> Token:
    """The key for a server.

    Args:
        address: Of the server, as `curator.address_of` writes it.
        stated: The key, if somebody states it.

    Raises:
        ParameterError: There is none.
    """
    if stated is not None:
        return Token(stated)
    if VARIABLE in os.environ:
        return Token(os.environ[VARIABLE])
    kept = _kept(_file())
    if address not in kept:
        raise ParameterError(
            "token", None, f"is missing: run `sfumato login {address}`, set {VARIABLE}, or give token=…"
        )
    return Token(str(kept[address]))


def forget(address: str) -> bool:
    """Remove the key for a server from the file; whether there was one."""
    place = _file()
    kept = dict(_kept(place))
    is_known = kept.pop(address, None) is not None
    if is_known:
        _keep(place, kept)
    return is_known


def _keep(place: Path, kept: Mapping[str, Any]) -> Path:
    """Write the keys, which nobody else can read at any moment."""
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = place.with_suffix(f".{os.getpid()}.new")
    try:
        new.touch(mode=0o600, exist_ok=False)
        new.write_text(json.dumps(kept), "utf-8")
        new.replace(place)
    finally:
        new.unlink(missing_ok=True)
    return place


def _file() -> Path:
    """Where keys are kept: in the user's own folder for settings."""
    if sys.platform == "win32":
        folder = Path(os.environ.get("APPDATA") or Path.home())
    else:
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return folder / "sfumato" / "tokens.json"


def _kept(place: Path) -> Mapping[str, Any]:
    """The keys in the file, by server."""
    content = None
    with suppress(FileNotFoundError):
        if sys.platform != "win32" and place.stat().st_mode & _OTHERS:
            raise ParameterError(
                "tokens", str(place), f"can be read by others; run `chmod 600 {place}`, and log in anew"
            )
        content = place.read_bytes()
    if content is None:
        return {}
    try:
        found = parse_json(content)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ParameterError("tokens", str(place), "is no file of `sfumato login`; remove it, and log in again")
    return found
