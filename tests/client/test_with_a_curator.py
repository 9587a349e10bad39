"""The client asks the server itself: gateway, worker and child, over a socket, with the keys that the demo prints."""

import asyncio
import re
from contextlib import redirect_stdout
from io import StringIO

import pytest
from tests.meta.repository import ROOT
from tests.server.demonstrated import demo

import sfumato as sf
from sfumato.errors import (
    BudgetExceededError,
    ForbiddenError,
    NotAuthenticatedError,
    NotFoundError,
    NotPrivateError,
    ParameterError,
)
from sfumato.session.releases.documents import encode_release

BY_SEX = "SELECT sex, COUNT(*) AS n FROM adult GROUP BY sex"


@pytest.fixture
def ann():
    with sf.connect(demo().url, token=demo().keys["ann"]) as session:
        yield session


@pytest.mark.essential
def test_sql_is_answered_charged_once_and_kept(ann):
    before = ann.spent
    first = ann.sql(BY_SEX, epsilon="0.25")
    again = ann.sql(BY_SEX, epsilon="1/4")
    assert (first.reused, again.reused) == (False, True)
    assert encode_release(first)["estimates"] == encode_release(again)["estimates"]
    assert ann.spent == before + sf.PureDP("0.25")
    assert first.receipt.neighboring_relation == "add_or_remove_one"
    listed = [one for one in ann.releases() if one.question == BY_SEX]
    assert ann.fetch(listed[-1].id).records() == first.records()


def test_frames_are_asked(ann):
    people = ann.table("adult")
    asked = people.where(people.age > 50).group_by("sex").agg(n=sf.count(), hours=sf.mean("hours_per_week"))
    assert asked.cost(epsilon="0.5") == sf.PureDP("0.5")
    assert [one.column for one in asked.error(epsilon="0.5")] == ["n", "hours"]
    release = asked.release(epsilon="0.5")
    assert release.keys == ("sex",)
    assert len(release) == 2
    same = "SELECT sex, COUNT(*) AS n, AVG(hours_per_week) AS hours FROM adult WHERE age > 50 GROUP BY sex"
    assert ann.sql(same, epsilon="0.5").reused


def test_batches_targets_and_what_is_free(ann):
    both = ann.batch([BY_SEX, "SELECT COUNT(*) AS n FROM adult WHERE age < 30"], epsilon="0.2")
    assert [len(one) for one in both] == [2, 1]
    asked = ann.query("SELECT COUNT(*) AS n FROM adult WHERE age > $1", parameters=[60])
    least = asked.epsilon_for({"n": 100})
    assert asked.release(error={"n": 100}).receipt.guarantee == sf.PureDP(least)
    before = ann.spent
    assert any("made" in note for note in ann.dry_run(BY_SEX, epsilon=1).notes)
    assert len(ann.query("SELECT COUNT(*) AS n FROM adult WHERE sex IN ('Male', 'Female')").from_releases()) == 1
    assert "cost" in asked.explain()
    assert ann.spent == before


def test_the_account_and_the_label(ann):
    assert ann.account_name == "adult/ann"
    assert ann.budget == sf.ApproxDP(5, "1e-6")
    assert ann.label["account"] == "adult"
    with sf.connect(demo().url, token=demo().keys["olga"]) as owner:
        assert owner.account("ann").spent == ann.spent


def test_errors_are_the_librarys_own(ann):
    with pytest.raises(BudgetExceededError) as told:
        ann.sql("SELECT AVG(age) AS a FROM adult", epsilon=6)
    assert told.value.requested == sf.PureDP(6)
    with pytest.raises(NotPrivateError):
        ann.sql("SELECT age FROM adult", epsilon=1)
    with pytest.raises(ParameterError):
        ann.sql("SELECT AVG(nothing) AS a FROM adult", epsilon=1)
    with pytest.raises(NotFoundError):
        ann.fetch("another")
    with pytest.raises(NotAuthenticatedError):
        sf.connect(demo().url, token="sfk_" + "0" * 81)
    with sf.connect(demo().url, token=demo().keys["olga"]) as owner, pytest.raises(ForbiddenError):
        owner.sql(BY_SEX, epsilon="0.1")


def test_many_wait_at_once():
    async def ask():
        async with await sf.connect_async(demo().url, token=demo().keys["bob"]) as session:
            people = await session.table()
            asked = [people.where(people.age > age).agg(n=sf.count()) for age in range(20, 30)]
            return await asyncio.gather(*(one.release(epsilon="0.1") for one in asked))

    assert len(asyncio.run(ask())) == 10


# The page on models

PAGE = (ROOT / "docs" / "how-to" / "models.md").read_text("utf-8")
BLOCK = re.compile(r"^```python\n(.*?)^```\n\n```\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.docs
def test_a_model_is_fitted_from_sql_in_a_session_and_on_a_server(monkeypatch):
    monkeypatch.setenv("URL", demo().url)
    monkeypatch.setenv("ANN", demo().keys["ann"])
    blocks, names = BLOCK.findall(PAGE), {}
    assert len(blocks) == 3
    for code, shown in blocks:
        with redirect_stdout(StringIO()) as printed:
            exec(code, names)  # noqa: S102 # the page's own lines
        for said, expected in zip(printed.getvalue().splitlines(), shown.splitlines(), strict=True):
            if re.fullmatch(r"0\.\d+", expected):
                assert float(said) == pytest.approx(float(expected), abs=0.03)
            else:
                assert said == expected
