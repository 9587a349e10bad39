"""Many analysts at work at once: nothing goes wrong, and receipts are what the ledger says; at full size for long."""

from collections import Counter
from functools import partial

import pytest
from tests.attacks_on_servers.curators import Curator, write_curator
from tests.attacks_on_servers.loading import FREE, KINDS, work
from tests.attacks_on_servers.racing import Race, assert_receipts_are_of_the_ledger
from tests.sizes import FULL_SIZE

ANALYSTS, SECONDS = (50, 600.0) if FULL_SIZE else (8, 3.0)
QUANTUM = 0.05 if FULL_SIZE else 0.0
ROOMS = {
    "usual": ({"requests_per_minute": 600}, {"quantum": QUANTUM}, {*KINDS}, 1.0),
    "narrow": ({"concurrent": 4}, {"quantum": QUANTUM, "queue": 2}, {*KINDS, 503}, 0.1),
}
"""Limits, what must have happened, and the share of time; the usual ones are those of a curator who states none."""


@pytest.mark.parametrize("room", ROOMS)
def test_nothing_goes_wrong_under_load_and_receipts_are_those_of_the_ledger(room, tmp_path):
    """Catalogue 34, 35: a refusal for having too much to do costs nothing."""
    limits, working, expected, share = ROOMS[room]
    seconds = max(3.0, share * SECONDS)
    config = write_curator(tmp_path, epsilon="100000", work=working, limits=limits)
    with Curator(config) as curator:
        tokens = {}
        for number in range(ANALYSTS):
            curator.account(f"analyst{number}", 2_000)
            account = f"people/analyst{number}"
            tokens[account] = curator.analyst(account, f"analyst{number}").token
        with Race(curator.url) as race:
            told = race.run(partial(work, tokens, seconds), patience=seconds + 120)
        receipts = [receipt for own, _, _ in told for receipt in own]
        done = sum((one for _, one, _ in told), Counter())
        assert [mistake for *_, wrong in told for mistake in wrong] == []
        assert expected <= set(done) <= {*KINDS, *FREE}
        with curator.ledger() as ledger:
            assert_receipts_are_of_the_ledger(ledger.entries(), receipts, curator.accounts())
            ledger.verify()
        assert len(receipts) == done["fresh"] + done["batch"]
