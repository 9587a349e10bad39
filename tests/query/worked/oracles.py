"""Two ways to the true answer of a question: its exact half without noise, and plain SQL on the same tables."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import accumulate

import duckdb
import pyarrow as pa
from tests.query.worked.schema import database
from tests.session.opened import RecordingEngine

import sfumato as sf
from sfumato.engines.base import aligned, groups
from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.ledger.core.entry import Opened
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.mechanisms.quantiles.extreme import Extreme
from sfumato.privacy.guarantees import NO_GUARANTEE, guarantee
from sfumato.query.planning.plan import compile_plan
from sfumato.query.sql.options import parse_options
from sfumato.query.statistics.measurements import Additive, QuantileChoice, TopChoice
from sfumato.session.asking.view import View
from sfumato.session.opening.opening import open_sources, places_of
from sfumato.session.releases.presenting import present
from sfumato.session.releases.releasing import Released

SURE = 10**9
"""So much ε that every noise is as narrow as it can be drawn, and every choice certain."""

MD5 = {"sampling": "md5"}
"""The hash by which all engines keep the same rows of a unit."""

HARDLY_EVER = Fraction(1, 10**12)
ALMOST = 1 - HARDLY_EVER
CSV_TYPES = {"Time entered": "VARCHAR"}


@cache
def session(name, engine):
    """An open session on a database of the suite."""
    options = None if engine == "reference" else MD5
    return sf.Session(database(name).policy, budget=NO_GUARANTEE, engine=engine, engine_options=options)


def fresh_view(name, engine, *, budget=NO_GUARANTEE):
    """The tables with a new account, over an engine that keeps what it is asked."""
    opened = session(name, engine)
    policy, ledger = opened.policy, Ledger(MemoryStore())
    ledger.open_account(
        Opened(
            account=policy.dataset, budget=budget, neighboring_relation=policy.neighboring_relation,
            privacy_unit=policy.unit_name,
        )
    )  # fmt: skip
    desk = replace(opened._desk, engine=RecordingEngine(opened._desk.engine), ledger=ledger)
    return View(desk, opened._tables)


def question_of(view, case):
    """The question of a case, and its price."""
    options, body = parse_options(case.sql)
    question = view._question(body, options, text=case.sql, parameters=case.parameters)
    return question, guarantee(options.epsilon or SURE, options.delta or case.delta)


def answered(view, case):
    """What a session answers to the text of a case."""
    options, _ = parse_options(case.sql)
    stated = {} if options.epsilon is not None else {"epsilon": SURE, "delta": case.delta}
    return view.sql(case.sql, parameters=case.parameters, **stated)


def plan_of(question, total):
    """The plan of a release at a price."""
    return compile_plan(question.relation.child, total, neighboring_relation=question.desk.policy.neighboring_relation)


def rows_of(answer):
    """The rows of an answer, or of what is shown of one: names to values."""
    return [
        dict(zip(answer.keys, keys, strict=True))
        | {name: one.value for name, one in zip(answer.statistics, estimates, strict=True)}
        for keys, estimates in zip(answer.groups, answer.estimates, strict=True)
    ]


def is_certain(plan):
    """Whether each number that noise moves, and each choice that errs by a rank, is one in 10^12 at most."""
    return all(_error(measurement) < 1 for section in plan.sections for measurement in section.measurements)


def _error(measurement):
    """How far a measurement errs in steps; in ranks, of which a quantile of 1/4 has four between two values."""
    match measurement:
        case Additive(mechanism=mechanism):
            return mechanism.accuracy(ALMOST)
        case QuantileChoice(mechanism=mechanism):
            return mechanism.accuracy(ALMOST) * getattr(mechanism, "quantile", Fraction(1)).denominator
        case TopChoice(mechanism=mechanism):
            return mechanism.accuracy(ALMOST, candidates=100)


def exact_answer(question, plan, salt, *, last=False):
    """What is shown if nothing is noisy: the statements on the reference engine, then outputs and presentation.

    Of quantiles the first value that is right, or the last one.
    """
    run = _reference(question.desk.policy)
    released = [_exact(section, run, salt, last=last) for section in plan.sections]
    return present(question.relation, plan, released, Fraction("0.95"))


def _reference(policy):
    engine = ReferenceEngine(open_sources(policy, places_of(policy, engine="reference")))
    return lambda statement, salt: engine.run(statement, salt=salt).open_for_noise()


def _exact(section, run, salt, *, last):
    """What a section releases without noise."""
    found = [run(statement, salt) for statement in section.statements]
    shown = groups(section.statements[0]) if section.selection is None else _certain(section.selection, found[0])
    measured = tuple(
        _measured(m, section.statements[m.statement], found[m.statement], shown, last=last)
        for m in section.measurements
    )
    return Released(groups=tuple(shown), measured=measured)


def _certain(choice, found):
    """The private groups that are shown; each of them is certain to be, or hardly ever is."""
    counts = dict(zip(zip(*found.keys, strict=True), map(int, found.amounts[choice.measure]), strict=True))
    if choice.mechanism is None:
        return sorted(counts)
    chances = {group: choice.mechanism.keep_probability(count) for group, count in counts.items()}
    assert all(chance < HARDLY_EVER or chance > 1 - HARDLY_EVER for chance in chances.values())
    return sorted(group for group, chance in chances.items() if chance > HARDLY_EVER)


def _measured(measurement, statement, found, shown, *, last):
    if isinstance(measurement, Additive):
        exact = aligned(statement, found, shown)[:, list(measurement.measures)]
        return tuple(tuple(map(int, row)) for row in exact.reshape(len(shown), -1))
    counts = aligned(statement, found, shown)[:, 0].reshape(len(shown), -1)
    if isinstance(measurement, QuantileChoice):
        return tuple((_chosen_bin(row, measurement.mechanism, last=last),) for row in counts)
    return tuple(tuple(sorted(range(len(row)), key=lambda at: -row[at])[: measurement.mechanism.k]) for row in counts)


def _chosen_bin(counts, mechanism, *, last):
    """The first bin x or the last one with #{v < x} ≤ q·n ≤ #{v ≤ x}; of extremes that of the extreme value."""
    up_to = list(accumulate(map(int, counts)))
    if isinstance(mechanism, Extreme):
        filled = [place for place, count in enumerate(counts) if count]
        return filled[-1 if mechanism.largest else 0]
    rank = mechanism.quantile * up_to[-1]
    right = [place for place, most in enumerate(up_to) if most - counts[place] <= rank <= most]
    return right[-1 if last else 0]


@cache
def plain(name):
    """DuckDB itself over the tables of a database, with PostgreSQL's meaning of / and of the order of NULL."""
    connection = duckdb.connect()
    connection.execute("SET integer_division = true")
    connection.execute("SET default_null_order = 'nulls_last_on_asc_first_on_desc'")
    for table, rows in database(name).rows.items():
        if isinstance(rows, pa.Table):
            connection.register("stored", rows)
            connection.execute(f"CREATE TABLE {table} AS FROM stored")
        else:
            connection.execute(f"CREATE TABLE {table} AS FROM read_csv(?, types = {CSV_TYPES})", [str(rows)])
    for view, text in database(name).policy.views.items():
        connection.execute(f"CREATE VIEW {view} AS {text}")
    return connection


def plain_rows(name, text, parameters=()):
    """What plain SQL answers on a database: names to values."""
    found = plain(name).execute(text, list(parameters) if isinstance(parameters, tuple) else None)
    names = [column[0] for column in found.description]
    return [dict(zip(names, map(_plain_value, row), strict=True)) for row in found.fetchall()]


def _plain_value(value):
    match value:
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case dt.datetime() if value.time() == dt.time():
            return value.date()
        case _:
            return value
