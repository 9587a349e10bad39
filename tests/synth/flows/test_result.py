"""Results: flows as a table, and total variation by distance."""

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.privacy.guarantees import PureDP
from sfumato.synth.flows.result import Flows, flow_errors

ONE, TWO = [[30, 10], [5, 5]], [[20, 20], [10, 0]]
FAR = [[0, 3], [8, 1]]


def test_a_table_has_the_flows_that_are_not_zero():
    flows = Flows(
        origins=("a", "b"), destinations=("x", "y"), counts=np.array([[0, 2], [7, 0]]), priors=(), kept=None,
        charge=PureDP(1), receipt=None,
    )  # fmt: skip
    assert flows.to_arrow().to_pylist() == [
        {"origin": "b", "destination": "x", "flow": 2}, {"origin": "a", "destination": "y", "flow": 7},
    ]  # fmt: skip


def test_bands_add_up_to_the_total_variation_distance():
    found = flow_errors(ONE, TWO, distances=FAR, edges=[0, 2, 5, 9])
    shares = np.array(ONE) / 50 - np.array(TWO) / 50
    assert found.sum() == pytest.approx(abs(shares).sum() / 2)
    assert found.tolist() == pytest.approx([0.15, 0.1, 0.05])
    assert not flow_errors(ONE, ONE, distances=FAR, edges=[0, 9]).any()


def square(name, at):
    ring = [[at, 0], [at + 1, 0], [at + 1, 1], [at, 1], [at, 0]]
    return {"type": "Feature", "properties": {"name": name}, "geometry": {"type": "Polygon", "coordinates": [ring]}}


MAP = {"type": "FeatureCollection", "features": [square(name, at) for at, name in enumerate("abc")]}


def made(**changes):
    facts = {
        "origins": ("a", "b", "c"), "destinations": ("a", "c"), "counts": np.array([[7, 2, 0], [1, 4, 3]]),
        "priors": (), "kept": None, "charge": PureDP(1), "receipt": None,
    }  # fmt: skip
    return Flows(**facts | changes)


def test_a_map_shows_where_those_who_go_somewhere_come_from():
    figure = made().plot(MAP, destination="c", title="To c")
    _, blocks, lines = figure.axes[0].collections
    assert blocks.get_array().tolist() == [1, 4, 3]
    ends = {tuple(map(tuple, line.tolist())) for line in lines.get_segments()}
    assert ends == {((0.5, 0.5), (2.5, 0.5)), ((1.5, 0.5), (2.5, 0.5))}  # not from c to c
    assert figure.texts[-1].get_text() == "synthetic flows: ε 1"


def test_a_map_of_all_destinations_adds_them_up_and_leaves_out_places_without_a_polygon():
    few = {"type": "FeatureCollection", "features": MAP["features"][:2]}
    _, blocks, lines = made().plot(few).axes[0].collections
    assert blocks.get_array().tolist() == [8, 6]
    assert len(lines.get_segments()) == 1


def test_parts_of_a_region_are_drawn_by_the_largest():
    small, large = ([[[0, 0], [1, 0], [1, 1], [0, 0]]], [[[5, 0], [9, 0], [9, 1], [5, 1], [5, 0]]])
    shape = {"type": "Feature", "properties": {"name": "a"}, "geometry": {"type": "MultiPolygon",
             "coordinates": [small, large]}}  # fmt: skip
    figure = made().plot({"type": "FeatureCollection", "features": [shape]})
    assert figure.axes[0].collections[0].get_paths()[0].vertices.min(axis=0).tolist() == [5, 0]


@pytest.mark.parametrize(
    "changed",
    [{"destination": "b"}, {"regions": []}, {"name": "label"}, {"errors": 3},
     {"regions": {"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": {"type": "Point"}}]}}],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(changed):
    with pytest.raises(ParameterError):
        made().plot(**{"regions": MAP} | changed)


@pytest.mark.parametrize(
    "changed",
    [{"found": [[10**400]]},
     {"found": [[1]]}, {"found": "ab"}, {"other": [[0, 0], [0, 0]]}, {"found": [[-1, 5], [1, 1]]}, {"edges": [1]},
     {"edges": [2, 1]}, {"distances": [[1, 2], [float("nan"), 1]]}],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(changed):
    with pytest.raises(ParameterError):
        flow_errors(**{"found": ONE, "other": TWO, "distances": FAR, "edges": [0, 9]} | changed)
