"""Questions of the DataFrame face: where no limit binds the answer is that of plain SQL."""

import pytest
from tests.query.worked.answers_frames import FRAMES
from tests.query.worked.oracles import SURE, fresh_view, plain_rows, rows_of

ENGINES = ("reference", "duckdb")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("asked", FRAMES, ids=lambda asked: asked.name)
def test_where_no_limit_binds_the_answer_is_that_of_plain_sql(asked, engine):
    release = asked.build(fresh_view(asked.on, engine)).release(epsilon=SURE)
    found, expected = by_keys(rows_of(release), release.keys), by_keys(plain_rows(asked.on, asked.plain), release.keys)
    assert found == [
        {name: pytest.approx(value) if isinstance(value, float) else value for name, value in row.items()}
        for row in expected
    ]


def by_keys(rows, keys):
    return sorted(rows, key=lambda row: [repr(row[key]) for key in keys])
