import json

import pytest
from tests.ledger.checkpoints import KEY, TOTALS, noted

from sfumato.errors import LedgerCorruptError, ParameterError
from sfumato.ledger.core.store import GENESIS, Chain
from sfumato.ledger.keeping.checkpoints import decode_checkpoint, encode_checkpoint, require_not_older

GOLDEN = (
    '{"checkpoint":{"at":1700000000000000,"head":"4c0dd61c1a9c8cf5d5aa4a5b0d3e4f0a2b7f1b0c6d1e2f3a4b5c6d7e8f901234",'
    '"key":"85164e8979433cb5","length":3,"seal":"%s","totals":[["people","\\u03b5 1/10"]]},"version":1}'
)
"""What the first version wrote; it is read for ever."""


GOLDEN_SEAL = "97f030c066f495c9cc043d6019c87f805bb0c9f3878dc6e9d6d152517e9872c0"


def chain(*texts):
    """The records of some texts."""
    records, here = [], Chain()
    for text in texts:
        records.append(here.link(text))
        here = here.follow(records[-1])
    return records


def hash_in(records):
    return lambda index: records[index].hash if index < len(records) else None


@pytest.mark.parametrize("totals", [(), TOTALS])
def test_a_checkpoint_is_one_line_of_ascii_and_comes_back(totals):
    text = encode_checkpoint(noted(3, totals=totals))
    assert text.isascii()
    assert "\n" not in text
    assert decode_checkpoint(text) == noted(3, totals=totals)


def test_a_checkpoint_of_the_first_version_is_read_and_verifies():
    assert decode_checkpoint(GOLDEN % GOLDEN_SEAL).is_sealed_by(KEY)


@pytest.mark.parametrize(
    "document",
    ["", "[]", "null", "7", "{}", '{"version":1}', "[" * 100_000, '{"version":1,"checkpoint":{}}', "1" * 5_000],
)
def test_what_is_no_checkpoint_is_refused(document):
    with pytest.raises(ParameterError, match="checkpoint of version 1"):
        decode_checkpoint(document)


@pytest.mark.parametrize(
    ("field", "value"),
    [("length", -1), ("length", "3"), ("length", 3.0), ("head", "0"), ("head", None), ("at", "now"), ("key", "k"),
     ("seal", ""), ("totals", {}), ("totals", [["a"]]), ("totals", [["a", 1]]), ("totals", ["ab"]), ("another", 1)],
)  # fmt: skip
def test_a_field_that_was_never_written_so_is_refused(field, value):
    document = json.loads(encode_checkpoint(noted(3)))
    document["checkpoint"][field] = value
    with pytest.raises(ParameterError, match="checkpoint of version 1"):
        decode_checkpoint(json.dumps(document))


def test_a_later_version_is_refused():
    text = encode_checkpoint(noted(3)).replace('"version":1', '"version":2')
    with pytest.raises(ParameterError, match="checkpoint of version 1"):
        decode_checkpoint(text)


RECORDS = chain("a", "b", "c", "d")


@pytest.mark.parametrize("length", range(5))
def test_a_ledger_that_goes_on_from_its_checkpoint_passes(length):
    checkpoint = noted(length, head=RECORDS[length - 1].hash if length else GENESIS)
    require_not_older(checkpoint, len(RECORDS), hash_in(RECORDS))


def test_an_older_ledger_is_refused_with_the_remedy():
    checkpoint = noted(4, head=RECORDS[3].hash)
    with pytest.raises(
        LedgerCorruptError, match=r"4 entries were recorded, 3 exist.*`sfumato ledger restored`"
    ) as caught:
        require_not_older(checkpoint, 3, hash_in(RECORDS[:3]))
    assert caught.value.index == 3


def test_an_empty_ledger_in_its_place_is_refused():
    with pytest.raises(LedgerCorruptError, match="1 entries were recorded, 0 exist"):
        require_not_older(noted(1), 0, hash_in([]))


@pytest.mark.parametrize("others", [("a", "x", "c"), ("a", "x", "c", "d", "e"), ("b", "a", "c")])
def test_another_history_is_refused_however_long_it_is(others):
    checkpoint = noted(3, head=RECORDS[2].hash)
    with pytest.raises(
        LedgerCorruptError, match=r"history differs from that of its checkpoint.*`sfumato ledger restored`"
    ) as caught:
        require_not_older(checkpoint, len(others), hash_in(chain(*others)))
    assert caught.value.index == 2


def test_a_ledger_that_does_not_have_the_entry_is_refused():
    with pytest.raises(LedgerCorruptError, match="history differs from that of its checkpoint"):
        require_not_older(noted(3), 4, lambda _: None)
