import csv
import json

from tests.cli.ledger.telling import told
from tests.ledger.stories import release

from sfumato.ledger.core.journal import Chain
from sfumato.ledger.core.reservations import Asked
from sfumato.ledger.locations import open_ledger


def lines(ledger):
    return [json.loads(line) for line in told("export", ledger, "--json").splitlines()]


def test_what_happened_is_csv_with_exact_costs(ledger):
    rows = list(csv.DictReader(told("export", ledger).splitlines()))
    assert [row["kind"] for row in rows] == ["opened", "protected", "opened", "opened", *["reserved"] * 3]
    assert [(row["epsilon"], row["delta"], row["cost"], row["state"]) for row in rows[4:]] == [
        ("1/10", "0", "ε 0.1", "committed"), ("3/5", "1/1000000", "ρ 0.005", "committed"),
        ("1/5", "0", "ε 0.2", "reserved"),
    ]  # fmt: skip


def test_names_are_no_formulas_in_a_spreadsheet(ledger):
    with open_ledger(ledger) as opened:
        asked = Asked(principal='=HYPERLINK("http://x","y")', body="b")
        opened.reserve("hospital/ann", question="-q", asked=asked, **release("0.1"))
    *_, last = csv.DictReader(told("export", ledger).splitlines())
    assert (last["principal"][:6], last["question"]) == ("'=HYPE", "'-q")


def test_every_entry_is_a_line_that_links_to_the_one_before(ledger):
    found = lines(ledger)
    assert len(found) == 9
    assert [one["previous"] for one in found] == [Chain().head, *(one["hash"] for one in found[:-1])]
    assert found[5]["entry"]["answer"] == {"sections": [[7]]}


def test_fingerprints_of_data_stay_in_the_ledger(ledger):
    (protected,) = [one["entry"] for one in lines(ledger) if one["entry"]["type"] == "Protected"]
    assert (protected["fingerprints"], protected["sources"]) == (1, 1)
    for form in ([], ["--json"]):
        assert "mark" not in told("export", ledger, *form)
