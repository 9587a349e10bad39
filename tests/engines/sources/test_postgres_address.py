import pytest

from sfumato.engines.sources.postgres_address import address_of
from sfumato.errors import ParameterError


@pytest.mark.parametrize(
    ("table", "schema", "name"),
    [("visits", None, "visits"), ("public.visits", "public", "visits"),
     ("public.Visits%20of%202026", "public", "Visits of 2026"),
     ("%22my.schema%22.%22a%22%22b%22", "my.schema", 'a"b')],
)  # fmt: skip
def test_a_table_is_named_as_the_catalog_has_it_with_or_without_its_schema(table, schema, name):
    found = address_of(f"postgresql://curator@db.example.org/hospital?table={table}")
    assert (found.schema, found.name) == (schema, name)


def test_all_else_is_libpqs_own():
    found = address_of("postgresql://curator@[::1]:5433/hospital?sslmode=verify-full&table=visits&connect_timeout=5")
    assert found.database == "postgresql://curator@[::1]:5433/hospital?sslmode=verify-full&connect_timeout=5"


@pytest.mark.parametrize(
    "source",
    ["postgresql://curator:s3cret@db/hospital?table=visits", "postgresql://db/hospital?table=visits&password=s3cret",
     "postgres://db/hospital?password=s3cret&table=visits&user=curator"],
)  # fmt: skip
def test_a_password_does_not_show(source):
    found = address_of(source)
    assert "s3cret" in found.database
    assert "s3cret" not in repr(found)


@pytest.mark.parametrize(
    "source",
    ["postgresql://curator:s3cret@db/hospital", "postgresql://curator:s3cret@db/hospital?table=",
     "postgresql://curator:s3cret@db/hospital?table=a.b.c", "postgresql://curator:s3cret@db/hospital?table=a&table=b",
     "postgresql://curator:s3cret@[db/hospital?table=a", "postgresql://curator:s3cret@db/hospital?table"],
)  # fmt: skip
def test_an_address_without_a_table_is_refused_and_its_password_does_not_show(source):
    with pytest.raises(ParameterError, match=r"schema\.name") as caught:
        address_of(source)
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_options_of_the_server_are_handed_on_as_its_library_reads_them():
    found = address_of("postgresql://db/hospital?table=visits&options=-c%20search_path%3Dcare")
    assert found.database.endswith("?options=-c%20search_path%3Dcare")
