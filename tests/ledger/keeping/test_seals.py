from dataclasses import replace

import pytest
from tests.ledger.stories import KEY, OTHER_KEY

from sfumato.errors import LedgerCorruptError
from sfumato.ledger.core.journal import Chain
from sfumato.ledger.core.store import End, Pointer
from sfumato.ledger.keeping.seals import UNWRITTEN, Index, Seal, encode_seal, seal_of, sealed_by

POINTERS = tuple(Pointer(name=f"name {number}", index=number, seal=f"{number}") for number in range(5))
SEAL = Seal(chain=Chain(length=3, head="a" * 64), index=Index().plus(POINTERS), checkpoint="beside")
END = End(chain=SEAL.chain, seal=encode_seal(SEAL, KEY))


def test_a_seal_comes_back():
    assert seal_of(END, KEY) == SEAL
    assert sealed_by(END) == KEY.name


def test_where_nothing_was_kept_nothing_is_sealed():
    assert seal_of(End(chain=Chain(), seal=None), KEY) == UNWRITTEN


@pytest.mark.parametrize(
    ("chain", "index", "said"),
    [
        (Chain(), 0, "is gone"),
        (Chain(length=2, head="b" * 64), 2, "is gone"),
        (Chain(length=3, head="b" * 64), 2, "is another"),
        (Chain(length=4, head="a" * 64), 3, "no seal covers it"),
    ],
)
def test_another_end_is_not_covered_and_the_first_entry_that_is_wrong_is_named(chain, index, said):
    with pytest.raises(LedgerCorruptError, match=said) as caught:
        seal_of(replace(END, chain=chain), KEY)
    assert caught.value.index == index


@pytest.mark.parametrize("at", range(0, len(END.seal), 7))
def test_a_flipped_bit_is_noticed(at):
    seal = f"{END.seal[:at]}{chr(ord(END.seal[at]) ^ 1)}{END.seal[at + 1 :]}"
    with pytest.raises(LedgerCorruptError, match="seal"):
        seal_of(replace(END, seal=seal), KEY)


@pytest.mark.parametrize("seal", ["", " ", "x", "x []", "x {}", "x " + "[" * 100_000])
def test_what_is_no_seal_is_damage(seal):
    with pytest.raises(LedgerCorruptError, match="is damaged"):
        seal_of(replace(END, seal=seal), KEY)


def test_another_key_is_told_by_name():
    with pytest.raises(LedgerCorruptError, match=f"{KEY.name}, and the key beside the ledger is {OTHER_KEY.name}"):
        seal_of(END, OTHER_KEY)


@pytest.mark.parametrize("change", [{"name": "x"}, {"index": 9}, {"seal": "x"}])
def test_an_index_notices_every_change_of_a_pointer_and_not_their_order(change):
    assert Index().plus(POINTERS[::-1]) == SEAL.index
    assert Index().plus(POINTERS[1:]) != SEAL.index
    assert Index().plus((replace(POINTERS[0], **change), *POINTERS[1:])) != SEAL.index
