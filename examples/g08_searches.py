"""G8. A log of searches under pseudonyms: the searches of a pseudonym name the person.

AOL published three months of searches with a number in place of each name. Number 4417749 had searched for people of
one surname, for landscapers in one town, and for numb fingers. A newspaper identified the woman. Here is a made-up log.
A curator releases searches that many people made, with their counts. Nobody declared them, so a threshold decides
which.
"""

import sfumato as sf
from sfumato.attacks.core.outcome import Outcome
from sfumato.attacks.linking.pseudonyms import vanity_search
from sfumato.datasets.pseudonyms import SearchLog, search_log

USERS = 2_000
EPSILON, DELTA = "1", "1e-13"
QUERIES_A_PERSON = 10
SHOWN = 6


def attack(made: SearchLog) -> Outcome:
    """Collect the searches of each pseudonym, and look for a name in the telephone book."""
    return vanity_search(made.log, made.directory, truth=made.names)


def searches_of(made: SearchLog, pseudonym: int) -> list[str]:
    """All that one pseudonym searched for."""
    return sorted({row["query"] for row in made.log.to_pylist() if row["user"] == pseudonym})


def curator(made: SearchLog) -> sf.Session:
    """A session in which at most ten different searches of a person count."""
    limits = sf.Limits(
        max_groups_per_unit=QUERIES_A_PERSON, max_rows_per_group_per_unit=1, max_rows_per_unit=QUERIES_A_PERSON
    )
    budget = sf.ApproxDP(EPSILON, DELTA)
    return sf.open(made.log, name="log", unit="user", limits=limits, columns={"query": sf.text()}, budget=budget)


def exposed(made: SearchLog) -> int:
    """The first pseudonym who searches for their own name."""
    rows = made.log.to_pylist()
    return next(int(row["user"]) for row in rows if made.names[row["user"]] == row["query"])


def main() -> None:
    """Name pseudonyms from the log, then ask a curator what people search for."""
    print(__doc__)
    made = search_log(USERS)
    one = exposed(made)
    print(f"what pseudonym {one} searched for (owner only):")
    print("  " + ", ".join(searches_of(made, one)))
    print(f"  the owner of the log knows that it is {made.names[one]}\n")
    print("names claimed for pseudonyms that searched for one name at least twice, and most often (owner only):")
    print(attack(made))
    with curator(made) as session:
        sql = "SELECT query, COUNT(*) AS n FROM log GROUP BY query"
        records = session.sql(sql, epsilon=EPSILON, delta=DELTA).records()
        most = sorted(records, key=lambda record: -record["n"])[:SHOWN]
        print(f"\nthrough a curator, who counts up to {QUERIES_A_PERSON} searches of a person,", end=" ")
        print(f"{len(records)} searches are released (private):")
        print("  " + ", ".join(f"{row['query']} ({row['n']:,})" for row in most))
        names = {record["query"] for record in records} & set(made.directory)
        print(f"  names of people among them: {len(names)}; spent {session.spent} of {session.budget}")


if __name__ == "__main__":
    main()
