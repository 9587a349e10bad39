"""`import sfumato` is quick: whatever is heavy is loaded by whoever needs it."""

import subprocess
import sys

HEAVY = {"scipy", "duckdb", "sqlglot", "pyarrow", "pydantic", "rich", "pandas", "polars", "matplotlib"}


def loaded_after(statement):
    code = f"{statement}\nimport sys\nprint(*(name for name in sys.modules if '.' not in name))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_the_package_loads_nothing_heavy():
    loaded = loaded_after("import sfumato")
    assert "sfumato" in loaded
    assert loaded & HEAVY == set()


def test_the_check_sees_what_is_heavy():
    assert "pyarrow" in loaded_after("import sfumato.datasets")


def test_what_charges_and_what_runs_a_query_loads_no_engine_by_itself():
    loaded = loaded_after("import sfumato.session.asking.planning, sfumato.session.asking.execution")
    assert loaded & {"duckdb", "pyarrow", "sqlglot", "pandas"} == set()
