"""A dataset on a server is asked as a session of one's own, and its answers are the package's own."""

import pytest

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.session.releases.release import Release

BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def test_a_statement_is_answered_and_charged_once(remote):
    first = remote.sql(BY_SEX, epsilon="0.5")
    assert isinstance(first, Release)
    assert not first.reused
    assert first.receipt.guarantee == sf.PureDP("0.5")
    assert remote.spent == sf.PureDP("0.5")
    again = remote.sql(BY_SEX, epsilon=0.5)
    assert again.reused
    assert again.records() == first.records()
    assert remote.spent == sf.PureDP("0.5")
    assert first.to_arrow().num_rows == 2
    assert "spent ε 0.5" in repr(first)


def test_an_account_says_what_it_has(remote):
    assert (remote.account_name, remote.budget, remote.remaining) == ("people/ann", sf.PureDP(3), sf.PureDP(3))
    assert remote.account("ann").budget == sf.PureDP(3)
    with pytest.raises(ParameterError, match="may see"):
        remote.account("bob")
    assert remote.label["account"] == "people"
    assert [one.name for one in remote.datasets()] == ["people"]


def test_frames_are_built_here_and_asked_there(remote):
    people = remote.table()
    asked = people.where(people.age > 30).group_by("sex").agg(n=sf.count(), a=sf.mean("age"))
    assert asked.cost(epsilon="0.5") == sf.PureDP("0.5")
    assert [one.column for one in asked.error(epsilon=1)] == ["n", "a"]
    found = asked.release(epsilon=1)
    assert found.statistics == ("n", "a")
    assert found.receipt.question == asked.asked.text
    with pytest.raises(ParameterError, match="must be one of: people"):
        remote.table("others")


def test_stored_answers_and_made_up_ones_cost_nothing(remote):
    remote.sql(BY_SEX, epsilon=1)
    of_both = remote.query("SELECT COUNT(*) AS n FROM people WHERE sex IN ('f', 'm')").from_releases()
    assert len(of_both) == 1
    dry = remote.dry_run("SELECT AVG(age) AS a FROM people", epsilon=1)
    assert any("made" in note for note in dry.notes)
    assert remote.spent == sf.PureDP(1)


def test_releases_are_listed_and_fetched_again(remote):
    first = remote.sql(BY_SEX, epsilon=1)
    (listed,) = remote.releases()
    assert listed.question == BY_SEX
    found = remote.fetch(listed.id)
    assert found.reused
    assert found.estimates == first.estimates
    assert remote.releases(after=listed.id) == ()


def test_a_server_makes_no_synthetic_flows_and_says_so(remote):
    ask = {"origin": "sex", "destination": "sex", "draws": 1, "epsilon": 1}
    with pytest.raises(ParameterError, match="servers make no synthetic rows, flows or baskets; ask the owner"):
        remote.marginals("SELECT sex FROM people")
    with pytest.raises(ParameterError, match="baskets"):
        remote.baskets("SELECT sex FROM people", item="sex")
    with pytest.raises(ParameterError, match=r"session\.marginals"):
        sf.synth.synthetic_flows(remote, **ask)
    assert remote.spent == sf.PureDP(0)
