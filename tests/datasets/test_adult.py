import io
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sfumato.datasets import ADULT_NAMES, adult, adult_or_people, load_adult, people
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
    monkeypatch.setattr(adult, "_fetch", unreachable)


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
    with pytest.raises(ParameterError, match=r"adult\.data was not found .* set SFUMATO_DATA"):
        load_adult()


def test_a_part_is_one_of_three():
    with pytest.raises(ParameterError, match="part"):
        load_adult("validation")


def test_one_file_is_no_source_of_both_parts(tmp_path):
    table = load_adult()
    (tmp_path / "adult.data").write_bytes(adult.find("adult.data"))
    assert load_adult(source=tmp_path / "adult.data").equals(table)
    with pytest.raises(ParameterError, match=r"adult\.test"):
        load_adult("all", source=tmp_path / "adult.data")


ARCHIVE = "static/public/2/adult.zip"
FOLDER = "ml/machine-learning-databases/adult"


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def adult_test():
    """The file as it is found, without its optional first line; fails with the loader's message where there is none."""
    load_adult("test")
    return adult.find("adult.test")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder that a web server on this machine shows, with nothing in it yet, and an empty cache."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.delenv("SFUMATO_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(adult, "_SITE", f"http://127.0.0.1:{server.server_port}")
        yield folder
        server.shutdown()
        thread.join()


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def zipped(name, content):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr(name, content)
    return memory.getvalue()


@pytest.mark.parametrize("first_line", [b"", b"|1x3 Cross validator\n"])
def test_both_forms_of_adult_test_are_the_same_file(tmp_path, adult_test, first_line):
    put(tmp_path / "adult.test", first_line + adult_test)
    assert adult.read_given("adult.test", tmp_path) == adult_test
    assert load_adult("test", source=tmp_path).num_rows == 16_281


def test_a_changed_file_is_refused(tmp_path, adult_test):
    put(tmp_path / "adult.test", adult_test.replace(b"25,", b"26,", 1))
    with pytest.raises(ParameterError, match="SHA-256"):
        adult.read_given("adult.test", tmp_path)


def test_a_given_folder_is_the_only_place_looked_at(tmp_path):
    with pytest.raises(ParameterError, match=r"must be adult\.data or a folder that holds it"):
        adult.read_given("adult.data", tmp_path)


@pytest.mark.usefixtures("site")
def test_the_environment_names_a_folder(tmp_path, adult_test, monkeypatch):
    put(tmp_path / "mine/adult.test", adult_test)
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path / "mine"))
    assert adult.find("adult.test") == adult_test


@pytest.mark.usefixtures("site")
def test_a_changed_file_in_a_known_place_is_refused_rather_than_passed_over(tmp_path, monkeypatch):
    put(tmp_path / "mine/adult.test", b"nothing")
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path / "mine"))
    with pytest.raises(ParameterError, match="remove it"):
        adult.find("adult.test")


@pytest.mark.usefixtures("site")
def test_nothing_anywhere_is_none():
    assert adult.find("adult.test") is None


def test_the_archive_of_the_site_is_fetched_once_and_kept(tmp_path, site, adult_test):
    put(site / ARCHIVE, zipped("adult.test", b"|1x3 Cross validator\n" + adult_test))
    assert adult.find("adult.test") == adult_test
    (site / ARCHIVE).unlink()
    assert adult.find("adult.test") == adult_test
    assert [path.name for path in (tmp_path / "cache/sfumato").iterdir()] == ["adult.test"]


@pytest.mark.parametrize("archive", [b"<html>please log in</html>", zipped("Index", b""), zipped("adult.test", b"no")])
def test_the_plain_file_is_fetched_where_the_archive_is_of_no_use(site, adult_test, archive):
    put(site / ARCHIVE, archive)
    put(site / FOLDER / "adult.test", adult_test)
    assert adult.find("adult.test") == adult_test


def test_a_page_that_is_not_the_file_is_never_kept(tmp_path, site):
    put(site / FOLDER / "adult.test", b"<html>please log in</html>")
    assert adult.find("adult.test") is None
    assert not (tmp_path / "cache").exists()


def test_a_home_that_cannot_be_written_is_no_reason_to_fail(tmp_path, site, adult_test):
    put(tmp_path / "cache", b"a file where the folder should be")
    put(site / FOLDER / "adult.test", adult_test)
    assert adult.find("adult.test") == adult_test
