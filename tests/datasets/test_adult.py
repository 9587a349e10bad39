import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sfumato.datasets import ADULT_NAMES, adult_or_people, files, load_adult, people
from sfumato.errors import ParameterError

MARITAL_STATUS = {
    "Married-civ-spouse": 22_379,
    "Never-married": 16_117,
    "Divorced": 6_633,
    "Separated": 1_530,
    "Widowed": 1_518,
    "Married-spouse-absent": 628,
    "Married-AF-spouse": 37,
}


@pytest.fixture
def no_files(monkeypatch, tmp_path):
    monkeypatch.delenv("SFUMATO_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(files, "_fetch", unreachable)


def unreachable(path):
    raise OSError(path)


def test_the_files_have_their_numbers_of_rows():
    assert [load_adult(part).num_rows for part in ("train", "test", "all")] == [32_561, 16_281, 48_842]


def test_6460_people_are_over_fifty():
    assert pc.sum(pc.greater(load_adult()["age"], 50)).as_py() == 6_460


def test_both_files_together_have_the_marital_status_of_the_texts():
    counts = load_adult("all")["marital_status"].value_counts().to_pylist()
    assert {entry["values"]: entry["counts"] for entry in counts} == MARITAL_STATUS


def test_columns_are_typed_and_complete():
    table = load_adult("all")
    assert tuple(table.column_names) == ADULT_NAMES
    assert all(column.null_count == 0 for column in table.columns)
    assert table.schema.equals(people(1).schema)


def test_texts_are_stripped_and_incomes_have_no_stop():
    table = load_adult("all")
    assert set(pc.unique(table["income"]).to_pylist()) == {"<=50K", ">50K"}
    texts = [name for name in ADULT_NAMES if table.schema.field(name).type == pa.string()]
    assert all(value == value.strip() for name in texts for value in pc.unique(table[name]).to_pylist())


def test_unknown_values_stay_question_marks():
    assert pc.sum(pc.equal(load_adult()["workclass"], "?")).as_py() == 1_836


def test_the_demo_takes_adult_where_it_is():
    table, description = adult_or_people()
    assert table.equals(load_adult())
    assert "UCI" in description


@pytest.mark.usefixtures("no_files")
def test_the_demo_takes_made_up_people_elsewhere_and_says_so():
    table, description = adult_or_people()
    assert table.equals(people())
    assert "made-up" in description


@pytest.mark.usefixtures("no_files")
def test_an_absent_file_says_how_to_provide_it():
    with pytest.raises(ParameterError, match=r"adult\.data was neither .* set SFUMATO_DATA"):
        load_adult()


def test_a_part_is_one_of_three():
    with pytest.raises(ParameterError, match="part"):
        load_adult("validation")


def test_one_file_is_no_source_of_both_parts(tmp_path):
    table = load_adult()
    (tmp_path / "adult.data").write_bytes(files.find("adult.data"))
    assert load_adult(source=tmp_path / "adult.data").equals(table)
    with pytest.raises(ParameterError, match=r"adult\.test"):
        load_adult("all", source=tmp_path / "adult.data")
