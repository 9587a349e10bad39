import numpy as np
import pytest

import sfumato as sf
from examples import f02_onthemap as example


@pytest.fixture(scope="module")
def made():
    return sf.datasets.commuters(3_000)


def test_homes_out_of_reach_are_left_out_by_the_map(made):
    reach = example.near(made)
    assert set(reach) == set(made.names)
    assert all(home in homes for home, homes in reach.items())
    assert 10 < min(map(len, reach.values())) < max(map(len, reach.values())) < len(made.names)


def test_the_owner_knows_all_flows(made):
    found = example.exact_flows(made)
    assert found.sum() == 3_000
    home, work = made.workers["home"][0].as_py(), made.workers["work"][0].as_py()
    assert found[made.names.index(work), made.names.index(home)] > 0
    assert np.array_equal(found.shape, made.kilometers.shape)


def test_a_map_is_saved_and_what_only_the_owner_knows_is_labeled(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(example, "WORKERS", 3_000)
    example.main(tmp_path)
    assert (tmp_path / "f02_onthemap.png").exists()
    printed = capsys.readouterr().out
    assert "spent ε 4, δ 1e-06" in printed
    assert printed.count("(owner only)") == 6
