"""G4. Linkage: a hospital publishes its table without names, and a voter roll restores the names.

ZIP code, birth date and sex are in both. Here exactly 87% of people have a combination of their own, Sweeney's figure
for the United States, or 63%, Golle's. So many patients are named. Coarser columns help, but nobody knows for how long.
A curator answers a query about one patient's combination with noise as large as the answer.
"""

from datetime import date

import sfumato as sf
from sfumato.attacks.core.classes import Coarsening
from sfumato.attacks.core.outcome import Outcome
from sfumato.attacks.disclosure.anonymity import k_anonymity
from sfumato.attacks.linking.records import linkage
from sfumato.datasets.voters import QUASI_IDENTIFIERS, HospitalAndVoters, hospital_and_voters

PEOPLE = 10_000
EPSILON = "1"


def year(day: date) -> int:
    """The year of a birth date."""
    return day.year


def prefix(code: str) -> str:
    """The first three digits of a ZIP code."""
    return code[:3]


COARSER: dict[str, Coarsening] = {
    "as it is": {},
    "year of birth": {"birth_date": year},
    "year of birth, 3-digit ZIP": {"birth_date": year, "zip": prefix},
}


def attack(two: HospitalAndVoters, how: str) -> Outcome:
    """Join the two tables, with columns as coarse as they were published."""
    return linkage(
        two.hospital, two.voters, columns=QUASI_IDENTIFIERS, name="name", truth=two.patients, coarsen=COARSER[how]
    )


def curator(two: HospitalAndVoters) -> sf.Session:
    """A session on the hospital's table."""
    columns = {"zip": sf.text(), "birth_date": sf.date(), "sex": sf.text(), "diagnosis": sf.text()}
    return sf.open(two.hospital, name="hospital", columns=columns, budget=sf.PureDP(EPSILON))


def question(two: HospitalAndVoters, voter: int) -> str:
    """How many patients with this voter's ZIP code, birth date and sex have HIV."""
    victim = two.voters.slice(voter, 1).to_pylist()[0]
    return (
        "SELECT COUNT(*) AS n FROM hospital WHERE diagnosis = 'HIV' "
        f"AND zip = '{victim['zip']}' AND birth_date = DATE '{victim['birth_date']}' AND sex = '{victim['sex']}'"
    )


def main() -> None:
    """Link the tables at both figures of the literature, then query a curator."""
    print(__doc__)
    for declared in ("0.87", "0.63"):
        two = hospital_and_voters(PEOPLE, uniqueness=declared)
        print(f"of {PEOPLE:,} made-up people {float(declared):.0%} have a unique combination (owner only):")
        for how, coarsen in COARSER.items():
            k = k_anonymity(two.hospital, columns=QUASI_IDENTIFIERS, coarsen=coarsen)
            print(f"  {how + ':':<28} {attack(two, how).success:7.2%} of patients named; the table is {k}-anonymous")
    with curator(two) as hospital:
        answer = hospital.sql(question(two, voter=0), epsilon=EPSILON)["n"][0]
        print(f"\nthe first voter's combination, queried through a curator\n  {question(two, voter=0)}")
        print(f"  private {answer.value} ± {answer.half_width}", end="")
        print(f"   spent {hospital.spent} of {hospital.budget}, remaining {hospital.remaining}")
    allowed = sf.attacks.largest_success(epsilon=EPSILON)
    print(f"  an adversary who started from 50% now guesses the diagnosis with probability at most {allowed:.1%}")


if __name__ == "__main__":
    main()
