"""The public file of synthetic data: it is read as it was written, and nothing else is taken for one."""

import json
from dataclasses import replace

import pytest

from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.synth import published
from sfumato.synth.published import PublishedColumn, PublishedMarginal, PublishedSynthetic, read_synthetic

FACTS = dict.fromkeys(published.FACTS, "x")
SEX = PublishedColumn(name="sex", values=("f", "m", None))
AGE = PublishedColumn(name="age", values=((0.0, 9.0), 10, True))
ONE = PublishedMarginal(
    columns=("sex",), places=(((0,), (1,), (2,)),), synthetic=(1.5, 2.0, 0.0), measured=(3, -1, 10**9), stddev=2.5,
    half_width=5, questions={"hash": ("sex",)},
)  # fmt: skip
TWO = PublishedMarginal(
    columns=("age", "sex"), places=(((0,), (1, 2)), ((0,), (1,), (2,))), synthetic=(0.0,) * 6, measured=(1,) * 6,
    stddev=1.0, half_width=2, questions={"a": ("age", "sex"), "b": ("sex", "age")},
)  # fmt: skip
WHOLE = PublishedSynthetic(
    method="mst", reason="why", total=9.5, guarantee=ApproxDP(1, "1e-6"), facts=FACTS, columns=(SEX, AGE),
    marginals=(ONE, TWO), left_out=(("age", "sex", "town"),),
)  # fmt: skip


def written(tmp_path, found, **changed):
    file = tmp_path / "twins.json"
    file.write_text(json.dumps(found.to_dict() | changed), "utf-8")
    return file


def test_it_is_read_as_it_was_written(tmp_path):
    assert read_synthetic(written(tmp_path, WHOLE)) == WHOLE
    assert read_synthetic(str(written(tmp_path, WHOLE))).marginals[1].questions["b"] == ("sex", "age")


def test_combinations_are_listed_with_the_last_column_fastest():
    assert list(WHOLE.values_of(ONE)) == [(("f",),), (("m",),), ((None,),)]
    assert list(WHOLE.values_of(TWO))[:4] == [
        (((0.0, 9.0),), ("f",)), (((0.0, 9.0),), ("m",)), (((0.0, 9.0),), (None,)), ((10, True), ("f",)),
    ]  # fmt: skip


WRONG = {
    "no marginal": replace(WHOLE, marginals=()),
    "a column twice": replace(WHOLE, columns=(SEX, SEX, AGE)),
    "a count too few": replace(WHOLE, marginals=(replace(ONE, measured=(3, 1)),)),
    "synthetic ones too few": replace(WHOLE, marginals=(replace(ONE, synthetic=(3.0, 1.0)),)),
    "a value in no place": replace(WHOLE, marginals=(replace(ONE, places=(((0,), (1,), (1,)),)),)),
    "a place of no value": replace(WHOLE, marginals=(replace(ONE, places=(((0,), (1,), (7,)),)),)),
    "an unknown column": replace(WHOLE, marginals=(replace(ONE, columns=("town",)),)),
    "a question of others": replace(WHOLE, marginals=(replace(ONE, questions={"hash": ("age",)}),)),
    "no number": replace(WHOLE, marginals=(replace(ONE, synthetic=(float("nan"), 2.0, 0.0)),)),
    "an infinite one": replace(WHOLE, marginals=(replace(ONE, synthetic=(float("inf"), 2.0, 0.0)),)),
    "a count beyond all": replace(WHOLE, marginals=(replace(ONE, measured=(3, 1, 10**400)),)),
    "no δ": replace(WHOLE, guarantee=PureDP(1)),
    "a column of no text": replace(WHOLE, marginals=(replace(ONE, half_width=2.5),)),
}


@pytest.mark.parametrize("found", WRONG.values(), ids=WRONG)
def test_what_does_not_fit_together_is_refused(tmp_path, found):
    with pytest.raises(ParameterError, match=r"a file that `Synthetic\.publish` wrote"):
        read_synthetic(written(tmp_path, found))


@pytest.mark.parametrize("changed", [{"format": "other"}, {"version": 2}, {"exact": [1]}, {"confidence": "0.9"}])
def test_a_document_that_says_more_or_otherwise_is_refused(tmp_path, changed):
    with pytest.raises(ParameterError):
        read_synthetic(written(tmp_path, WHOLE, **changed))


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"7", b"[" * 100_000, b"\xff", b'{"guarantee": 9' + b"9" * 9_000]
)
def test_what_is_no_document_is_refused(tmp_path, content):
    file = tmp_path / "twins.json"
    file.write_bytes(content)
    for path in (file, tmp_path, tmp_path / "none"):
        with pytest.raises(ParameterError):
            read_synthetic(path)


def test_a_file_that_is_too_large_is_not_parsed(tmp_path, monkeypatch):
    file = written(tmp_path, WHOLE)
    monkeypatch.setattr(published, "_MOST_BYTES", file.stat().st_size)
    assert read_synthetic(file) == WHOLE
    monkeypatch.setattr(published, "_MOST_BYTES", file.stat().st_size - 1)
    monkeypatch.setattr(published.json, "loads", lambda _: pytest.fail("it was parsed"))
    with pytest.raises(ParameterError):
        read_synthetic(file)
