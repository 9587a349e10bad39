import pytest
from tests.ledger.stories import account, held, release

from sfumato.ledger.core.entry import PartitionPart
from sfumato.ledger.core.windows import CalendarWindow
from sfumato.ledger.locations import open_ledger
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.events import GaussianEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP


@pytest.fixture
def ledger(tmp_path):
    """A hospital with two analysts: one answer in an entry, one in a file, and one question without an answer."""
    path = tmp_path / "ledger.db"
    with open_ledger(path) as opened:
        hospital = account("hospital", ApproxDP(3, "1e-5"), privacy_unit="patient")
        visits = held("hospital", "mark", unit="pid (text)", table="visits", sources=("mark of the file",))
        opened.open_account(hospital, tables=[visits])
        below = {"parents": ("hospital",), "privacy_unit": "patient"}
        opened.open_account(account("hospital/ann", PureDP(1), **below))
        opened.open_account(account("hospital/bob", ZCDP("0.5"), window=CalendarWindow("month"), **below))
        first = opened.reserve("hospital/ann", question="a" * 64, **release("0.1"))
        opened.commit(first, key="a", answer={"sections": [[7]]})
        gaussian = {"event": GaussianEvent(10), "charge": ApproxDP("0.6", "1e-6")}
        second = opened.reserve("hospital/bob", question="b" * 64, **gaussian)
        with opened.attachments.writing() as file:
            file.write_text("many rows", encoding="utf-8")
        attached = opened.attachments.attached(file)
        document = {"attached": {"name": attached.name, "sha256": attached.sha256}}
        opened.commit(second, key="b", answer={"sections": [document]})
        part = PartitionPart(partition="ward", value="A")
        opened.reserve("hospital/ann", question="c" * 64, part=part, **release("0.2"))
    return path


@pytest.fixture
def answer_file(ledger):
    """The file of the large answer."""
    (file,) = ledger.with_name("ledger.db.answers").iterdir()
    return file
