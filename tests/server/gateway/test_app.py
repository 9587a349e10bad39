"""The interface as its document describes it: every role with every route, whatever is sent, and what all answers have.

A route that is not in the matrix of `interface`, or that lets somebody do more, fails.
"""

import subprocess
import sys
from itertools import product

import httpx
import pytest
from tests.server.gateway.interface import ASK, DATASET, DOORS, HIDDEN, MATRIX, OWN, address
from tests.server.running import GRANTS, SECONDS, Beside

from sfumato.errors import UnavailableError
from sfumato.server.config import load_curator
from sfumato.server.gateway import app
from sfumato.server.gateway.app import create_app
from sfumato.server.identity.people import Action, Principal


@pytest.fixture(scope="module")
def document(beside):
    return create_app(beside.gateway).openapi()


def operations(document):
    methods = {"get", "post", "put", "patch", "delete", "head", "options", "trace"}
    return {(method.upper(), path) for path, own in document["paths"].items() for method in set(own) & methods}


def test_69_every_route_is_in_the_matrix_and_no_other(document):
    """Catalogue 69: a new route has a line here, or this fails."""
    assert {(method, path) for method, path in operations(document) if path not in DOORS} == set(MATRIX)


@pytest.mark.parametrize("person", [None, *GRANTS])
def test_69_every_role_with_every_route(beside, person):
    """Catalogue 69: whoever has no right is refused, and nobody else is, for want of a right."""
    principal = Principal(name=person or "", is_platform_admin=person == "admin", grants=GRANTS.get(person, ()))
    with beside.client(person) as client:
        for (method, path), (action, body) in MATRIX.items():
            if method == "POST" and path.endswith(("/versions", "/close")) and principal.may(action, DATASET):
                continue  # which others' tests would notice; each has tests of its own
            answer = client.request(method, address(path), json=body)
            status = answer.status_code
            if person is None:
                assert status == 401, (method, path)
                continue
            actions = {action, OWN.get(action, action)}
            may = any(principal.may(one, None if "{dataset}" not in path else DATASET) for one in actions) or any(
                principal.may(one, DATASET) for one in actions
            )
            assert status not in {401, 500}, (method, path, answer.text)
            if not may or any(part in path for part in HIDDEN):
                assert status in {403, 404}, (method, path, answer.text)
                is_hidden = not principal.roles(DATASET) and "{dataset}" in path and person != "admin"
                assert status == 404 or not is_hidden, (method, path, answer.text)
            elif not (path.endswith("/{path}") and Action.READ_ACCOUNTS in actions):
                assert status != 403, (method, path, answer.text)


def test_doors_are_open_and_tell_nothing(beside):
    with beside.client() as nobody:
        assert {path: set(nobody.get(path.removeprefix("/v1")).json()) for path in DOORS} == {
            "/v1/health": {"status", "version"}, "/v1/ready": {"status"},
        }  # fmt: skip


HEADERS = {
    "cache-control": "no-store", "content-security-policy": "default-src 'none'", "referrer-policy": "no-referrer",
    "strict-transport-security": "max-age=31536000", "x-content-type-options": "nosniff",
}  # fmt: skip


def test_64_every_answer_forbids_browsers_to_guess_and_to_keep(beside):
    """Catalogue 64, 74: answers, refusals, unknown paths, wrong methods, bodies that are too large."""
    with beside.client("ann") as ann:
        answers = [
            ann.get("/me"), ann.get("/nothing"), ann.put("/me"), ann.head("/me"), ann.options("/me"),
            ann.get("/people"), ann.post("/datasets/clinic/ask", json=ASK), ann.get("/metrics"),
            ann.post("/datasets/clinic/ask", content=b"x" * 2_000_000), ann.get("/datasets/clinic/"),
        ]  # fmt: skip
    assert [answer.status_code for answer in answers] == [200, 404, 405, 405, 405, 403, 200, 403, 413, 404]
    for answer in answers:
        assert HEADERS.items() <= dict(answer.headers).items(), answer.request.url
        assert not {"server", "date"} & set(answer.headers)
        assert answer.headers["content-type"] in {"application/json", "application/problem+json"}


def test_a_defect_tells_nothing_and_names_its_class_in_the_log(curator, caplog, monkeypatch):
    beside = Beside(curator)
    monkeypatch.setattr(beside.gateway.people, "people", lambda: 1 // len([]))
    with beside.client("admin") as admin:
        answer = admin.get("/people")
    beside.stop()
    assert (answer.status_code, answer.json()["error"], answer.json()["fields"]) == (500, "InternalError", {})
    assert "ivision" not in answer.text
    assert "ivision" not in " ".join(record.getMessage() for record in caplog.records)


PROGRAM = """
import sys
import sfumato.server.gateway.app
never = {"duckdb", "pyarrow", "pandas", "polars", "numpy.ma"} | {"authlib", "joserfc", "httpx"}
print(sorted({name.partition(".")[0] for name in sys.modules} & never))
"""


@pytest.mark.essential
def test_43_a_gateway_loads_nothing_that_reads_data():
    """Catalogue 43: what plans and estimates cannot open data."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def declared(tmp_path, monkeypatch):
    """A curator of a text, whose worker makes no ledger."""
    monkeypatch.setattr(app, "_SECONDS_FOR_A_LEDGER", 0)

    def made(text):
        (tmp_path / "curator.toml").write_text(text, "utf-8")
        return load_curator(tmp_path / "curator.toml")

    return made


def test_a_gateway_makes_no_ledger_in_the_place_of_the_worker(declared, tmp_path):
    with pytest.raises(UnavailableError):
        app._ledger(declared('[datasets.people]\npolicy = "people.toml"\nbudget = { epsilon = 1 }\n'))
    assert not (tmp_path / "ledger.db").exists()


def test_a_server_without_datasets_has_an_empty_ledger(declared):
    with app._ledger(declared("")) as ledger:
        assert list(ledger.entries()) == []


def test_it_ends_when_it_is_told_to_and_answers_what_is_under_way(curator):
    beside = Beside(curator)
    host, port = beside.address
    with beside.client("ann") as ann:
        assert ann.get("/me").status_code == 200
    beside.stop()
    with pytest.raises(httpx.TransportError):
        httpx.get(f"http://{host}:{port}/v1/health", timeout=SECONDS)


def test_every_operation_documents_its_problems(document):
    for (method, path), status in product(operations(document) - {("GET", path) for path in DOORS}, ("401", "404")):
        content = document["paths"][path][method.lower()]["responses"][status]["content"]
        assert list(content) == ["application/problem+json"], (method, path)
        assert content["application/problem+json"]["schema"]["$ref"].endswith("ProblemDocument")
