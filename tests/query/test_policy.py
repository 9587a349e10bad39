import pytest
from tests.query.asking import PEOPLE

from sfumato.errors import ParameterError
from sfumato.query.policy import Policy, SourceFacts


def policy(tables, sources):
    return Policy(dataset="d", version="1", data_version="1", unit_name="row", tables=tables, sources=sources)


@pytest.mark.parametrize("sources", [{}, {"pets": SourceFacts(source="x.csv")}])
def test_every_table_has_its_source(sources):
    with pytest.raises(ParameterError, match="each with a source"):
        policy({"people": PEOPLE}, sources)


def test_names_of_tables_differ_in_more_than_case():
    facts = SourceFacts(source="x.csv")
    with pytest.raises(ParameterError, match="case"):
        policy({"people": PEOPLE, "People": PEOPLE}, {"people": facts, "People": facts})


def test_a_policy_is_not_changed_from_outside():
    tables = {"people": PEOPLE}
    made = policy(tables, {"people": SourceFacts(source="x.csv")})
    tables.clear()
    assert dict(made.tables) == {"people": PEOPLE}
    with pytest.raises(TypeError):
        made.tables["pets"] = PEOPLE


def test_a_policy_does_not_show_what_a_frame_holds():
    assert "canary" not in repr(policy({"people": PEOPLE}, {"people": SourceFacts(source=["canary"])}))
