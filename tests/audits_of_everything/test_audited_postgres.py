"""A question to a real PostgreSQL is audited: a true claim is refuted once in a million audits."""

import pytest
from tests.audits_of_everything.elsewhere import elsewhere, in_postgres
from tests.audits_of_everything.judging import judged


@pytest.mark.statistical
def test_no_question_to_postgresql_tells_more_than_it_is_charged():
    judged(elsewhere(in_postgres)).assert_true()
