"""What is public of datasets, and what their owners publish."""

import pytest
from tests.server.running import CANARY, GRANTS

from sfumato.session.wire.questions import decode_relations


def test_everybody_hears_of_the_datasets_on_which_they_have_a_role(beside):
    for person, grants in GRANTS.items():
        with beside.client(person) as client:
            listed = {one["name"]: set(one["roles"]) for one in client.get("/datasets").json()}
        expected = {}
        for grant in grants:
            expected.setdefault(grant.dataset, set()).add(str(grant.role))
        assert listed == expected


def test_what_is_public_is_what_the_policy_declares(beside):
    with beside.client("ann") as ann:
        clinic, visits = (ann.get(f"/datasets/{name}").json() for name in ("clinic", "visits"))
    (table,) = clinic["tables"]
    assert {column["name"]: column["bounds"] or column["values"] for column in table["columns"]} == {
        "age": [0, 100], "sex": ["f", "m"], "town": ["Basel", "Delft", "Porto", "=SUM(A1)"],
    }  # fmt: skip
    assert (clinic["account"], clinic["privacy_unit"], clinic["neighboring_relation"]) == (
        "clinic/ann", "patient", "add_or_remove_one",
    )  # fmt: skip
    assert 3 in visits["tables"][0]["limits"].values()
    assert CANARY not in str(clinic) + str(visits)
    assert "300" not in str(clinic["tables"])


def test_frames_are_built_of_the_relations(beside):
    with beside.client("ann") as ann:
        relations = decode_relations(ann.get("/datasets/clinic/relations").json()["relations"])
    assert list(relations) == ["clinic"]


def test_a_label_says_what_is_promised(beside):
    with beside.client("aude") as aude:
        label = aude.get("/datasets/clinic/label").json()
    assert "add_or_remove_one" in str(label)


@pytest.mark.parametrize(
    "body",
    [
        {}, {"data_version": ""}, {"data_version": "a\nb"}, {"data_version": "x" * 201}, {"data_version": 2},
        {"data_version": "2", "reason": "which nothing would keep"},
    ],
    ids=str,
)  # fmt: skip
def test_a_version_has_a_name_and_nothing_else(beside, body):
    with beside.client("olga") as olga:
        before = olga.get("/datasets/visits").json()
        assert olga.post("/datasets/visits/versions", json=body).status_code == 422
        assert olga.get("/datasets/visits").json() == before


def test_an_owner_publishes_a_version_and_every_gateway_hears_of_it(beside, curator):
    with beside.client("omar") as omar, curator.client("ann") as ann:
        before = ann.get("/datasets/visits").json()["data_version"]
        answers = []
        for version in ("a second one", before):
            assert omar.post("/datasets/visits/versions", json={"data_version": version}).status_code == 200
            answers.append(ann.get("/datasets/visits").json()["data_version"])
    assert answers == ["a second one", before]


def test_what_is_not_suspended_is_not_resumed(beside):
    with beside.client("olga") as olga:
        answer = olga.post("/datasets/clinic/acknowledgments", json={"reason": "none happened"})
    assert (answer.status_code, "is not suspended" in answer.json()["detail"]) == (422, True)
