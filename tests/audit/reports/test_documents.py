"""What goes over a pipe or into a file keeps apart what was apart, and what comes from a file is checked."""

import json
import math
from dataclasses import fields
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from sfumato.audit import (
    CAVEAT,
    AccountingFinding,
    AuditReport,
    EventFinding,
    LawFinding,
    NeighborPair,
    RepeatFinding,
    SensitivityFinding,
)
from sfumato.audit.reports.documents import encoded, encoded_outputs, read_json, read_pairs, report_document
from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import ApproxDP

APART = [
    0, 1, -0.0, 0.5, "0", None, True, [], [0], {}, {"0": 0}, {"1": 0}, Fraction(1, 3), Decimal("0.5"), Decimal("0.50"),
    2**100, 2**100 + 1, 10**5000, 10**5000 + 1, date(2000, 1, 1), b"x", 1j, math.inf, -math.inf, math.nan,
    {"a": Fraction(1, 3)}, (Fraction(2, 3), 1),
]  # fmt: skip


def test_what_was_apart_stays_apart_in_json():
    texts = [json.dumps(encoded(value)) for value in APART]
    assert len(set(texts)) == len(APART)
    assert all(json.dumps(json.loads(text)) == text for text in texts)


@pytest.mark.parametrize(
    ("value", "same"),
    [
        (np.int64(3), 3),
        (np.float64(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("x"), "x"),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        ((1, (2, "x")), [1, [2, "x"]]),
        ({1: 2, "a": (np.int8(3),)}, {"1": 2, "a": [3]}),
        (np.array(5), 5),
    ],
)
def test_numbers_arrays_and_tuples_are_what_json_has_for_them(value, same):
    assert encoded(value) == same
    assert type(encoded(value)) is type(same)


def test_a_number_beyond_doubles_keeps_its_size_and_its_digits():
    assert encoded(Fraction(1, 3)) == {"number": 1 / 3, "exactly": "Fraction(1, 3)"}
    assert encoded(10**5000)["number"] == math.inf
    assert "exactly" in encoded(np.longdouble(1)) or encoded(np.longdouble(1)) == repr(np.longdouble(1))


def test_outputs_of_an_array_do_not_show_what_dtype_the_oddest_of_them_chose():
    assert (
        json.dumps(encoded_outputs(np.array([1, 2]))) == json.dumps(encoded_outputs(np.array([1.0, 2.0]))) == "[1, 2]"
    )
    assert json.dumps(encoded_outputs(np.array([[1.0, -0.0], [math.nan, 2.5]]))) == "[[1, -0.0], [NaN, 2.5]]"
    assert encoded_outputs(np.array([True, None], dtype=object)) == [1, None]
    assert json.dumps(encoded_outputs((1.0, 2))) == "[1.0, 2]"


@pytest.mark.parametrize("outputs", ["text", b"x", {1: 2}, {1}, 5, None, np.array(5), iter([1])])
def test_outputs_stand_in_an_order(outputs):
    with pytest.raises(ParameterError, match="one for each run"):
        encoded_outputs(outputs)


@pytest.fixture
def written(tmp_path):
    def write(document):
        path = tmp_path / "pairs.json"
        path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
        return path

    return write


def test_pairs_are_read_as_they_were_written(written):
    first = {"database": [1, 2], "neighbor": [2], "description": "the first is removed"}
    second = {"database": {"a": math.inf}, "neighbor": {"a": 10**30}}
    assert read_pairs(written([first, second])) == (
        NeighborPair([1, 2], [2], "the first is removed"),
        NeighborPair({"a": math.inf}, {"a": 10**30}, "pair 2"),
    )


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("[", "must be JSON"),
        ("[" * 100_000, "must be JSON"),
        ([], "one or more pairs"),
        ({"database": 1, "neighbor": 2}, "one or more pairs"),
        ([5], "pair 1 = 5: must look like"),
        ([{"database": 1}], "must look like"),
        ([{"database": 1, "neighbor": 2, "neighbour": 3}], "must look like"),
        (
            [{"database": 1, "neighbor": 2}, {"database": 1, "neighbor": 2, "description": 3}],
            "pair 2 = 3: must have text",
        ),
        ([{"database": 1, "neighbor": 2, "description": ""}], "text as its description"),
        ([{"database": [1], "neighbor": [1]}], "two different databases"),
        ('[{"database": 1, "database": 2, "neighbor": 3}]', "has 'database' twice"),
    ],
)
def test_what_is_no_list_of_pairs_is_refused_with_its_place(written, document, said):
    with pytest.raises(ParameterError, match=r"--pairs") as caught:
        read_pairs(written(document))
    assert said.replace("pair 2 = 3: must have text", "pair 2 =") in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="cannot be read: No such file"):
        read_json(tmp_path / "none.json", name="--rows")
    (tmp_path / "latin.json").write_bytes(b'["\xe9"]')
    with pytest.raises(ParameterError, match="--rows"):
        read_json(tmp_path / "latin.json", name="--rows")


def finding(bound):
    return EventFinding(
        tester="event search", pair="one leaves", event="the answer ≤ 3", claim=ApproxDP("0.1", "1e-6"),
        epsilon_lower_bound=bound, samples=2000, significance=1e-6, unread=("parts",),
    )  # fmt: skip


@pytest.mark.parametrize(("bound", "written_as", "refuted"), [(0.5, 0.5, True), (-math.inf, "-inf", False)])
def test_a_report_is_json_that_any_program_reads(bound, written_as, refuted):
    law = LawFinding(law="a fair die", p_value=0.5, samples=100, significance=1e-6)
    repeat = RepeatFinding(pair="one leaves", p_value=1.0, samples=1000, significance=1e-6)
    books = AccountingFinding(accountant="mine", law="ε grows", broken=(), checks=3)
    moved = SensitivityFinding(
        function="sum", norm="L1", claimed=Fraction(1, 3), largest=Fraction(0), pair="", is_exceeded=False, checks=2
    )
    report = AuditReport((finding(bound),), (law,), (repeat,), accounting=(books,), sensitivities=(moved,))
    document = report_document(report)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert {field.name for field in fields(report)} < document.keys()
    assert (document["sensitivities"][0]["claimed"], document["accounting"][0]["broken"]) == ("1/3", [])
    assert (document["refuted"], document["caveat"]) == (refuted, CAVEAT)
    (event,) = document["events"]
    assert event["epsilon_lower_bound"] == written_as
    assert event["claim"] == {"epsilon": "1/10", "delta": "1/1000000"}
    assert event["verdict"] == ("privacy violation" if refuted else "nothing found")
    assert [document[kind][0]["verdict"] for kind in ("laws", "repeats")] == ["nothing found"] * 2
