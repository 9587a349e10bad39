"""Files of protocols, values, reports and counts: what is written is read again, and what is odd is refused alone."""

import json

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.local.protocols import NUMBERS, STORED, TEXTS

from sfumato.errors import ParameterError
from sfumato.local import DirectEncoding, SampledMeans, Shuffler, load_protocol, save_protocol
from sfumato.local.files import (
    _HOMES,
    each_once,
    load_counts,
    load_shuffled,
    read_reports,
    read_values,
    save_counts,
    save_shuffled,
    write_reports,
)

ENDINGS = ("csv", "ndjson", "jsonl", "parquet")
DRINKS = DirectEncoding(["tea", "coffee", 7], epsilon=1)


def test_every_kind_of_protocol_has_its_home():
    assert {protocol.kind for protocol in STORED.values()} == set(_HOMES)
    for kind, home in _HOMES.items():
        (found,) = {type(protocol) for protocol in STORED.values() if protocol.kind == kind}
        assert f"{found.__module__}.{found.__name__}" == f"sfumato.local.{home}"


@pytest.mark.parametrize("protocol", STORED.values(), ids=STORED)
def test_a_protocol_is_read_as_it_was_written(protocol, tmp_path):
    assert load_protocol(save_protocol(protocol, tmp_path / "survey.json")) == protocol


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"version": 1}', "[" * 100_000])
def test_a_file_of_no_protocol_is_refused(content, tmp_path):
    (tmp_path / "survey.json").write_text(content, "utf-8")
    with pytest.raises(ParameterError, match="protocol"):
        load_protocol(tmp_path / "survey.json")


def test_missing_files_are_errors_of_the_package(tmp_path):
    for read in (
        load_protocol,
        lambda path: list(read_reports(path)),
        lambda path: load_counts(DRINKS.aggregator(), path),
    ):
        with pytest.raises(ParameterError, match="can be read"):
            read(tmp_path / "missing.csv")


@pytest.mark.parametrize("ending", ENDINGS)
def test_reports_are_read_as_they_were_written(ending, tmp_path):
    reports = DRINKS.client().report_many(["tea", 7] * 30_000)
    path = tmp_path / f"reports.{ending}"
    assert write_reports(path, [reports[:100], reports[100:]]) == 60_000
    aggregator, expected = DRINKS.aggregator(), DRINKS.aggregator()
    for block in read_reports(path):
        assert not aggregator.add(block).refused
    expected.add(reports)
    assert aggregator.snapshot() == expected.snapshot()
    with pytest.raises(ParameterError, match="exists already"):
        write_reports(path, [reports])


@pytest.mark.parametrize("ending", ENDINGS)
def test_values_are_read_as_those_of_the_protocol(ending, tmp_path):
    path = tmp_path / f"values.{ending}"
    values = ["tea", "coffee", "beer"]
    if ending == "parquet":
        parquet.write_table(pa.table({"x": [1, 2, 3], "drink": values}), path)
    elif ending == "csv":
        path.write_text("x,drink\n1,tea\n2,coffee\n3,beer\n4\n5,7\n", "utf-8")
        values = ["tea", "coffee", None, None, 7]
    else:
        path.write_text("".join(json.dumps({"drink": value}) + "\n" for value in values), "utf-8")
    (block,) = read_values(path, "drink", DRINKS)
    assert block == values


def test_several_attributes_have_a_column_each(tmp_path):
    protocol = SampledMeans({"age": (0, 100), "height": (0, 250)}, epsilon=1)
    path = tmp_path / "people.csv"
    path.write_text("height,name,age\n170,Ann,40\nx,Bob,\n", "utf-8")
    (block,) = read_values(path, None, protocol)
    assert block == [(40.0, 170.0), (None, None)]
    with pytest.raises(ParameterError, match="names its columns"):
        list(read_values(path, "age", protocol))
    with pytest.raises(ParameterError, match="must name the column"):
        list(read_values(path, None, DRINKS))


def test_lines_that_are_no_objects_are_refused_by_themselves(tmp_path):
    path = tmp_path / "reports.ndjson"
    good = DRINKS.client().report("tea").to_text()
    path.write_text(f'{{"report": "{good}"}}\nnull\n[1]\n{{\n{{"x": 1}}\n' + "[" * 5000 + "\n", "utf-8")
    (block,) = read_reports(path)
    assert DRINKS.aggregator().add(block).refused == (1, 2, 3, 4, 5)


def test_lines_that_are_no_csv_are_refused_by_themselves(tmp_path):
    path = tmp_path / "reports.csv"
    good = DRINKS.client().report("tea").to_text()
    path.write_bytes(f"more,report\n1,{good}\n2,{'x' * 200_000}\n\n3\n4,\0\n5,\xff\n6,{good}\n".encode("latin-1"))
    (block,) = read_reports(path)
    assert DRINKS.aggregator().add(block).refused == (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("drink\ntea\n\ncoffee\n\n", ["tea", None, "coffee", None]),
        ("x,drink\n1,tea\n\n2,coffee\n\n", ["tea", "coffee"]),
        ('drink\n""\ntea', [None, "tea"]),
    ],
    ids=["one column", "two columns", "an empty cell"],
)
def test_an_empty_line_of_one_column_is_a_person_without_a_value(content, expected, tmp_path):
    """Without a report of theirs, the number of reports would say how many have none."""
    path = tmp_path / "values.csv"
    path.write_text(content, "utf-8")
    (block,) = read_values(path, "drink", DRINKS)
    assert block == expected


@pytest.mark.parametrize("protocol", [*TEXTS.values(), *NUMBERS.values(), DRINKS], ids=lambda protocol: protocol.kind)
def test_an_empty_cell_is_missing_and_no_text_or_number(protocol):
    assert protocol.parse("") is None
    assert DirectEncoding(["", "tea"], epsilon=1).parse("") == ""


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_that_came_meanwhile_is_not_replaced(ending, tmp_path):
    path = tmp_path / "folder" / f"reports.{ending}"

    def slow():
        yield DRINKS.client().report_many(["tea"])
        path.write_text("of somebody else", "utf-8")

    with pytest.raises(ParameterError, match="exists already"):
        write_reports(path, slow())
    assert [found.name for found in path.parent.iterdir()] == [path.name]
    assert path.read_text("utf-8") == "of somebody else"


def test_no_file_is_counted_twice(tmp_path):
    assert each_once(["a.csv", "b.csv"]) == ["a.csv", "b.csv"]
    (tmp_path / "a.csv").write_text("", "utf-8")
    for twice in (["a.csv", "a.csv"], [str(tmp_path / "a.csv"), f"{tmp_path}/../{tmp_path.name}/a.csv"]):
        with pytest.raises(ParameterError, match="named twice"):
            each_once(twice)


def test_a_file_without_anything_has_no_reports(tmp_path):
    (tmp_path / "reports.csv").write_bytes(b"")
    with pytest.raises(ParameterError, match="column"):
        list(read_reports(tmp_path / "reports.csv"))


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_fails_leaves_no_file_of_some_reports(ending, tmp_path):
    def failing():
        yield DRINKS.client().report_many(["tea"])
        raise ParameterError("column", "x", "must be there")

    with pytest.raises(ParameterError, match="must be there"):
        write_reports(tmp_path / f"reports.{ending}", failing())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["reports.txt", "reports", "reports.csv.gz"])
def test_unknown_endings_are_refused(name, tmp_path):
    (tmp_path / name).write_text("report\n", "utf-8")
    with pytest.raises(ParameterError, match="must end in"):
        list(read_reports(tmp_path / name))
    with pytest.raises(ParameterError, match="must end in"):
        write_reports(tmp_path / f"new-{name}", [])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_missing_column_is_refused(ending, tmp_path):
    path = tmp_path / f"values.{ending}"
    if ending == "csv":
        path.write_text("x\n1\n", "utf-8")
    else:
        parquet.write_table(pa.table({"x": [1]}), path)
    with pytest.raises(ParameterError, match="column"):
        list(read_reports(path))


def test_a_cell_that_python_cannot_hold_is_missing(tmp_path):
    """Whoever sends a file of reports may put anything into it."""
    odd = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\3\0\0\0\4\0\0\0"), pa.py_buffer(b"tea\xff")]
    )
    late = pa.array([0, 9 * 10**17], pa.timestamp("ms"))
    parquet.write_table(pa.table({"drink": odd, "late": late}), tmp_path / "values.parquet")
    (block,) = read_values(tmp_path / "values.parquet", "drink", DRINKS)
    assert block == ["tea", None]
    (block,) = read_values(tmp_path / "values.parquet", "late", DRINKS)
    assert block[1] is None


def test_a_damaged_file_of_parquet_is_an_error_of_the_package(tmp_path):
    path = tmp_path / "reports.parquet"
    write_reports(path, [DRINKS.client().report_many(["tea"] * 50_000)])
    data = bytearray(path.read_bytes())
    data[100 : len(data) // 2] = b"\xff" * (len(data) // 2 - 100)
    path.write_bytes(data)
    with pytest.raises(ParameterError, match="Parquet"):
        list(read_reports(path))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_that_is_there_twice_is_refused(ending, tmp_path):
    path = tmp_path / f"values.{ending}"
    if ending == "csv":
        path.write_text("drink,drink\ntea,coffee\n", "utf-8")
    else:
        parquet.write_table(pa.Table.from_arrays([pa.array(["tea"])] * 2, names=["drink", "drink"]), path)
    with pytest.raises(ParameterError, match="one column"):
        list(read_values(path, "drink", DRINKS))


def test_an_empty_line_of_ndjson_is_nobody(tmp_path):
    path = tmp_path / "values.ndjson"
    path.write_text('{"drink": "tea"}\n\n \n{"drink": null}\n\n', "utf-8")
    (block,) = read_values(path, "drink", DRINKS)
    assert block == ["tea", None]


@pytest.mark.parametrize("ending", ENDINGS)
def test_several_columns_are_read_in_one_pass(ending, tmp_path):
    """So that each row is one person's, also if the file is replaced meanwhile; and in the order of the protocol."""
    protocol, path = SampledMeans({"b": (0, 9), "a": (0, 9)}, epsilon=1), tmp_path / f"people.{ending}"
    columns = {"a": list(range(20_000)), "b": list(range(1, 20_001))}
    if ending == "parquet":
        parquet.write_table(pa.table(columns), path)
    else:
        rows = zip(*columns.values(), strict=True)
        lines = (f"{a},{b}\n" if ending == "csv" else f'{{"a": {a}, "b": {b}}}\n' for a, b in rows)
        path.write_text("a,b\n" * (ending == "csv") + "".join(lines), "utf-8")
    blocks = read_values(path, None, protocol)
    assert next(blocks)[:2] == [(1, 0), (2, 1)]
    path.unlink()
    assert next(blocks)[-1] == (20_000, 19_999)


def test_a_file_of_something_else_than_parquet_is_refused(tmp_path):
    (tmp_path / "reports.parquet").write_bytes(b"nothing like it")
    with pytest.raises(ParameterError, match="Parquet"):
        list(read_reports(tmp_path / "reports.parquet"))


def test_counts_are_replaced_as_a_whole(tmp_path):
    aggregator = DRINKS.aggregator()
    for people in (10, 20):
        aggregator.add(DRINKS.client().report_many(["tea"] * people))
        save_counts(aggregator, tmp_path / "counts.bin")
        assert len(load_counts(DRINKS.aggregator(), tmp_path / "counts.bin")) == len(aggregator)
    assert [path.name for path in tmp_path.iterdir()] == ["counts.bin"]


def test_what_a_shuffler_gave_out_is_a_file_of_its_own(tmp_path):
    shuffler = Shuffler(DRINKS, honest=30)
    shuffler.add(DRINKS.client().report_many(["tea", 7] * 20))
    whole = shuffler.release()
    path = save_shuffled(whole, tmp_path / "mixed.shuffled")
    assert bytes(load_shuffled(path, DRINKS)) == bytes(whole)
    for wrong in (path, tmp_path / "mixed.csv"):
        with pytest.raises(ParameterError, match="must be a new file"):
            save_shuffled(whole, wrong)
    with pytest.raises(ParameterError, match="can be read"):
        load_shuffled(tmp_path / "missing.shuffled", DRINKS)
    with pytest.raises(ParameterError, match="must end in"):
        list(read_reports(path))
