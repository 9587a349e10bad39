from datetime import date, datetime

import pytest
from pydantic import ValidationError

from sfumato.query.policy.document import ColumnEntry, TableEntry


def test_values_keep_the_types_that_the_file_gives_them():
    written = [True, 1, "1", date(2026, 1, 31), datetime.fromisoformat("2026-01-31")]
    read = ColumnEntry(values=written).values
    assert read is not None
    assert [(type(value), value) for value in read] == [(type(value), value) for value in written]


def test_what_is_not_listed_is_refused_because_a_slip_must_not_pass_in_silence():
    with pytest.raises(ValidationError, match="bound"):
        ColumnEntry.model_validate({"bound": [0, 1]})


@pytest.mark.parametrize("unique", ["code", [1], [["a", 1]]])
def test_uniqueness_is_a_list_of_columns_and_lists_of_columns(unique):
    with pytest.raises(ValidationError, match="unique"):
        TableEntry.model_validate({"source": "t.csv", "unit": "public", "columns": {}, "unique": unique})
