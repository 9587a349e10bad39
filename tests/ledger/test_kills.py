"""Processes are killed on their way to an answer; SFUMATO_FULL_SIZE kills more of them."""

import json
import signal
from collections import Counter
from dataclasses import dataclass

import pytest
from tests.ledger.killing import CHARGE, CHARGED, COMMITTED, POINTS, curator, open_accounts, sent
from tests.ledger.processes import Home, ended, home, started
from tests.sizes import FULL_SIZE

from sfumato.ledger.core.entry import Committed, Reserved
from sfumato.ledger.core.reservations import Asked
from sfumato.ledger.keeping.attachments import Attachment
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.guarantees import ApproxDP

ROUNDS = 100 if FULL_SIZE else 3
KEYS = tuple(f"question {number}" for number in range(6))


@dataclass(frozen=True, slots=True)
class Scene:
    """A ledger, and a file for each process that answers: what those who asked have received of it."""

    home: Home
    wires: list

    def killed(self, point, *, survived, threads):
        """A process answers all questions until it is killed."""
        assert self._ended((point, survived), threads) == -signal.SIGKILL

    def answered(self):
        """Another process answers all of them, with the same keys; gives what it sent."""
        assert self._ended((None, 0), 1) == 0
        return dict(sent(self.wires[-1])[0])

    def _ended(self, told, threads):
        self.wires.append(self.home.folder / f"wire {len(self.wires)}")
        return ended(started(curator, self.home, KEYS, self.wires[-1], told, threads))


@pytest.fixture(params=["sqlite", "postgres"])
def scenes(request, tmp_path):
    """New scenes, each with a ledger of its own."""

    def scene(number):
        folder = tmp_path / str(number)
        folder.mkdir()
        found = home(request.param, folder)
        with found.opened() as ledger:
            open_accounts(ledger)
        return Scene(found, [])

    return scene


def by_key(entries):
    """How often each key was charged, and the answers that were committed."""
    entries = tuple(entries)
    charged = Counter(entry.idempotency_key for entry in entries if isinstance(entry, Reserved))
    return charged, {entry.key: entry.answer for entry in entries if isinstance(entry, Committed)}


def assert_released_is_charged(scene):
    """What anybody has, even half of it, was charged and is stored; whatever was charged is counted, once."""
    with scene.home.opened() as ledger:
        charged, stored = by_key(ledger.entries())
        for whole, half in map(sent, scene.wires):
            assert all(stored[key] == shown for key, shown in whole)
            assert any(json.dumps([key, shown]).encode().startswith(half) for key, shown in stored.items()) or not half
        assert set(stored) <= set(charged) <= set(KEYS)
        assert set(charged.values()) <= {1}
        assert ledger.spent("project") == ApproxDP(len(charged) * CHARGE.epsilon, len(charged) * CHARGE.delta)
        assert ledger.spent("dataset") == ZCDP(f"{len(charged) * 5}e-3")
        ledger.verify()
    return charged, stored


def assert_all_is_answered_once(scene, stored):
    """Whoever asks again gets what is stored, and pays nothing for what was charged."""
    whole = scene.answered()
    assert whole == whole | stored
    assert assert_released_is_charged(scene) == (Counter(KEYS), whole)
    with scene.home.opened() as ledger:
        for key in KEYS:
            assert ledger.asked_before(Asked(principal="ann", idempotency_key=key, body=f"a hash of {key}"))
            name, digest = ledger.answer("project", key)["file"]
            assert ledger.attachments.path(Attachment(name=name, sha256=digest)).read_text() == whole[key]["noisy"]


@pytest.mark.essential
@pytest.mark.parametrize("point", POINTS)
def test_who_is_killed_has_released_no_more_than_was_charged_and_who_asks_again_pays_once(scenes, point):
    """Catalogue 35. In a third of the rounds one thread asks, so that it is known what is charged and answered.

    In the others four are killed together; then those who ask again, before all is charged; and then they ask again.
    """
    for number in range(ROUNDS):
        scene, threads = scenes(number), 4 if number % 3 else 1
        survived = number % 2 if threads > 1 else (number + 2) % 5  # threads may pass together, within one transaction
        scene.killed(point, survived=survived, threads=threads)
        charged, stored = assert_released_is_charged(scene)
        if threads == 1:
            assert charged == Counter(KEYS[: survived + (POINTS.index(point) >= CHARGED)])
            assert set(stored) == set(KEYS[: survived + (POINTS.index(point) >= COMMITTED)])
        elif len(charged) < len(KEYS):
            scene.killed(POINTS[number % CHARGED], survived=0, threads=threads)
            still_charged, stored = assert_released_is_charged(scene)
            assert charged.keys() <= still_charged.keys()
        assert_all_is_answered_once(scene, stored)
