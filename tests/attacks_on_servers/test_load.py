"""Many analysts at work at once: nothing goes wrong, and receipts are what the ledger says; at full size for long."""

from collections import Counter
from functools import partial

from tests.attacks_on_servers.curators import Curator, write_curator
from tests.attacks_on_servers.loading import FREE, KINDS, work
from tests.attacks_on_servers.racing import Race, assert_receipts_are_of_the_ledger
from tests.sizes import FULL_SIZE

ANALYSTS, SECONDS = (50, 600.0) if FULL_SIZE else (8, 3.0)
DEFAULTS = {"quantum": 0.05 if FULL_SIZE else 0.0}
"""At full size all limits and the time classes are those of a curator who says nothing of them."""


def test_nothing_goes_wrong_under_load_and_receipts_are_those_of_the_ledger(tmp_path):
    """Catalogue 34, 35: a refusal for having too much to do costs nothing."""
    config = write_curator(tmp_path, epsilon="100000", work=DEFAULTS, limits={"requests_per_minute": 600})
    with Curator(config) as curator:
        tokens = {}
        for number in range(ANALYSTS):
            curator.account(f"analyst{number}", 2_000)
            account = f"people/analyst{number}"
            tokens[account] = curator.analyst(account, f"analyst{number}").token
        with Race(curator.url) as race:
            told = race.run(partial(work, tokens, SECONDS), patience=SECONDS + 120)
        receipts = [receipt for own, _, _ in told for receipt in own]
        done = sum((one for _, one, _ in told), Counter())
        assert [mistake for *_, wrong in told for mistake in wrong] == []
        assert set(KINDS) <= set(done) <= {*KINDS, *FREE}
        with curator.ledger() as ledger:
            assert_receipts_are_of_the_ledger(ledger.entries(), receipts, curator.accounts())
            ledger.verify()
        assert len(receipts) == done["fresh"] + done["batch"]
        (tmp_path / "done").write_text(str(dict(done)))
