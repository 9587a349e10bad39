import pyarrow as pa
import pytest

from sfumato.engines.postgres_sources import open_in_place
from sfumato.engines.sources import ArrowData, PostgresData, keeps_rows
from sfumato.errors import ParameterError
from sfumato.query.schema import Table, integer

TABLE = Table(name="t", columns={"v": integer(0, 9)})


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_an_address_is_kept_with_what_is_declared_of_its_table(scheme):
    source = open_in_place(f"{scheme}://db/hospital?table=t", TABLE)
    assert isinstance(source, PostgresData)
    assert (source.address.name, source.table) == ("t", TABLE)
    assert not keeps_rows(source)  # it may be a view


def test_an_address_without_a_table_is_refused():
    with pytest.raises(ParameterError, match=r"schema\.name"):
        open_in_place("postgresql://db/hospital", TABLE)


def test_a_frame_is_opened_as_for_other_engines():
    assert isinstance(open_in_place(pa.table({"v": [1]}), TABLE), ArrowData)
