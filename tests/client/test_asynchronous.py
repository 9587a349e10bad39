"""The same face where every request is awaited."""

import asyncio

import pytest
from fastapi import Response
from fastapi.responses import JSONResponse
from tests.client.curator import TOKEN

import sfumato as sf
from sfumato.client.asynchronous import AsyncBatch, AsyncQuestion, AsyncSession
from sfumato.client.questions import RemoteBatch, RemoteQuestion
from sfumato.client.session import RemoteSession
from sfumato.errors import BudgetExceededError, CuratorError, ParameterError

BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def awaited(served, ask):
    async def run():
        async with await sf.connect_async(served[1], token=TOKEN) as session:
            return await ask(session)

    return asyncio.run(run())


def test_statements_frames_and_batches_are_answered(served):
    async def ask(session):
        first = await session.sql(BY_SEX, epsilon="0.5")
        people = await session.table("people")
        question = people.agg(n=sf.count())
        assert await question.cost(epsilon="0.5") == sf.PureDP("0.5")
        assert [one.column for one in await question.error(epsilon=1)] == ["n"]
        assert "cost" in await question.explain()
        assert await question.epsilon_for({"n": 25}) > 0
        second = await question.release(epsilon="0.5", idempotency_key="monday")
        batch = session.queries([BY_SEX, question])
        assert await batch.cost(epsilon=1) == sf.PureDP(1)
        assert [len(one) for one in await batch.error(epsilon=1)] == [1, 1]
        assert "query" in await batch.explain()
        both = await batch.release(epsilon=1)
        account = await session.own_account()
        assert (account.name, account.spent) == ("people/ann", sf.PureDP(2))
        assert len(await session.releases()) == 4
        assert (await session.fetch("0")).estimates == first.estimates
        assert len(batch) == 2
        return first, second, both

    first, second, both = awaited(served, ask)
    assert (len(first), len(second), [len(one) for one in both]) == (2, 1, [2, 1])


def test_what_is_free_is_free(served):
    async def ask(session):
        await session.sql(BY_SEX, epsilon=1)
        found = await session.query("SELECT COUNT(*) AS n FROM people WHERE sex IN ('f', 'm')").from_releases()
        dry = await session.dry_run(BY_SEX, epsilon=1)
        assert (await session.label())["account"] == "people"
        assert (await session.account("ann")).spent == sf.PureDP(1)
        assert [one.name for one in await session.datasets()] == ["people"]
        (again,) = await session.batch([BY_SEX], epsilon=2)
        return found, dry, again

    found, dry, again = awaited(served, ask)
    assert (len(found), len(dry), len(again)) == (1, 2, 2)


def test_queries_run_side_by_side(served):
    async def ask(session):
        texts = [f"SELECT COUNT(*) AS n FROM people WHERE age > {age}" for age in range(5)]
        return await asyncio.gather(*(session.sql(text, epsilon="0.1") for text in texts))

    assert len(awaited(served, ask)) == 5


def test_what_is_lost_is_sent_again_and_refusals_are_not(served):
    app, _ = served

    async def ask(session):
        app.state.waiting = [Response(status_code=502), JSONResponse({"id": "x", "stage": "waiting"}, 202)]
        app.state.asked.clear()
        await session.sql(BY_SEX, epsilon=1)
        assert len(app.state.asked) == 3
        with pytest.raises(BudgetExceededError):
            await session.sql(BY_SEX, epsilon=100)
        assert len(app.state.asked) == 4
        assert TOKEN not in f"{session!r}{session._curator!r}{session.query(BY_SEX)!r}{session.queries([BY_SEX])!r}"

    awaited(served, ask)


def test_a_server_that_is_away_and_a_dataset_that_is_none_are_said(served):
    with pytest.raises(CuratorError, match="cannot be reached"):
        asyncio.run(sf.connect_async("http://127.0.0.1:9", token=TOKEN))
    with pytest.raises(ParameterError, match="one of: people"):
        asyncio.run(sf.connect_async(served[1], token=TOKEN, dataset="others"))


@pytest.mark.parametrize(
    ("waits", "awaits"), [(RemoteSession, AsyncSession), (RemoteQuestion, AsyncQuestion), (RemoteBatch, AsyncBatch)]
)
def test_both_have_one_face(waits, awaits):
    """But for what is a property of one who waits, for fits, as `fit` of scikit-learn waits, and for a refusal."""
    own = {"account_name", "budget", "spent", "remaining", "training_set", "marginals", "baskets"}
    names = ({name for name in dir(kind) if not name.startswith("_")} for kind in (waits, awaits))
    first, second = names
    assert first - own == second
