"""The one source of entropy: as many bytes as asked, never twice the same, and failing closed."""

import ast
import inspect
import subprocess
import sys
from ssl import SSLError

import numpy as np
import pytest
from tests.sizes import FULL_SIZE

from sfumato.errors import EntropyError
from sfumato.noise import entropy

FORKS = 40 if FULL_SIZE else 12


@pytest.mark.parametrize("count", [0, 1, 7, 65_535, 65_536, 65_537, 200_000])
def test_it_gives_as_many_bytes_as_asked(count):
    assert len(entropy.random_bytes(count)) == count


def test_words_are_uint64():
    words = entropy.random_words(1000)
    assert words.dtype == np.uint64
    assert len(set(words.tolist())) == 1000


def test_halfwords_are_uint16_and_every_byte_counts():
    halves = entropy.random_halfwords(1 << 17)
    assert (halves.dtype, len(halves)) == (np.uint16, 1 << 17)
    assert len(np.unique(halves >> 8)) == len(np.unique(halves & 255)) == 256


@pytest.mark.statistical
def test_every_bit_of_a_word_is_fair():
    ones = np.unpackbits(entropy.random_words(100_000).view(np.uint8)).reshape(-1, 64).sum(axis=0, dtype=np.int64)
    assert np.abs(ones - 50_000).max() < 158 * 5.7  # 64 bits at 5.7 standard deviations: below 1e-6 in all


def test_requests_are_cut_into_slices(monkeypatch):
    asked = []
    monkeypatch.setattr(entropy, "_read", lambda count: asked.append(count) or bytes(count))
    entropy.random_bytes(150_000)
    assert asked == [65_536, 65_536, 18_928]


@pytest.mark.parametrize("error", [OSError("gone"), SSLError("PRNG not seeded"), NotImplementedError()])
def test_a_failing_source_fails_closed(monkeypatch, error):
    def fail(_):
        raise error

    monkeypatch.setattr(entropy, "_read", fail)
    with pytest.raises(EntropyError, match="nothing was released"):
        entropy.random_bytes(1)


def test_a_source_that_gives_too_little_fails_closed(monkeypatch):
    monkeypatch.setattr(entropy, "_read", lambda count: bytes(count - 1))
    with pytest.raises(EntropyError):
        entropy.random_words(1)


def test_without_openssl_the_operating_system_is_read():
    code = (
        "import sys; sys.modules['ssl'] = None\n"
        "from sfumato.noise import entropy\n"
        "print(entropy._SOURCE, len(set(entropy.random_words(100).tolist())))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["os.urandom", "100"]


def test_no_parameter_chooses_the_source():
    assert list(inspect.signature(entropy.random_bytes).parameters) == ["count"]
    assert list(inspect.signature(entropy.random_words).parameters) == ["count"]


def test_no_environment_variable_is_read():
    names = {node.attr for node in ast.walk(ast.parse(inspect.getsource(entropy))) if isinstance(node, ast.Attribute)}
    assert names.isdisjoint({"environ", "environb", "getenv"})


def test_forked_children_and_their_parent_never_share_bytes():
    """In a process of its own: forks of one with threads can wait for locks that nobody holds any more."""
    code = (
        "from multiprocessing import get_context\n"
        "from sfumato.noise import entropy\n"
        "entropy.random_bytes(8)\n"  # the generator is in use before the fork
        "with get_context('fork').Pool(4, maxtasksperchild=1) as pool:\n"
        f"    outputs = pool.map(entropy.random_bytes, [16] * {FORKS}, chunksize=1)\n"
        "print(len({*outputs, entropy.random_bytes(16)}))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == [str(FORKS + 1)]
