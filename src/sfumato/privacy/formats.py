"""Texts of JSON and TOML, read within limits that are stated here.

Python has limits of its own, on the depth of calls and on the digits of integers. They differ between its versions, and
can be changed by whoever starts it; what is accepted may not depend on them.
"""

import gc
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

MAX_NESTING: Final = 250
"""How many lists and objects may be nested in one another."""

MAX_DIGITS: Final = 4_300
"""How many digits a whole number may have, as Python allows where nobody changed that."""

_IN_JSON: Final = re.compile(
    r"""
    "(?:[^"\\]++|\\.)*+"?
    | (?:\[(?:[^\[\]{}"]++|"(?:[^"\\]++|\\.)*+")*+\],?)++  # a row of lists without lists, read as one: answers are such
    | [\[{]
    | [\]}]
    """,
    re.DOTALL | re.VERBOSE,
)
_TEXT_IN_TOML: Final = re.compile(
    r"""
    "{3}(?:[^"\\]++|\\.|"(?!""))*+(?:"{3,5})?  # what does not end here ends with the text, so that it is read once
    | '{3}(?:[^']++|'(?!''))*+(?:'{3,5})?
    | "(?:[^"\\\n]++|\\.)*+"?
    | '[^'\n]*+'?
    | \#[^\n]*+
    """,
    re.DOTALL | re.VERBOSE,
)
_BRACKET: Final = re.compile(r"[\[{]|[\]}]")
_LONG_NUMBER: Final = re.compile(rf"(?<![0-9_])[0-9](?:_?[0-9]){{{MAX_DIGITS}}}")
_LONG_KEY: Final = re.compile(rf"(?<![\w-])[\w-]++(?:\s*+\.\s*+[\w-]++){{{MAX_NESTING}}}")
_LONG: Final = 10_000  # characters; what is shorter makes too few lists for the collector to matter
_TOO_DEEP: Final = f"is nested more than {MAX_NESTING} deep"
_TOO_LONG: Final = f"holds a whole number of more than {MAX_DIGITS:,} digits"


@contextmanager
def uncollected() -> Iterator[None]:
    """Inside, Python looks for no cycles of garbage: it would scan a million small lists often while they are made.

    Threads may enter it side by side: whoever found the collector at work puts it back to work.

    Example:
        >>> with uncollected():
        ...     gc.isenabled()
        False
        >>> gc.isenabled()
        True
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def parse_json(
    text: str | bytes,
    *,
    parse_float: Callable[[str], Any] | None = None,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """The content of a text of JSON.

    Args:
        text: The text, or its bytes in UTF-8.
        parse_float: Reads numbers with a point or an exponent; as floats where nothing is stated.
        object_pairs_hook: Makes something of the names and values of an object.

    Raises:
        ValueError: It is no JSON, is nested more than `MAX_NESTING` deep, holds a whole number of more than
            `MAX_DIGITS` digits, or a number that `parse_float` has no room for.

    Example:
        >>> parse_json("[" * 300 + "]" * 300)
        Traceback (most recent call last):
        ValueError: is nested more than 250 deep
    """
    if len(text) > _LONG:
        with uncollected():
            return _parsed(text, parse_float, object_pairs_hook)
    return _parsed(text, parse_float, object_pairs_hook)


def _parsed(
    text: str | bytes,
    parse_float: Callable[[str], Any] | None,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None,
) -> Any:
    content = text.decode("utf-8") if isinstance(text, bytes) else text
    if content.count("[") + content.count("{") > MAX_NESTING:  # else it cannot be nested deeper
        _check_nesting(found.group() for found in _IN_JSON.finditer(content))
    is_long = len(content) > MAX_DIGITS  # else no number in it can be too long
    parse_int = _whole if is_long and _LONG_NUMBER.search(content) else None  # digits may also stand in text
    try:
        return json.loads(content, parse_float=parse_float, parse_int=parse_int, object_pairs_hook=object_pairs_hook)
    except ArithmeticError:
        raise ValueError("holds a number with an exponent that is too large") from None


def parse_toml(text: str) -> dict[str, Any]:
    """The content of a text of TOML.

    Raises:
        ValueError: It is no TOML, is nested more than `MAX_NESTING` deep, or holds a whole number of more than
            `MAX_DIGITS` digits.

    Example:
        >>> parse_toml("unit = 'row'")
        {'unit': 'row'}
    """
    plain = _TEXT_IN_TOML.sub("_", text)
    _check_nesting(found.group() for found in _BRACKET.finditer(plain))
    if _LONG_KEY.search(plain):
        raise ValueError(_TOO_DEEP)
    if _LONG_NUMBER.search(plain):
        raise ValueError(_TOO_LONG)
    return tomllib.loads(text)


def _check_nesting(marks: Iterable[str]) -> None:
    depth = 0
    for mark in marks:
        depth += (mark in {"[", "{"}) - (mark in {"]", "}"})
        if depth + mark.startswith("[", 0, len(mark) - 1) > MAX_NESTING:
            raise ValueError(_TOO_DEEP)


def _whole(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise ValueError(_TOO_LONG)
    return int(digits)
