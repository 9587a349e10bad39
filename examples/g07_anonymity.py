"""G7. k-anonymity is weaker: two k-anonymous tables reveal together what neither reveals alone.

Two hospitals have 4,500 patients each, and 1,000 patients are in both. Each hospital publishes a table in which every
row shares its age, years of education and hours of work with at least two others. An adversary who knows these three
values of a patient of both hospitals looks them up in both tables, and keeps the occupations that both allow. The
answers of two curators have a known cost.
"""

import pyarrow as pa

import sfumato as sf
from sfumato.attacks.disclosure.anonymity import distinct_diversity, k_anonymity, uniqueness
from sfumato.attacks.disclosure.generalization import Generalized, generalize, homogeneity, intersection

COLUMNS = ("age", "education_num", "hours_per_week")
SENSITIVE = "occupation"
PATIENTS, SHARED = 4_500, 1_000
SIZES = (3, 5, 10)
EPSILON = "0.5"


def hospitals() -> tuple[pa.Table, pa.Table, pa.Table]:
    """The tables of two hospitals, and the patients who are in both."""
    people = sf.datasets.people(2 * PATIENTS - SHARED).select([*COLUMNS, SENSITIVE])
    start = PATIENTS - SHARED
    return people.slice(0, PATIENTS), people.slice(start, PATIENTS), people.slice(start, SHARED)


def released(table: pa.Table, k: int) -> Generalized:
    """The table that a hospital publishes."""
    return generalize(table, columns=COLUMNS, sensitive=SENSITIVE, k=k)


def curator(table: pa.Table) -> sf.Session:
    """A session of a hospital that answers queries instead."""
    columns = {name: sf.integer(0, 100) for name in COLUMNS} | {SENSITIVE: sf.text()}
    return sf.open(table, name="hospital", columns=columns, budget=sf.PureDP(EPSILON))


def main() -> None:
    """Measure a table, publish both, intersect them, and query two curators."""
    print(__doc__)
    first, second, both = hospitals()
    print(
        f"the first hospital's table as it is (owner only): {uniqueness(first, columns=COLUMNS):.1%} unique, ", end=""
    )
    print(f"{k_anonymity(first, columns=COLUMNS)}-anonymous, ", end="")
    print(f"{distinct_diversity(first, columns=COLUMNS, sensitive=SENSITIVE)}-diverse")
    for k in SIZES:
        one, two = released(first, k), released(second, k)
        alone, joined = homogeneity(one, both, sensitive=SENSITIVE), intersection(one, two, both, sensitive=SENSITIVE)
        print(
            f"  k = {k:<3} one table: {alone.outcome.success:.1%} guessed, {alone.certain:>3} of {SHARED:,} certain;",
            end="",
        )
        print(f"  both: {joined.outcome.success:.1%} guessed, {joined.certain:>3} certain")
    print(f"  without any table: {joined.outcome.baseline:.1%} guessed")
    print("through curators, both with the query how many people of age 30 are in sales:")
    for name, table in (("first", first), ("second", second)):
        with curator(table) as hospital:
            sql = "SELECT COUNT(*) AS n FROM hospital WHERE age = 30 AND occupation = 'Sales'"
            answer = hospital.sql(sql, epsilon=EPSILON)["n"][0]
            print(f"  {name:<6} private {answer.value} ± {answer.half_width}   spent {hospital.spent}")
    print(f"  each spent ε {EPSILON} on a patient of both: the costs of answers add up, to ε {2 * float(EPSILON):g}")


if __name__ == "__main__":
    main()
