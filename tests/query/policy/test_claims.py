from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, integer
from sfumato.query.policy.claims import AtMost, HasOwner, claims_of

COLUMNS = {"id": integer(), "who": integer(), "day": integer()}
LIMITS = Limits(max_rows_per_unit=3)
ORDERS = Table(name="orders", columns=COLUMNS, unit=UnitColumn("who"), limits=LIMITS)


def test_a_table_of_rows_or_of_public_facts_claims_nothing_but_its_matches():
    assert claims_of(Table(name="t", columns=COLUMNS)) == ()
    matches = {("day", "who"): 2, ("id",): 1}
    assert claims_of(Table(name="t", columns=COLUMNS, unit=PUBLIC, matches=matches)) == (
        AtMost(("day", "who"), 2), AtMost(("id",), 1),
    )  # fmt: skip


def test_owners_come_before_matches_as_engines_enforce_them():
    path = UnitPath("id", ORDERS, "id")
    items = Table(name="items", columns=COLUMNS, unit=path, limits=LIMITS, matches={("day",): 1})
    assert claims_of(items) == (HasOwner(str(path)), AtMost(("day",), 1))
    assert claims_of(ORDERS) == (HasOwner("who"),)


def test_claims_read_as_sentences():
    path = HasOwner(str(UnitPath("id", ORDERS, "id")))
    assert [str(claim) for claim in (path, AtMost(("id",), 1), AtMost(("day", "who"), 2))] == [
        "each row has an owner: id -> orders(id).who",
        "at most one row for each id",
        "at most 2 rows for each day, who",
    ]
