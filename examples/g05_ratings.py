"""G5. Ratings without names: a few known ratings of a person identify their row, even with errors and vague dates.

Netflix published ratings of 500,000 subscribers. Narayanan and Shmatikov assumed that 8 ratings of a subscriber are
known, 2 of them wrong and the dates within 14 days, and identified 99% of rows. With 2 ratings dated within 3 days they
identified 68%. Here are made-up subscribers, with fewer people and fewer movies, so the figures differ. A curator
releases counts.
"""

import pyarrow as pa

import sfumato as sf
from sfumato.attacks.core.outcome import Outcome
from sfumato.attacks.linking.pseudonyms import sparse_linkage
from sfumato.datasets.pseudonyms import ratings

EPSILON = "1"
SUBSCRIBERS, MOVIES = 3_000, 800
MOVIES_A_PERSON = 20
CASES = {"8 ratings, 2 wrong, ±14 days": (8, 2, 14), "2 ratings, ±3 days": (2, 0, 3), "2 ratings, ±30 days": (2, 0, 30)}
LITERATURE = ("99%", "68%", "")


def attack(released: pa.Table, case: str, people: int = 500) -> Outcome:
    """Scoreboard-RH on people drawn at random."""
    entries, wrong, days = CASES[case]
    return sparse_linkage(released, entries=entries, wrong=wrong, days=days, people=people)


def curator(released: pa.Table) -> sf.Session:
    """A session in which at most 20 movies of a subscriber count."""
    limits = sf.Limits(
        max_groups_per_unit=MOVIES_A_PERSON, max_rows_per_group_per_unit=1, max_rows_per_unit=MOVIES_A_PERSON
    )
    columns = {"movie": sf.integer(values=range(MOVIES)), "rating": sf.integer(1, 5)}
    return sf.open(
        released, name="ratings", unit="subscriber", limits=limits, columns=columns, budget=sf.PureDP(EPSILON)
    )


def main() -> None:
    """Identify rows of a table, then ask a curator for useful statistics of the ratings."""
    print(__doc__)
    released = ratings(SUBSCRIBERS, MOVIES)
    print(f"{released.num_rows:,} ratings (owner only), 500 people drawn at random, a simulation of the adversary:")
    for case, figure in zip(CASES, LITERATURE, strict=True):
        found = attack(released, case)
        low, high = found.interval()
        print(f"  {case:<29} {found.success:6.1%} ({low:.1%} to {high:.1%}){figure and f'   Netflix: {figure}'}")
    with curator(released) as session:
        counts = session.sql("SELECT movie, COUNT(*) AS n FROM ratings GROUP BY movie", epsilon=EPSILON)
        best = sorted(counts.records(), key=lambda record: -record["n"])[:3]
        print(
            f"through a curator, who counts up to {MOVIES_A_PERSON} ratings of each subscriber, the most rated movies:"
        )
        print("  " + ", ".join(f"number {row['movie']} by {row['n']:,} (private)" for row in best))
        print(f"  spent {session.spent} of {session.budget}, remaining {session.remaining}")


if __name__ == "__main__":
    main()
