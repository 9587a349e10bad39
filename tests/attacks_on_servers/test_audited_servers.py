"""`sfumato audit command` of a whole server over HTTP: its claims hold, and half of the noise is noticed."""

import json
import subprocess
import sys
from contextlib import closing

import pytest
from tests.attacks_on_servers.audited import POLICY, WORLDS, Audited, rows_of
from tests.attacks_on_servers.curators import Curator, write_curator
from tests.sizes import FULL_SIZE

SAMPLES, OF_A_TRUE_CLAIM = (20_000, 20_000) if FULL_SIZE else (4_000, 1_000)
PAIRS = [{"database": [30, 40], "neighbor": [40], "description": "the first leaves"}]


@pytest.fixture
def asked(tmp_path):
    """Starts a curator of a program, and gives it with the folder of those who ask."""

    def start(program):
        config = write_curator(tmp_path, epsilon="1000000", policy=POLICY, data=rows_of([30, 40]))
        return Curator(config, program=f"tests.attacks_on_servers.{program}")

    return start


def ready(curator):
    """The folder of a curator that audits may ask."""
    curator.account("ann", 1_000_000)
    told = {"url": curator.url, "owner": curator.owner.token, "analyst": curator.analyst("people/ann", "ann").token}
    (curator.folder / "asked").write_text(json.dumps(told))
    (curator.folder / "pairs.json").write_text(json.dumps(PAIRS))
    return curator.folder


def audited(folder, samples):
    """How `sfumato audit command` ends, and what it says."""
    command = [
        sys.executable, "-m", "sfumato", "audit", "command", "--pairs", str(folder / "pairs.json"), "--epsilon", "1",
        "--samples", str(samples), "--", sys.executable, "-m", "tests.attacks_on_servers.audited", str(folder),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.statistical
def test_the_claims_of_a_server_hold(asked):
    """Type-I error 1e-6. Answers that are stored would be the same each time, which an audit would not notice."""
    with asked("serving") as curator:
        folder = ready(curator)
        code, said = audited(folder, OF_A_TRUE_CLAIM)
        assert code == 0, said
        assert "nothing found" in said
        with closing(Audited(folder, raises=False)) as stale:
            assert stale([30, 40], WORLDS) == stale([30, 40], WORLDS)
        with closing(Audited(folder)) as fresh:
            assert fresh([30, 40], WORLDS) != fresh([30, 40], WORLDS)


@pytest.mark.statistical
def test_half_of_the_noise_is_refuted(asked):
    with asked("halving") as curator:
        code, said = audited(ready(curator), SAMPLES)
    assert code == 1, said
    assert "privacy violation" in said
