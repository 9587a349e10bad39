"""One output as plain Python values, and as text: what two outputs share exactly if they read the same.

Both are functions of that output alone. NumPy's scalars and arrays become Python's numbers and lists.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from fractions import Fraction
from hashlib import blake2b
from typing import Any, Final

import numpy as np

_MAX_DEPTH: Final = 8  # deeper values are left as they are; a list may hold itself
_LONGEST: Final = 80
_DIGEST_BYTES: Final = 16
_PLAIN: Final = {int, float, bool, str, type(None)}


def plain(value: Any, depth: int = 0) -> Any:
    """The same value with Python's own numbers, lists, tuples and dicts.

    Example:
        >>> plain((np.float32(0.5), np.array([1, 2])))
        (0.5, [1, 2])
    """
    if isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        if set(map(type, value)) <= _PLAIN or depth == _MAX_DEPTH:
            return value
        parts = [plain(part, depth + 1) for part in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    if isinstance(value, Mapping) and depth < _MAX_DEPTH:
        return {key: plain(part, depth + 1) for key, part in value.items()}
    return value


def label(value: Any) -> str:
    """Text of a plain value; −0.0 is not 0.0, NaN is one value, and long text ends in a digest of all of it.

    Example:
        >>> label([1, -0.0, "x"])
        "[1, -0.0, 'x']"
    """
    text = _text(value)
    if len(text) <= _LONGEST:
        return text
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{text[: _LONGEST // 2]}…{digest}"


def _text(value: Any) -> str:
    try:
        if isinstance(value, AbstractSet):
            return f"{type(value).__name__}({', '.join(sorted(map(_text, value)))})"  # it has no order to tell
        return repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits, wherever in the value it is
        return _without_decimals(value)
    except Exception:  # noqa: BLE001 # the code of whoever made this value, which may raise anything
        return f"a {type(value).__name__} that has no text"


def _without_decimals(value: Any) -> str:
    match value:
        case int():
            return hex(value)
        case Fraction():
            return f"{hex(value.numerator)}/{hex(value.denominator)}"
        case list() | tuple():
            return f"{type(value).__name__}({', '.join(map(_text, value))})"
        case Mapping():
            return f"{{{', '.join(f'{_text(key)}: {_text(part)}' for key, part in value.items())}}}"
        case _:
            return f"a {type(value).__name__} that has no text"
