"""Every client, audited by its reports alone: a true claim is refuted once in a million audits."""

import pytest
from tests.audits_of_everything.judging import judged
from tests.audits_of_everything.local import CASES
from tests.local.protocols import STORED


@pytest.mark.statistical
@pytest.mark.parametrize("name", CASES)
def test_no_client_tells_more_than_it_promises(name):
    judged(CASES[name]).assert_true()


def test_every_protocol_is_audited():
    assert {name.partition(",")[0] for name in CASES} == {type(protocol).__name__ for protocol in STORED.values()}
