import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.ledger.core.codec import decode_entry, encode_entry
from sfumato.ledger.core.entry import Committed, Opened, PartitionPart, Reserved
from sfumato.privacy.events import ComposedEvent, DiscreteLaplaceEvent, PureEvent
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP
from sfumato.privacy.neighbors import REPLACE_ONE

ENTRIES = (
    Opened(account="people", budget=ApproxDP(1, "1e-6"), neighboring_relation=REPLACE_ONE, privacy_unit="patient_id"),
    Opened(account="toys", budget=NO_GUARANTEE, neighboring_relation=REPLACE_ONE, privacy_unit="each row"),
    Reserved(account="people", request="r1", question="q", event=PureEvent("0.1"), charge=PureDP("0.1")),
    Reserved(
        account="people",
        request="r2",
        question="q",
        event=ComposedEvent((DiscreteLaplaceEvent(Fraction(10, 3), 1),)),
        charge=ApproxDP("1/3", "1e-9"),
        part=PartitionPart(partition="ward", value="", max_parts_per_unit=2),
    ),
    Committed(account="people", request="r1", key="k", answer={"n": [1, 2.5, None, True, "ünï \ud800"]}),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_comes_back_as_it_was(entry):
    assert decode_entry(encode_entry(entry)) == entry


@given(account=st.text(min_size=1), key=st.text(), answer=JSON)
def test_any_json_answer_comes_back_as_it_was(account, key, answer):
    entry = Committed(account=account, request="r", key=key, answer=answer)
    assert decode_entry(encode_entry(entry)) == entry


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_text_is_canonical(entry):
    text = encode_entry(entry)
    assert text.isascii()
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))


@pytest.mark.parametrize(
    "answer", [float("nan"), float("inf"), (1, 2), {1: 2}, b"x", object(), 10**5000, {"deep": [(1,)]}], ids=range(8)
)
def test_an_answer_that_would_not_come_back_is_refused(answer):
    with pytest.raises(ParameterError, match="must hold JSON"):
        encode_entry(Committed(account="people", request="r", key="k", answer=answer))


def test_an_endless_answer_is_refused():
    answer = []
    answer.append(answer)
    with pytest.raises(ParameterError, match="must hold JSON"):
        encode_entry(Committed(account="people", request="r", key="k", answer=answer))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not JSON",
        "[]",
        "null",
        '{"version":1}',
        '{"version":2,"entry":{}}',
        '{"version":0,"entry":{}}',
        '{"version":true,"entry":{}}',
        '{"version":1,"entry":{"type":"Closed","account":"a","reason":"r"}}',
        '{"version":1,"entry":{"type":"os.system","account":"a"}}',
        encode_entry(ENTRIES[2]).replace("PureEvent", "UnknownEvent"),
        encode_entry(ENTRIES[2]).replace('"1/10"', '"1/0"'),
        encode_entry(ENTRIES[2]).replace('"epsilon":"1/10","type":"PureDP"', '"type":"NoGuarantee"'),
        encode_entry(ENTRIES[3]).replace('"max_parts_per_unit":2', '"max_parts_per_unit":0'),
        encode_entry(ENTRIES[3]).replace('"partition":"ward",', ""),
        encode_entry(ENTRIES[0]).replace("replace_one", "replace_two"),
        "[" * 100_000,
    ],
    ids=range(17),
)
def test_what_is_no_entry_is_refused(text):
    with pytest.raises(ParameterError, match="entry"):
        decode_entry(text)


@pytest.mark.parametrize("at", [-1, 253_402_300_800_000_000, 10**30])
def test_a_time_of_which_no_calendar_knows_is_refused(at):
    text = encode_entry(Committed(account="people", request="r", key="k", answer=1)).replace('"at":0', f'"at":{at}')
    with pytest.raises(ParameterError):
        decode_entry(text)


def test_the_last_microsecond_before_the_year_10000_is_read():
    entry = Committed(account="people", request="r", key="k", answer=1, at=253_402_300_799_999_999)
    assert decode_entry(encode_entry(entry)) == entry
