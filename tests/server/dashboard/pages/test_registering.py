"""A dataset is registered from public knowledge: the unit is asked for, and bounds from data are refused."""

import tomllib

import pytest
from tests.server.dashboard.browsing import words

from sfumato.query.policy.file import load_policy

HOSTILE = '</script><img src=x onerror=alert(1)>"]\nevil = 1'
FORM = {
    "dataset": "hospital", "table": "visits", "source": "/nowhere/visits.parquet", "unit": "column",
    "unit_column": "patient_id", "unit_name": "patient", "max_rows": "10", "count_is_public": "unsure",
    "name0": "age", "type0": "integer", "low0": "0", "high0": "120", "name1": "ward", "type1": "text",
    "values1": "A, B, C", "origin": "experts", "preset": "standard", "declared_rows": "5000", "rows": "5",
}  # fmt: skip


def sent(visitor, person="olga", **changes):
    return visitor(person).post("/register", **FORM | changes)


def test_it_ends_in_a_policy_errors_and_a_dry_run(visitor, tmp_path):
    page = sent(visitor)
    shown = words(page)
    assert page.status_code == 200, shown
    for part in ("n ± 150", "mean ±", "made-up rows", "declared_rows = 5000", 'epsilon = "2"'):
        assert part in shown, part
    text = sent(visitor, action="download").text
    (tmp_path / "hospital.toml").write_text(text)
    policy = load_policy(tmp_path / "hospital.toml")
    assert policy.tables["visits"].columns["age"].upper == 120
    assert str(policy.neighboring_relation) == "add_or_remove_one"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"unit": ""}, "There is no default"),
        ({"origin": "data"}, "reveal its extremes"),
        ({"origin": ""}, "must be public knowledge"),
        ({"unit_column": ""}, "unit_column"),
        ({"max_rows": "0"}, "must be a whole number"),
        ({"name0": "", "name1": ""}, "must be at least one"),
        ({"low0": "min(age)"}, "must have numbers"),
        ({"high0": ""}, "must have numbers"),
        ({"low0": "200"}, "bounds"),
        ({"dataset": ""}, "dataset"),
        ({"max_rows": "9" * 5_000}, "must be a whole number"),
        ({"declared_rows": "9" * 5_000}, "must be a whole number"),
        ({"high0": "9" * 5_000}, "bounds"),
        ({"rows": "9" * 5_000, "unit": ""}, "There is no default"),
    ],
)
def test_what_is_missing_or_was_read_from_data_is_refused(visitor, changes, says):
    page = sent(visitor, **changes)
    assert page.status_code == 422
    assert says in words(page)
    assert "Your policy, tried" not in words(page)


def test_a_row_for_each_person_needs_no_bound(visitor):
    text = sent(visitor, unit="row", unit_column="", max_rows="", count_is_public="yes", action="download").text
    table = tomllib.loads(text)
    assert table["tables"]["visits"]["unit"] == "row"
    assert table["unit"]["neighboring_relation"] == "replace_one"


def test_hostile_names_and_values_stay_text_in_file_and_page(visitor):
    page = sent(visitor, name1=HOSTILE.partition("\n")[0], values1=f"{HOSTILE},B", unit_name=HOSTILE)
    assert "<img src=x" not in page.text
    text = sent(visitor, name1=HOSTILE.partition("\n")[0], values1=f"{HOSTILE},B", action="download").text
    table = tomllib.loads(text)
    assert "evil" not in table
    assert table["tables"]["visits"]["columns"][HOSTILE.partition("\n")[0]]["values"] == [HOSTILE.strip(), "B"]


def test_more_rows_for_columns_keep_what_was_typed(visitor):
    page = sent(visitor, action="more")
    assert 'name="name9"' in page.text
    assert 'value="patient_id"' in page.text
    assert visitor("olga").post("/register", action="more", rows="9999999").text.count('name="name') < 70


def test_analysts_do_not_register(visitor):
    assert visitor("ann").get("/register").status_code == 403
    assert sent(visitor, "ann").status_code == 403
    assert visitor("admin").get("/register").status_code == 200
