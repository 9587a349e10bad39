"""Batch by batch a section releases what it would as a whole."""

import numpy as np
import pytest
from tests.engines.running import question
from tests.session.desk import SURE, desk, rows

from sfumato.engines.base import ExactGroups, in_batches
from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, UnitColumn
from sfumato.privacy.secret import Secret
from sfumato.query.model.schema import Limits, Table, integer, text
from sfumato.query.planning.plan import compile_plan
from sfumato.session.releases.releasing import can_stream, in_pieces, release, released_batches

VISITS = Table(
    name="visits", columns={"u": text(), "k": text(), "g": text(values=["y", "x", "z"]), "v": integer(0, 9)},
    unit=UnitColumn("u"), limits=Limits(max_groups_per_unit=50, max_rows_per_unit=50),
)  # fmt: skip
ROWS = rows(VISITS, *({"u": f"{n}", "k": f"k{n % 7}", "g": "xy"[n % 2], "v": n % 10} for n in range(700)))
SALT = "0" * 32


def section_of(sql, *, epsilon=SURE, delta="1e-3"):
    asked = question(sql, VISITS)
    return compile_plan(asked, guarantee(epsilon, delta), neighboring_relation=ADD_OR_REMOVE_ONE).sections[0]


def runs(engine):
    def stream(statement, size):
        return (Secret(one) for one in in_batches(engine.run(statement, salt=SALT).open_for_noise(), size=size))

    return (lambda statement: engine.run(statement, salt=SALT)), stream


def as_a_dictionary(batches):
    return {
        group: tuple(rows[place] for rows in batch.released.measured)
        for batch in batches
        for place, group in enumerate(batch.released.groups)
    }


@pytest.mark.parametrize(
    ("sql", "streams"),
    [
        ("SELECT k, COUNT(*), SUM(v), AVG(v) FROM visits GROUP BY k", True),
        ("SELECT g, COUNT(*), VAR_POP(v) FROM visits GROUP BY g", True),
        ("SELECT k, g, COUNT(DISTINCT u) FROM visits GROUP BY k, g", True),
        ("SELECT g, MEDIAN(v) FROM visits GROUP BY g", False),
        ("SELECT k, COUNT(*), MEDIAN(v) FROM visits GROUP BY k", False),
        ("SELECT COUNT(*) FROM visits", False),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 100])
def test_the_batches_of_a_section_are_the_section(sql, streams, size):
    section, (run, stream) = section_of(sql), runs(desk((VISITS, ROWS)).engine)
    assert can_stream(section) is streams
    whole = release(section, run)
    expected = {group: tuple(rows[place] for rows in whole.measured) for place, group in enumerate(whole.groups)}
    found = as_a_dictionary(released_batches(section, run, stream, size=size))
    assert found == expected if streams else found.keys() == expected.keys()  # of several medians one is chosen
    assert as_a_dictionary(in_pieces(whole, size=size)) == expected


def test_public_groups_come_in_the_order_of_their_keys_whoever_is_there():
    section = section_of("SELECT g, COUNT(*) FROM visits GROUP BY g")
    for data in (ROWS, ROWS.slice(0, 0)):
        batches = released_batches(section, *runs(desk((VISITS, data)).engine), size=2)
        assert [(tuple(batch.keys[0]), len(batch)) for batch in batches] == [(("x", "y"), 2), (("z",), 1)]


def test_a_private_group_is_shown_by_its_own_coin():
    section = section_of("SELECT k, COUNT(*) FROM visits GROUP BY k", epsilon="0.1", delta="1e-9")
    single = rows(VISITS, *({"u": f"{n}", "k": f"k{n}", "g": "x", "v": 1} for n in range(500)))
    assert sum(map(len, released_batches(section, *runs(desk((VISITS, single)).engine)))) == 0


def test_every_number_has_noise_of_its_own():
    section = section_of("SELECT g, COUNT(*) FROM visits GROUP BY g", epsilon="0.01")
    run, stream = runs(desk((VISITS, ROWS)).engine)
    seen = {tuple(as_a_dictionary(released_batches(section, run, stream, size=1)).values()) for _ in range(20)}
    assert len(seen) == 20


def test_an_engine_that_is_not_read_to_its_end_is_let_go():
    section, engine = section_of("SELECT k, COUNT(*) FROM visits GROUP BY k"), desk((VISITS, ROWS)).engine
    closed = []

    def stream(statement, size):
        try:
            yield from runs(engine)[1](statement, size)
        finally:
            closed.append(size)

    batches = released_batches(section, lambda _: None, stream, size=1)
    next(batches)
    batches.close()
    assert closed == [1]


def test_sums_beyond_64_bits_are_released_too():
    section = section_of("SELECT g, SUM(v) FROM visits GROUP BY g")
    wide = ExactGroups(
        keys=(["x"],),
        cells=None,
        amounts=tuple(np.array([2**80], dtype=object) for _ in section.statements[0].measures),
    )
    (batch,) = released_batches(section, lambda _: None, lambda *_: (Secret(one) for one in [wide]))
    assert abs(int(batch.measured[0][0, 0]) - 2**80) < 2**20
