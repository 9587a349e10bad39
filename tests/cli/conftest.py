import pytest

from sfumato.datasets import adult


@pytest.fixture
def people_csv(tmp_path):
    """A hundred people: half of them women, aged 20 to 69."""
    rows = [f"{20 + index % 50},{'Female' if index % 2 else 'Male'},{index % 7}.5" for index in range(100)]
    path = tmp_path / "people.csv"
    path.write_text("age,sex,hours\n" + "\n".join(rows) + "\n", "utf-8")
    return path


@pytest.fixture
def no_adult(monkeypatch, tmp_path):
    """Neither a folder, nor a cache, nor a network that has the census."""
    monkeypatch.delenv("SFUMATO_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(adult, "_fetch", _unreachable)


def _unreachable(path):
    raise OSError(path)
