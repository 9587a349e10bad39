"""Methods of what a session gives: whatever anyone hands to them works or is refused in the package's words."""

import inspect

import pandas as pd
import pytest
from tests.test_front_door import WRONG, Call, call, outcome, spoiled

import sfumato as sf
from sfumato.query.handles.columns import ColumnExpression

VISITS = pd.DataFrame({"who": ["a", "a", "b", "c"], "ward": ["x", "y", "x", "y"], "days": [1, 2, 3, 4]})


def visits():
    return sf.open(
        VISITS, name="visits", unit="who", budget=sf.PureDP(1000), limits=sf.Limits(max_rows_per_unit=2),
        columns={"who": sf.text(), "ward": sf.text(values=["x", "y"]), "days": sf.integer(0, 9)},
    )  # fmt: skip


def frame():
    return visits().table()


def question():
    return frame().group_by("ward").agg(n=sf.count(), total=sf.sum("days"))


def release():
    return question().release(epsilon=1)


def batch():
    return visits().queries(["SELECT COUNT(*) AS n FROM visits", question_of_all()])


def question_of_all():
    return "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def answered():
    """A question of rows that are units, and what was released of them."""
    people = sf.open(
        VISITS, name="visits", budget=sf.PureDP(1000), columns={"ward": sf.text(values=["x", "y"])},
    )  # fmt: skip
    people.sql(question_of_all(), epsilon=1)
    return people.query(question_of_all())


def with_account():
    session = visits()
    session.open_account("ann", budget=sf.PureDP(1))
    return session


COUNT = "SELECT COUNT(*) AS n FROM visits WHERE days > $1"
METHODS = {
    "session.account": (with_account, call("ann")),
    "session.change_budget": (visits, call(sf.PureDP(2), reason="more people")),
    "session.check": (visits, call("visits")),
    "session.close_account": (visits, call(reason="the study ended")),
    "session.open_account": (visits, call("ann", budget=sf.PureDP(1), window=None)),
    "session.partition": (visits, call("visits", by="ward", values=["x", "y"], max_parts_per_unit=2)),
    "session.prepare": (visits, call("visits")),
    "session.batch": (visits, call([question_of_all()], epsilon=1, delta=0)),
    "session.queries": (visits, call([question_of_all()])),
    "session.query": (visits, call(COUNT, parameters=[1], intervals=False)),
    "session.sql": (visits, call(COUNT, epsilon=1, delta=0, parameters=[1], intervals=False)),
    "session.table": (visits, call("visits")),
    "frame.__getitem__": (frame, call("days")),
    "frame.agg": (frame, call(weights={"n": 1}, n=sf.count())),
    "frame.drop": (frame, call("days")),
    "frame.fold": (frame, call(n=sf.count())),
    "frame.group_by": (frame, call("ward", long=True)),
    "frame.per_unit": (frame, call(rows=1, groups=1, rows_per_group=1)),
    "frame.rename": (frame, call(days="nights")),
    "frame.select": (frame, call("days", twice=2)),
    "frame.where": (frame, call(True)),
    "frame.with_columns": (frame, call(twice=2)),
    "groups.agg": (lambda: frame().group_by("ward"), call(weights={"n": 1}, n=sf.count())),
    "groups.cube": (lambda: frame().group_by("ward"), call(consistent=False)),
    "groups.fold": (lambda: frame().group_by("ward"), call(n=sf.count())),
    "groups.grouping_sets": (lambda: frame().group_by("ward"), call(("ward",), (), consistent=False)),
    "groups.rollup": (lambda: frame().group_by("ward"), call(consistent=False)),
    "question.cost": (question, call(epsilon=1, delta=0, mechanism=None)),
    "question.epsilon_for": (question, call({"n": 10}, delta=0, mechanism=None, confidence="0.9")),
    "question.error": (question, call(epsilon=1, delta=0, mechanism=None, confidence="0.9")),
    "question.explain": (question, call(epsilon=1, delta=0, mechanism=None)),
    "question.from_releases": (answered, call(confidence="0.9")),
    "question.error_from_releases": (answered, call(confidence="0.9")),
    "batch.cost": (batch, call(epsilon=1, delta=0, mechanism=None)),
    "batch.error": (batch, call(epsilon=1, delta=0, mechanism=None, confidence="0.9", size=None)),
    "batch.explain": (batch, call(epsilon=1, delta=0, mechanism=None)),
    "batch.release": (
        batch, call(epsilon=1, delta=0, mechanism=None, confidence="0.9", size=None, idempotency_key="k"),
    ),
    "question.release": (
        question,
        call(
            epsilon=1, delta=0, error=None, mechanism=None, confidence="0.9", size=None, to=None, progress=False,
            idempotency_key="k",
        ),
    ),
    "release.__getitem__": (release, call("n")),
    "release.plot": (release, call("n", None)),
}  # fmt: skip
"""An object, and a call of its method."""

CHANGING = {"session.change_budget", "session.close_account", "session.open_account"}
"""What would be another call the second time: for it the object is made anew."""

BY_PAIRS = {
    "frame.join": ({"on": "who", "how": "inner", "suffix": "_b"}, ("on", "how", "suffix")),
    "frame.semi_join": ({"on": "who"}, ("on",)),
    "frame.anti_join": ({"on": "who"}, ("on",)),
    "frame.union": ({}, ()),
    "frame.intersect": ({}, ()),
    "frame.except_": ({}, ()),
}
"""Methods of two frames, and what else they take."""

INTERNAL = {"made", "of"}
"""Of handles, which take what the package itself makes."""


@pytest.mark.parametrize("name", METHODS)
def test_a_wrong_argument_of_a_method_is_used_or_refused_in_the_words_of_the_package(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some of what is handed over is taken for a path
    made, right = METHODS[name]
    changed = name in CHANGING
    given, method = made(), name.partition(".")[2]
    wrong = []
    for where, one in [("nothing", right), *spoiled(right)]:
        if said := outcome(getattr(made() if changed else given, method), one):
            wrong.append(f"{where}: {said}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", BY_PAIRS)
def test_a_wrong_frame_or_key_is_refused_in_the_words_of_the_package(name):
    named, spoilable = BY_PAIRS[name]
    session, method = visits(), name.partition(".")[2]
    one, other = session.table(), session.table()
    wrong = []
    for what, value in WRONG.items():
        changes = [Call((value(),), named), *(Call((other,), named | {key: value()}) for key in spoilable)]
        wrong += [f"{what}: {said}" for change in changes if (said := outcome(getattr(one, method), change))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "name",
    [name for name, value in inspect.getmembers(ColumnExpression, callable) if name not in INTERNAL and name[0] != "_"],
)
def test_a_wrong_operand_of_a_handle_is_refused_in_the_words_of_the_package(name):
    method = getattr(sf.constant(1), name)
    parameters = inspect.signature(method).parameters
    right = Call((1,) * sum(one.default is one.empty for one in parameters.values()), {})
    wrong = [f"{where}: {said}" for where, one in spoiled(right) if (said := outcome(method, one))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("operator", ["add", "and", "eq", "lt", "mod", "mul", "pow", "radd", "sub", "truediv"])
def test_a_wrong_value_beside_an_operator_is_refused_in_the_words_of_the_package(operator):
    method = getattr(sf.constant(1), f"__{operator}__")
    wrong = [f"{what}: {said}" for what, value in WRONG.items() if (said := outcome(method, call(value())))]
    assert not wrong, "\n".join(wrong)


def test_every_public_method_is_called():
    given = {"session": visits(), "frame": frame(), "groups": frame().group_by("ward"), "question": question()}
    given["batch"] = batch()
    steps = {name.partition(".")[2] for name in METHODS | BY_PAIRS if name[0] == "f"}
    for kind, value in given.items():
        for name in vars(type(value)) if kind != "frame" else steps:
            takes = not name.startswith("_") and inspect.isfunction(getattr(type(value), name, None))
            if takes and len(inspect.signature(getattr(type(value), name)).parameters) > 1:
                assert f"{kind}.{name}" in METHODS | BY_PAIRS, f"{kind}.{name}"
