"""How a counter is written down: what goes on in its state, and what happened in the rows of its log."""

import json
from typing import Any, Final

import numpy as np

from sfumato.noise.uniform.integers import Integers, narrow, python_integers
from sfumato.privacy.codec import Json
from sfumato.streams.counting.participation import Taken

MOST_KEPT: Final = 1 << 21
"""So many released numbers stay in memory, and no fewer."""
_INT64: Final = "<i8"


def packed(header: dict[str, Json], body: bytes) -> bytes:
    """JSON, and behind it bytes.

    Example:
        >>> unpacked(packed({"step": 1}, b"rest"))
        ({'step': 1}, b'rest')
    """
    head = json.dumps(header, separators=(",", ":")).encode()
    return b"".join((len(head).to_bytes(8, "big"), head, body))


def unpacked(content: bytes) -> tuple[dict[str, Any], bytes]:
    """What `packed` wrote."""
    start = 8 + int.from_bytes(content[:8], "big")
    return json.loads(content[8:start]), content[start:]


def packed_row(first: int, sums: Integers | None, taken: Taken) -> bytes:
    """The row of one commit: what was released, and who took part; empty if nothing happened."""
    if sums is None and not taken:
        return b""
    header: dict[str, Json] = {"first": first, "taken": [list(one) for one in taken]}
    if sums is None:
        return packed(header, b"")
    header["shape"] = list(sums.shape)
    if sums.dtype == object:
        return packed(header | {"numbers": [str(number) for number in sums.ravel()]}, b"")
    return packed(header, sums.astype(_INT64).tobytes())


def unpacked_row(row: bytes) -> tuple[int, Integers | None, Taken]:
    """What `packed_row` wrote."""
    header, body = unpacked(row)
    taken = [(unit, step) for unit, step in header["taken"]]
    if "shape" not in header:
        return header["first"], None, taken
    if "numbers" in header:
        flat = narrow(python_integers(map(int, header["numbers"])))
    else:
        flat = np.frombuffer(body, dtype=_INT64).astype(np.int64)
    return header["first"], flat.reshape(header["shape"]), taken


class History:
    """The numbers that were released last, of steps that follow each other.

    Args:
        most: How many numbers are kept at least.

    Example:
        >>> history = History()
        >>> history.add(1, np.array([[5], [7]]))
        >>> history.add(3, np.array([[8]]))
        >>> history.all(1)[1].ravel().tolist()
        [5, 7, 8]
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._blocks: list[Integers] = []
        self._end = 0
        self._size = 0

    def add(self, first: int, sums: Integers) -> None:
        """The sums of steps, the first of which follows the last one that is there."""
        blocks = self._blocks
        blocks.append(sums)
        self._end, self._size = first + len(sums), self._size + sums.size
        while len(blocks) > 1 and blocks[-2].size <= min(2 * blocks[-1].size, self._most >> 3):
            last = blocks.pop()
            blocks[-1] = np.concatenate((blocks[-1], last))  # so that there are few, and each is copied a few times
        while self._size - blocks[0].size >= self._most:
            self._size -= blocks.pop(0).size

    def all(self, numbers: int) -> tuple[int, Integers]:
        """The first step that is kept, and the sums from there on, steps × numbers."""
        if not self._blocks:
            return 1, np.zeros((0, numbers), dtype=np.int64)
        self._blocks = [np.concatenate(self._blocks)]
        return self._end - len(self._blocks[0]), self._blocks[0]
