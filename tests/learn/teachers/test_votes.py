"""Votes of teachers: how far one unit moves them, for all small tables and draws; and what never follows from rows."""

import warnings
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.learn.made import KIND, NUMBER

from sfumato.errors import ParameterError
from sfumato.learn.linear.design import design_of
from sfumato.learn.teachers import votes as module
from sfumato.learn.teachers.votes import NO_VOTE, Teachers, settled
from sfumato.session.training.columns import TrainingRows

PUBLIC = np.array([[0], [2]], dtype=np.int32)
UNITS = [*([one] for one in product((0, 2), (0, 1))), [(0, 0), (2, 1)], [(0, 1), (0, 1)], [(2, 0), (2, 1)]]
"""Units of one row and of two: places and classes."""


class Nearest(ClassifierMixin, BaseEstimator):
    """The class of the nearest row, the first of several; it raises and warns for some rows: for tests alone."""

    def __init__(self, forbidden=None, predicted=None):
        self.forbidden = forbidden
        self.predicted = predicted

    def fit(self, X, y):  # noqa: N803 # scikit-learn's name
        warnings.warn(f"{len(X)} rows", stacklevel=1)
        if self.forbidden is not None and (self.forbidden == X).any():
            raise ValueError("a row is there")
        self.rows_, self.labels_ = X, y
        return self

    def predict(self, X):  # noqa: N803 # scikit-learn's name
        if self.predicted is not None:
            return self.predicted
        return self.labels_[np.abs(X[:, :1] - self.rows_[:, 0]).argmin(axis=1)]


def teachers(model=None, *, count=2, classes=2, columns=(NUMBER,), public=PUBLIC):
    design = design_of(columns, norm=None, l1_norm=None, intercept=False)
    return Teachers(
        design=design, classes=classes, count=count, model=Nearest() if model is None else model, public=public
    )


def rows_of(units, *, named=True):
    """Rows of units, each a list of a place and a class."""
    table = np.array([row for unit in units for row in unit], dtype=np.int32).reshape(-1, 2)
    owners = np.repeat(np.arange(len(units)), [len(unit) for unit in units]).astype(np.int32)
    return TrainingRows(codes=table[:, :1], target=table[:, 1], units=owners if named else None)


def counted(monkeypatch, units, draw, **more):
    """The votes for stated draws, one for each thing that is drawn."""
    monkeypatch.setattr(module, "uniform_below", lambda _, size: np.array(draw[:size], dtype=np.int64))
    return teachers().votes(rows_of(units, **more))


def moves(first, second):
    """How far counts move: L1 and squared L2 of each public row at most, and the largest count."""
    apart = first - second
    return (
        np.abs(apart).sum(axis=1).max(),
        (apart**2).sum(axis=1).max(),
        np.abs(first.max(axis=1) - second.max(axis=1)).max(),
    )


def test_one_unit_moves_one_vote_on_each_public_row_for_every_draw(monkeypatch):
    """All tables of up to two other units and all draws of two parts, for units with one row and with two."""
    remembered, vote = {}, Teachers.vote

    def quick(group, codes, target):
        key = codes.tobytes(), target.tobytes()
        if key not in remembered:
            remembered[key] = vote(group, codes, target)
        return remembered[key]

    monkeypatch.setattr(Teachers, "vote", quick)
    worst = (0, 0, 0)
    tables = [list(units) for size in range(3) for units in combinations_with_replacement(UNITS, size)]
    for others in tables:
        for draw in product((0, 1), repeat=len(others) + 1):
            before = counted(monkeypatch, others, draw)
            after = [counted(monkeypatch, [*others, unit], draw) for unit in UNITS]
            pairs = [(before, one) for one in after]  # added
            if len(others) < 2:
                pairs += combinations_with_replacement(after, 2)  # replaced, with the draw of the one that leaves
            worst = tuple(map(max, worst, *(moves(*pair) for pair in pairs)))
    assert worst == (2, 2, 1)


def test_rows_that_are_drawn_by_themselves_move_as_many_votes(monkeypatch):
    worst = (0, 0, 0)
    for others in ([], [[(0, 0)]], [[(0, 0)], [(0, 0)]], [[(2, 1)], [(0, 0)]]):
        for draw in product((0, 1), repeat=len(others) + 2):
            before = counted(monkeypatch, others, draw, named=False)
            after = counted(monkeypatch, [*others, [(2, 1), (2, 1)]], draw, named=False)
            worst = tuple(map(max, worst, moves(before, after)))
    assert worst == (4, 8, 2)


def test_each_unit_is_drawn_by_itself_and_never_by_its_place():
    group = teachers(count=7)
    rows = rows_of([[(0, 0)] * (1 + place % 3) for place in range(3000)])
    parts = group.drawn_parts(rows)
    _, starts = np.unique(rows.units, return_index=True)
    assert (parts == parts[starts][rows.units]).all()
    counts = np.bincount(parts[starts], minlength=7)
    assert abs(counts - 3000 / 7).max() < 120  # six standard deviations
    assert (group.drawn_parts(rows) != parts).any()
    alone = group.drawn_parts(rows_of([[(0, 0)] * 3000], named=False))
    assert abs(np.bincount(alone, minlength=7) - 3000 / 7).max() < 120
    assert (group.drawn_parts(rows_of([[(0, 0)]] * 3000, named=False)) != alone).any()
    assert len(group.drawn_parts(rows_of([]))) == 0


def test_a_teacher_is_a_function_of_its_rows_in_any_order():
    class_of_first = teachers(Nearest(), public=np.array([[1]], dtype=np.int32))
    codes, target = np.array([[0], [2], [0], [2]], dtype=np.int32), np.array([1, 0, 0, 1], dtype=np.int32)
    found = {
        int(class_of_first.vote(codes[list(order)], target[list(order)])[0])
        for order in ((0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2), (2, 0, 3, 1))
    }
    assert len(found) == 1


def test_nothing_that_a_classifier_raises_or_warns_of_leaves(recwarn, capsys):
    rows = rows_of([[(0, 0)], [(2, 1)], [(1, 1)]])
    never = teachers(Nearest(forbidden=0.5), count=1)
    assert never.votes(rows).tolist() == [[0, 0], [0, 0]]
    assert never.can_vote()
    assert not teachers(Nearest(forbidden=0.0)).can_vote()
    assert teachers(count=1).votes(rows).tolist() == [[1, 0], [0, 1]]
    assert teachers(settled(RandomForestClassifier(2, verbose=5), "teacher"), count=1).votes(rows).sum() == 2
    assert not recwarn.list
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "predicted", [[0, 7], [0, -1], [0.5, 0], [0], [[0], [1]], ["a", "b"], [np.nan, 0], object()], ids=range(8)
)
def test_a_prediction_that_is_no_class_is_no_vote(predicted):
    group = teachers(Nearest(predicted=predicted))
    codes, target = np.array([[0], [2]], dtype=np.int32), np.array([0, 1], dtype=np.int32)
    assert group.vote(codes, target).tolist() == [NO_VOTE, NO_VOTE]


def test_a_teacher_without_rows_has_no_vote_and_one_with_one_class_votes_for_it():
    group = teachers(Nearest(forbidden=0.0))
    empty = np.zeros((0, 1), dtype=np.int32), np.zeros(0, dtype=np.int32)
    assert group.vote(*empty).tolist() == [NO_VOTE, NO_VOTE]
    assert group.vote(np.zeros((2, 1), dtype=np.int32), np.ones(2, dtype=np.int32)).tolist() == [1, 1]
    assert teachers(count=5).votes(rows_of([])).sum() == 0


def test_categories_become_features_of_their_own():
    group = teachers(columns=(NUMBER, KIND), public=np.array([[1, 2], [0, -1]], dtype=np.int32))
    assert group.features(group.public).tolist() == [[0.5, 0, 0, 1], [0, 0, 0, 0]]


def test_a_settled_classifier_has_fixed_seeds_wherever_they_stand():
    inner = RandomForestClassifier(random_state=np.random.RandomState(3), verbose=2)
    found = settled(make_pipeline(StandardScaler(), inner), "teacher").get_params()
    assert (found["randomforestclassifier__random_state"], found["randomforestclassifier__verbose"]) == (0, 0)
    assert inner.verbose == 2


@pytest.mark.parametrize(
    "wrong", [None, 3, "tree", KMeans(), LogisticRegression, Nearest(predicted=lambda: 0)], ids=range(6)
)
def test_what_is_no_classifier_is_refused(wrong):
    with pytest.raises(ParameterError, match="teacher"):
        settled(wrong, "teacher")


def test_its_document_tells_teachers_apart():
    documents = [
        group.document() for group in (
            teachers(), teachers(count=3), teachers(classes=3), teachers(Nearest(predicted=[1])),
            teachers(public=PUBLIC[::-1]), teachers(public=PUBLIC[:1]), teachers(LogisticRegression()),
            teachers(LogisticRegression(C=Fraction(1, 2))),
        )
    ]  # fmt: skip
    assert all(documents.count(one) == 1 for one in documents)
    assert teachers().document() == documents[0]
