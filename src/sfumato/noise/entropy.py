"""The one module that reads entropy: the operating system's generator, or OpenSSL's, which that one seeds.

No seed, no parameter and no environment variable changes the source. OpenSSL reseeds itself after a fork, and no
Python object here keeps random state, so two processes never share a stream. A virtual machine restored twice from
one snapshot is outside of what this module can see.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import EntropyError

try:
    from ssl import RAND_bytes as _read

    _SOURCE = "ssl.RAND_bytes"
except ImportError:  # a Python built without OpenSSL
    from os import urandom as _read

    _SOURCE = "os.urandom"

_SLICE: Final = 1 << 16  # OpenSSL is fastest in requests of this size, and refuses those of 2^31 bytes


def random_bytes(count: int) -> bytes:
    """`count` independent uniform bytes from a cryptographically secure generator.

    Args:
        count: Number of bytes, 0 or more.

    Raises:
        EntropyError: The source failed or gave too little; nothing is released on a doubt.

    Example:
        >>> len(random_bytes(100_000))
        100000
    """
    try:
        if count <= _SLICE:
            data = _read(count)
        else:
            data = b"".join(_read(min(_SLICE, count - start)) for start in range(0, count, _SLICE))
    except (OSError, NotImplementedError) as error:  # ssl.SSLError is an OSError
        raise EntropyError(_SOURCE) from error
    if len(data) != count:
        raise EntropyError(_SOURCE)
    return data


def random_words(count: int) -> NDArray[np.uint64]:
    """`count` independent uniform integers in [0, 2^64).

    Raises:
        EntropyError: As `random_bytes`.
    """
    return np.frombuffer(random_bytes(8 * count), dtype="<u8")


def random_halfwords(count: int) -> NDArray[np.uint16]:
    """`count` independent uniform integers in [0, 2^16).

    Raises:
        EntropyError: As `random_bytes`.
    """
    return np.frombuffer(random_bytes(2 * count), dtype="<u2")
