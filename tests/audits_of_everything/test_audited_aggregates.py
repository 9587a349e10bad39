"""Every aggregate, asked of real sessions about many worlds: a true claim is refuted once in a million audits."""

import pytest
from sqlglot import exp
from tests.audits_of_everything.aggregates import CASES, IN_PYTHON, IN_SQL, IN_TEST
from tests.audits_of_everything.judging import FULL_SIZE, judged

import sfumato as sf
from sfumato.query.sql.parsing import FUNCTIONS


@pytest.mark.statistical
@pytest.mark.parametrize("name", CASES if FULL_SIZE else IN_TEST)
def test_no_aggregate_tells_more_than_it_is_charged(name):
    judged(CASES[name]).assert_true()


def test_every_statistic_of_python_is_audited():
    assert {name for name, home in sf._HOMES.items() if home.startswith("query.statistics.")} == set(IN_PYTHON)


def test_every_aggregate_of_sql_is_audited():
    written = {name for name in FUNCTIONS if isinstance(_built(name), exp.AggFunc)} - set(OF_NO_GROUP)
    assert written == {name.split("(")[0] for name in IN_SQL}


OF_NO_GROUP = (
    "LEAST", "GREATEST", "COALESCE", "GROUPING", "FIRST_VALUE", "LAST_VALUE", "LAG", "LEAD", "NTILE",
)  # fmt: skip
"""Of the values of one row, of the rows of one unit or of released rows, whatever the parser calls them."""


def _built(name):
    arguments = [exp.column("x")] * (
        2 if name in {"QUANTILE", "MOD", "POWER", "CORR", "COVAR_POP", "COVAR_SAMP"} else 1
    )
    for more in range(3):
        try:
            return FUNCTIONS[name](arguments + [exp.column("x")] * more)
        except Exception:  # noqa: BLE001, S112 # it takes more arguments
            continue
    return None
