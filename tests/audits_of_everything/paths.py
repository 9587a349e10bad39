"""Every way in which a session comes to an answer, and every kind of rows that it asks about, at the public face."""

import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
from tests.audits_of_everything.aggregates import ILL, IN_ONE, LOW, OTHERS, QUARTER, heavy
from tests.audits_of_everything.curators import WITH_DELTA, Curator, Opening, frame, patient, sql, told, visit
from tests.audits_of_everything.judging import HALF, Case

import sfumato as sf
from sfumato.errors import BudgetExceededError
from sfumato.privacy.guarantees import ApproxDP
from sfumato.query.model.schema import Limits

COUNT = "SELECT world, COUNT(*) AS n FROM visits GROUP BY world"
SUM = "SELECT world, SUM(x) AS n FROM visits GROUP BY world"
ABOVE = "SELECT world, COUNT(*) AS n FROM visits WHERE y >"
KINDS = "SELECT world, kind, COUNT(*) AS n FROM visits GROUP BY world, kind"
TWO_GROUPS = Opening(limits=Limits(max_rows_per_unit=2, max_groups_per_unit=2))
ONE_LIMIT = Opening(limits=Limits(max_rows_per_unit=2))
IN_ALL = heavy(visit(kind="a"), visit(kind="b"), visit(kind="c"), visit(kind="c"))
TWICE = heavy(visit(kind="a"), visit(kind="b"))
IN_TWO_PARTS = heavy(*(visit(kind=kind, x=-9) for kind in "aabb"))
JOINED = (*OTHERS, patient("b")), (*OTHERS, patient("b"), patient(), visit(), visit(), visit())
RARE = heavy(visit(ill="rare"), visit(ill="rare"))


def in_session(ask, opening=None, **facts):
    """A mechanism that asks a session several times; what the account spent in all is the claim."""

    def asks(rows, worlds, opened):
        with opened(rows, worlds=worlds) as session:
            return ask(session), session.spent

    return partial(Curator, asks, opening or Opening(facts=facts))


def beside(*answers):
    """Several answers as one: each row says of which it is."""
    return [{"world": row["world"], "which": which} | row for which, rows in enumerate(answers) for row in rows]


def asked(view, text=COUNT, epsilon=1, **price):
    """One answer of a session, an account or a part."""
    return told(view.query(text).release(epsilon=epsilon, **price))


def in_parts(session, *, most):
    """Two parts of the people, asked one after the other."""
    with session.partition("visits", by="kind", max_parts_per_unit=most) as parts:
        return beside(*(asked(parts[kind], SUM, 2) for kind in ("a", "b")))


def between_accounts(session):
    """Two accounts ask the same; the answer of one is given to the other."""
    accounts = [session.open_account(name, budget=sf.PureDP(10)) for name in ("ann", "bob")]
    return beside(*(asked(account, epsilon=2) for account in accounts))


def below(session):
    """Two accounts ask different questions, and one above them pays for both."""
    ann, bob = (session.open_account(name, budget=sf.PureDP(10)) for name in ("ann", "bob"))
    return beside(asked(ann, COUNT), asked(bob, SUM))


def derived(rows, worlds, opened):
    """Two datasets with the same people, in one ledger; the first pays for both."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger.db"
        with (
            opened(rows, worlds=worlds, ledger=ledger) as first,
            opened(rows, worlds=worlds, ledger=ledger, dataset="survey", derived_from=("clinic",)) as second,
        ):
            return beside(asked(first), asked(second)), first.spent


def into_a_file(session):
    """The answer as a file has it."""
    with tempfile.TemporaryDirectory() as folder:
        saved = session.query(KINDS).release(epsilon=2, to=Path(folder) / "answer.parquet")
        return [
            {"world": row["world"], "kind": row["kind"], "n": row["n"]} for row in pq.read_table(saved.path).to_pylist()
        ]


def prepared(session):
    """What is stored as the engine reads it best."""
    session.prepare()
    return asked(session, KINDS, 2)


def until_refused(session):
    """All that a budget of 2 gives: different questions, until one is refused."""
    answers = []
    for place in range(9):
        try:
            answers.append(asked(session, f"{ABOVE} {-place - 1} GROUP BY world"))
        except BudgetExceededError:
            break
    return beside(*answers)


def opened_again(rows, worlds, opened):
    """The same of a ledger that lasts: each question is asked in a session of its own."""
    answers = []
    with tempfile.TemporaryDirectory() as folder, suppress(BudgetExceededError):
        for _ in range(9):
            with opened(rows, worlds=worlds, ledger=Path(folder) / "ledger.db") as session:
                answers.append(asked(session, f"{ABOVE} {-len(answers) - 1} GROUP BY world"))
    return beside(*answers), opened.budget


def refused(session):
    """A question that the account cannot pay."""
    try:
        return asked(session, epsilon=50)
    except BudgetExceededError:
        return []


def with_ends(session):
    """The answer with its intervals."""
    return (
        session.query("SELECT world, COUNT(*) AS n, SUM(x) AS s FROM visits GROUP BY world")
        .release(epsilon=2)
        .records()
    )


def made_to_add_up(session):
    """Two tables that are fitted to each other."""
    groups = (
        session.table("visits").group_by("world", "kind").grouping_sets(("world", "kind"), ("world",), consistent=True)
    )
    return told(groups.agg(n=sf.count()).release(epsilon=2))


def flows(session):
    """Synthetic flows to each world, of one draw each."""
    made = sf.synth.synthetic_flows(
        session.marginals("SELECT kind, world FROM visits"), origin="kind", destination="world", draws=1, epsilon=2
    )
    return [
        {"world": world, "kind": kind, "n": int(made.counts[to, at])}
        for to, world in enumerate(made.destinations) for at, kind in enumerate(made.origins)
    ]  # fmt: skip


def chosen_origins(session):
    """Which kinds are kept for each world, and where draws come from."""
    made = sf.synth.synthetic_flows(
        session.marginals("SELECT kind, world FROM visits"), origin="kind", destination="world", draws=1, epsilon="2.5",
        delta="0.02", shrinking=ApproxDP(2, "0.02"),
    )  # fmt: skip
    return [
        {"world": world, "kind": kind, "n": int(made.counts[to, at]) + int(made.kept[to, at])}
        for to, world in enumerate(made.destinations) for at, kind in enumerate(made.origins)
    ]  # fmt: skip


def path(ask, pair=LOW, opening=None, *, share=HALF, why="", claim=None, fewer=1, **facts):
    """A case of a session that is asked."""
    return Case(mechanism=in_session(ask, opening, **facts), pair=pair, share=share, why=why, claim=claim, fewer=fewer)


def rows(text, pair=LOW, opening=None, *, share=HALF, why="", **price):
    """A case of one question in SQL."""
    return Case(mechanism=sql(text, opening, **price), pair=pair, share=share, why=why)


ONE_ROW = Limits(max_rows_per_unit=1)
FEW_WORLDS = 200  # a column of synthetic data has a thousand values at most, and is the faster the fewer they are
SPLIT = "the price is split over parts that these outputs do not show alike"
CASES = {
    "a batch of aggregates": rows("SELECT world, COUNT(*) AS n, SUM(x) AS s, SUM(y) AS t FROM visits GROUP BY world"),
    "groups of public keys": rows(KINDS, TWICE, TWO_GROUPS),
    "a unit of one group": rows(KINDS),
    "a unit of too many groups": rows(KINDS, IN_ALL),
    "a unit of too many groups, sampled as the engine likes": rows(
        KINDS, IN_ALL, Opening(options={"sampling": "native"})
    ),
    "error bars": path(with_ends),
    "filters": rows("SELECT world, SUM(x) FILTER (WHERE y > 0) AS n FROM visits WHERE kind = 'a' GROUP BY world"),
    "having": rows(f"{COUNT} HAVING COUNT(*) > 2"),
    "a partition": path(partial(in_parts, most=1), IN_TWO_PARTS),
    "a partition of two parts each": path(partial(in_parts, most=2), IN_TWO_PARTS),
    "a stored answer": path(lambda session: beside(asked(session, epsilon=2), asked(session, epsilon=2))),
    "a retry": path(lambda session: beside(*(asked(session, epsilon=2, idempotency_key="k") for _ in range(2)))),
    "two questions": path(lambda session: beside(asked(session, COUNT), asked(session, SUM))),
    "answers that accounts share": path(between_accounts, shares_answers=True),
    "accounts below": path(below),
    "a derived dataset": Case(mechanism=partial(Curator, derived, Opening()), pair=LOW),
    "private keys": rows(
        "SELECT world, ill, COUNT(*) AS n FROM visits GROUP BY world, ill", RARE, delta="0.02", share=None, why="δ"
    ),
    "private keys of many": rows(
        "SELECT world, ill, COUNT(*) AS n FROM visits GROUP BY world, ill", LOW, delta="0.02", share=None, why=SPLIT
    ),
    "private keys of one person": rows(
        "SELECT world, ill, COUNT(*) AS n FROM visits GROUP BY world, ill",
        ILL,
        Opening(limits=TWO_GROUPS.limits, budget=WITH_DELTA),
        delta="0.2",
        mechanism="laplace",
        share=None,
        why="δ",
    ),
    "units of two groups": rows(
        "SELECT world, kind, COUNT(DISTINCT person) AS n FROM visits GROUP BY world, kind", TWICE, TWO_GROUPS
    ),
    "a private join": rows(
        "SELECT v.world AS world, COUNT(*) AS n FROM people AS p JOIN visits AS v ON p.person = v.person "
        "GROUP BY v.world", JOINED,
    ),
    "a self join": rows(
        "SELECT v.world AS world, COUNT(*) AS n FROM visits AS v JOIN visits AS w ON v.person = w.person "
        "GROUP BY v.world", IN_ONE,
    ),
    "a public join": rows(
        "SELECT world, SUM(floor) AS n FROM visits JOIN wards ON kind = code GROUP BY world",
        heavy(*(visit(),) * 3, others=(visit("b", kind="b"),)), share=None, why="no floor is the highest",
    ),
    "sums of people": rows(
        "SELECT world, SUM(s) AS n FROM (SELECT person, world, SUM(x) AS s FROM visits GROUP BY person, world) AS each "
        "GROUP BY world"
    ),
    "different values": rows("SELECT world, COUNT(DISTINCT ill) AS n FROM visits GROUP BY world", ILL),
    "tables that are made to add up": path(made_to_add_up, opening=ONE_LIMIT, fewer=4),
    "an error is stated": Case(
        mechanism=frame(
            lambda session: session.query(COUNT), epsilon=None, error={"n": 3}
        ), pair=LOW,
    ),
    "into a file": path(into_a_file),
    "prepared tables": path(prepared),
    "Gaussian noise": Case(
        mechanism=frame(
            lambda session: session.table("visits").group_by("world").agg(v=sf.vector_sum("x", "y")),
            delta="0.01", mechanism="gaussian",
        ), pair=LOW, share=None, why="δ",
    ),
    "replacement": rows(
        SUM, ((*OTHERS, *(visit(x=-100),) * 2), (*OTHERS, *(visit(x=100),) * 2)),
        Opening(facts={"neighboring_relation": sf.REPLACE_ONE}),
        share=QUARTER, why="a replacement moves the sum of one group by 20, those of two by 36",
    ),
    "synthetic flows": Case(
        mechanism=partial(in_session(flows, Opening(limits=ONE_ROW)), at_once=FEW_WORLDS),
        pair=heavy(visit(kind="c"), others=(visit("b"),)), fewer=10, share=QUARTER, why="few runs, each of a session",
    ),
    "synthetic flows with a replacement": Case(
        mechanism=partial(
            in_session(flows, Opening(limits=ONE_ROW, facts={"neighboring_relation": sf.REPLACE_ONE})),
            at_once=FEW_WORLDS,
        ),
        pair=tuple((visit(kind=kind),) for kind in "ac"),
        fewer=10, share=QUARTER / 2, why="who changes the destination tells more, and is in another world",
    ),
    "synthetic flows from chosen origins": Case(
        mechanism=partial(in_session(chosen_origins, Opening(limits=ONE_ROW, budget=WITH_DELTA)), at_once=FEW_WORLDS),
        pair=heavy(visit(kind="c"), others=(visit("b", kind="c"),)), fewer=10, share=QUARTER,
        why="few runs, each of a session",
    ),
    "synthetic flows from chosen origins with a replacement": Case(
        mechanism=partial(
            in_session(
                chosen_origins,
                Opening(limits=ONE_ROW, budget=WITH_DELTA, facts={"neighboring_relation": sf.REPLACE_ONE}),
            ),
            at_once=FEW_WORLDS,
        ),
        pair=tuple((visit("b", kind="c"), visit(kind=kind)) for kind in "ac"), fewer=10, share=None,
        why="two origins share ε and δ, which few runs do not show",
    ),
    "replacement between groups": rows(
        KINDS,
        tuple((*OTHERS, *(visit(kind=kind),) * 2) for kind in "ab"),
        Opening(facts={"neighboring_relation": sf.REPLACE_ONE}),
    ),
    "a budget until it is refused": path(
        until_refused, opening=Opening(budget=sf.PureDP("2.5")), claim=ApproxDP("2.5", 0)
    ),
    "a budget of a ledger that is opened again": Case(
        mechanism=partial(Curator, opened_again, Opening(budget=sf.PureDP("2.5"))), pair=LOW
    ),
    "a question that is refused": path(
        refused, opening=Opening(budget=sf.PureDP(1)), share=None, why="nothing is spent, and nothing is said"
    ),
    "chosen bounds": Case(
        mechanism=frame(
            lambda session: session.table("visits").agg(s=sf.sum("big", bounds="auto")),
            Opening(engine="reference"), at_once=0, epsilon=3,
        ), pair=heavy(*(visit(big=10**6),) * 3), share=None, fewer=150,
        why="bounds are chosen for all worlds together, so each run is a session of its own: 2,000 runs",
    ),
} | {
    f"the engine {engine}": rows(
        "SELECT world, kind, COUNT(*) AS n, SUM(x) AS s FROM visits GROUP BY world, kind", LOW, Opening(engine=engine),
    ) for engine in ("reference", "duckdb")
}  # fmt: skip
"""Spark and PostgreSQL are beside these, in `elsewhere`."""

IN_TEST = (
    "a batch of aggregates", "a budget until it is refused", "a partition", "a partition of two parts each",
    "a private join", "a retry", "a stored answer", "a unit of one group", "a unit of too many groups",
    "accounts below", "answers that accounts share", "Gaussian noise", "groups of public keys", "into a file",
    "private keys of many", "private keys of one person", "replacement between groups", "sums of people",
    "synthetic flows", "units of two groups", "the engine reference",
    "the engine duckdb",
)  # fmt: skip
"""The paths that `make test` tries: each kind of them, and all those that a seeded bug in `mutations` is found on."""
