from dataclasses import replace

import pytest
from tests.ledger.stories import KEY, NOON, account, decided, held, kept, of, replayed, told

from sfumato.errors import LedgerCorruptError, LedgerError, ParameterError, UnitChangedError
from sfumato.ledger.core.entry import Recognized
from sfumato.ledger.keeping.follower import Follower
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.ledger.writing import rules
from sfumato.privacy.neighbors import EACH_ROW
from sfumato.query.model.schema import PUBLIC

ROWS, NOBODYS = str(EACH_ROW), str(PUBLIC)
PID, VISIT = "pid (text)", "visit (text)"


def opens(store, opened, *tables, beside=()):
    """The entries that opening an account adds."""
    before = len(store.read(0))
    decided(store, lambda draft: rules.open_account(draft, opened, tables, beside))
    return len(store.read(0)) - before


def hospital(unit=PID, **facts):
    return held("hospital", unit=unit, **({"sources": ("s",), "fingerprints": ("f",)} | facts))


def opened(**facts):
    """A store with a hospital that protects people."""
    store = of()
    opens(store, account("hospital"), hospital(**facts))
    return store


def test_what_is_known_is_written_once_and_only_what_is_new_is_written_later():
    store = opened()
    assert opens(store, account("hospital"), hospital()) == 0
    assert opens(store, account("hospital"), hospital(sources=("s", "t"), fingerprints=("f", "g"))) == 1
    last = list(Ledger(store, key=KEY).entries())[-1]
    assert (last.sources, last.fingerprints) == (("t",), ("g",))
    assert opens(store, account("hospital"), hospital(), hospital(table="staff", sources=(), fingerprints=())) == 1


@pytest.mark.parametrize(
    "other",
    [
        hospital(ROWS, sources=(), fingerprints=()),
        hospital(VISIT, sources=(), fingerprints=(), table="PEOPLE"),
        hospital(VISIT, table="again", fingerprints=()),
        hospital(ROWS, table="again", sources=()),
        hospital(NOBODYS, table="again", sources=("s", "x"), fingerprints=()),
        hospital(NOBODYS, table="again", sources=("x", "s"), fingerprints=()),
    ],
    ids=lambda entry: f"{entry.table} {entry.unit}",
)
def test_an_account_has_one_unit_for_a_table_and_for_its_data(other):
    store = opened()
    with pytest.raises(UnitChangedError) as caught:
        opens(store, account("hospital"), other)
    assert (caught.value.was, caught.value.is_now, caught.value.holder) == (PID, other.unit, "hospital")
    assert len(store.read(0)) == 2


def test_what_a_view_reads_may_have_other_names_there_and_no_other_kind_of_unit():
    store = opened()
    assert opens(store, account("hospital"), hospital("person (text)", table="view", sources=("v",))) == 1
    with pytest.raises(UnitChangedError):
        opens(store, account("hospital"), hospital(ROWS, table="rows", sources=("w",)))


def test_a_view_of_people_may_read_what_is_public():
    store = of()
    public = held("hospital", unit=NOBODYS, table="nations", sources=("n", "lineage of n"))
    assert opens(store, account("hospital"), public) == 2
    assert opens(store, account("hospital"), hospital(table="view", fingerprints=("f", "lineage of n"))) == 1


def test_what_one_account_calls_public_another_one_may_protect_and_not_the_other_way_round():
    store = of()
    opens(store, account("a"), held("a", unit=NOBODYS, sources=("n",)))
    assert opens(store, account("b"), held("b", "f", unit=PID, sources=("n",))) == 2
    with pytest.raises(UnitChangedError, match="Give the public table its own source"):
        opens(store, account("c"), held("c", unit=NOBODYS, sources=("n",)))


def test_a_policy_that_says_two_units_of_the_same_data_opens_nothing():
    store = of()
    with pytest.raises(UnitChangedError):
        opens(store, account("hospital"), hospital(), hospital(VISIT, table="again"))
    assert not store.read(0)


def test_a_ledger_of_before_is_bound_when_it_is_opened_again():
    store = of(account("hospital"), Recognized(account="hospital", fingerprints=("f",)))
    assert opens(store, account("hospital"), hospital()) == 1
    with pytest.raises(UnitChangedError):
        opens(store, account("hospital"), hospital(ROWS))


# Other accounts


def test_a_renamed_column_is_below_the_account_that_had_it_where_the_owner_says_so():
    store = opened()
    later = held("later", "f", unit="patient (text)", sources=("s",))
    with pytest.raises(UnitChangedError, match="'hospital'"):
        opens(store, account("later"), later)
    for parents in (("hospital",), ()):
        opens(store, account("later", parents=parents), later)
    assert Follower(KEY).caught_up(store).state("later").path == ("later", "hospital")
    with pytest.raises(UnitChangedError):  # another table of it was never said to be the same
        opens(store, account("later"), later, replace(later, table="again", unit=VISIT))
    assert opens(store, account("hospital"), hospital(sources=("s", "t"))) == 1


@pytest.mark.parametrize(("was", "is_now"), [(PID, ROWS), (ROWS, PID), (PID, NOBODYS)])
def test_rows_are_no_renamed_column_of_ids_nor_is_what_is_public(was, is_now):
    store = opened(unit=was)
    with pytest.raises(UnitChangedError):
        opens(store, account("rows", parents=("hospital",)), held("rows", unit=is_now, sources=("s",)))


def test_an_account_beside_another_one_pays_for_itself():
    store = opened()
    visits = held("visits", "f", unit=VISIT, sources=("s",))
    assert opens(store, account("visits"), visits, beside=("hospital",)) == 2
    assert opens(store, account("visits"), visits, beside=("hospital",)) == 0
    assert opens(store, account("visits"), visits) == 0
    assert Follower(KEY).caught_up(store).state("visits").path == ("visits",)
    newer = {"sources": ("t",), "fingerprints": ("g",)}
    assert opens(store, account("visits"), replace(visits, **newer)) == 1
    assert opens(store, account("hospital"), hospital(**newer)) == 1


@pytest.mark.parametrize("known", [hospital(), Recognized(account="hospital", fingerprints=("f",))], ids=["now", "old"])
def test_an_account_beside_another_one_protects_others_for_certain(known):
    store = of(account("hospital"), known)
    for table in (held("b", "f", unit=PID, sources=("s",)), held("b", "f", unit=VISIT, sources=("elsewhere",))):
        with pytest.raises(LedgerError, match="may protect the same unit"):
            opens(store, account("b"), table, beside=("hospital",))
    assert len(store.read(0)) == 2


def test_an_account_beside_is_open_and_neither_above_nor_below():
    store = opened()
    kept(store, account("ann", parents=("hospital",), at=NOON))
    cases = [("nosuch", "b", (), "must be open"), ("hospital", "b", ("hospital",), "leave it out"),
             ("ann", "hospital", (), "leave it out"), ("hospital", "hospital", (), "leave it out")]  # fmt: skip
    for beside, name, parents, wanted in cases:
        with pytest.raises(ParameterError, match=wanted):
            opens(store, account(name, parents=parents), beside=(beside,))


def test_those_beside_are_told_of_the_accounts_above_and_below_too():
    ledger = Ledger(MemoryStore(), key=KEY)
    ledger.open_account(account("all"))
    ledger.open_account(account("hospital", parents=("all",)), tables=[hospital()])
    ledger.open_account(account("hospital/ann", parents=("hospital",)))
    ledger.open_account(account("others", parents=("all",)))
    visits = held("visits", "f", unit=VISIT, sources=("s",))
    ledger.open_account(account("visits"), tables=[visits], beside=("hospital",))
    found = {name: ledger.beside(name) for name in ledger.accounts()}
    assert found == {
        "all": ("visits",), "hospital": ("visits",), "hospital/ann": ("visits",), "others": (), "visits": ("hospital",),
    }  # fmt: skip


# What was written is followed again


FORGED = {
    "another unit of a table": (hospital(VISIT, sources=(), fingerprints=()),),
    "another unit of its data": (hospital(VISIT, table="again"),),
    "beside nobody": (hospital(beside=("nosuch",)),),
    "beside itself": (hospital(beside=("hospital",)),),
    "beside one below": (account("ann", parents=("hospital",)), hospital(beside=("ann",))),
    "beside one above": (account("ann", parents=("hospital",)), held("ann", beside=("hospital",))),
    "of no account": (held("nosuch", unit=PID),),
}


@pytest.mark.parametrize("entries", FORGED.values(), ids=FORGED)
def test_nobody_follows_two_bindings_of_one_table(entries):
    *first, last = entries
    replay = replayed(account("hospital"), hospital(), *first)
    with pytest.raises(LedgerCorruptError):
        told(replay, last)


@pytest.mark.parametrize(("unit", "beside"), [(ROWS, ()), (NOBODYS, ("hospital",)), (VISIT, ())])
def test_verify_finds_another_account_that_was_never_to_have_another_unit(unit, beside):
    entry = held("visits", unit=unit, sources=("s",), beside=beside, at=NOON)
    store = of(account("hospital"), hospital(), account("visits"), entry)
    with pytest.raises(LedgerCorruptError, match="should not have been bound"):
        Ledger(store, key=KEY).verify()


def test_verify_agrees_with_what_was_rightly_bound():
    store = opened()
    opens(store, account("visits"), held("visits", "f", unit=VISIT, sources=("s",)), beside=("hospital",))
    later = held("later", "f", unit="patient (text)", sources=("s",))
    opens(store, account("later", parents=("hospital",)), later, beside=("visits",))
    opens(store, account("view"), held("view", "f", unit="person (text)", sources=("v",)))
    assert Ledger(store, key=KEY).verify().length == len(store.read(0))
