"""D10. Parallel composition: queries about different people cost together what the most expensive one costs.

Salaries above $150,000 are counted at ε = 0.1, salaries below $20,000 at ε = 0.2. Nobody has both. So the owner
declares bands of salaries as a public column and partitions the table by it: both counts cost 0.2 together. Two queries
to the whole table would cost 0.3.
"""

from collections import Counter

import pyarrow as pa

import sfumato as sf

LOW, HIGH = 20_000, 150_000
BANDS = ("low", "middle", "high")
COSTS = {"high": "0.1", "low": "0.2"}


def band(salary: int) -> str:
    """Below $20,000, above $150,000, or between."""
    if salary < LOW:
        return "low"
    return "high" if salary > HIGH else "middle"


def bands() -> list[str]:
    """The band of each of the 101 employees of February."""
    return [band(salary) for salary in sf.datasets.company("february").column("salary").to_pylist()]


def curator() -> sf.Session:
    """A session on the payroll with the owner's column of bands."""
    table = sf.datasets.company("february").append_column("band", pa.array(bands()))
    return sf.open(table, name="company", columns={"band": sf.text(values=BANDS)}, budget=sf.PureDP(1))


def show(name: str, question: sf.Question, company: sf.Session) -> None:
    """Release the count of one band, and print it beside the exact count."""
    answer = question.release(epsilon=COSTS[name])["n"][0]
    print(f"  {name:<4}  exact {Counter(bands())[name]:>2} (owner only)   private {answer.value:>3}", end="")
    print(f" ± {answer.half_width} at ε {COSTS[name]}   spent {company.spent} in total, remaining {company.remaining}")


def main() -> None:
    """Count two bands in parallel, then in sequence for comparison."""
    print(__doc__)
    print("in parts of a partition:")
    with curator() as company, company.partition("company", by="band") as parts:
        for name in COSTS:
            show(name, parts[name].query("SELECT COUNT(*) AS n FROM company"), company)
    print("the same as two queries to the whole table:")
    with curator() as company:
        for name in COSTS:
            show(name, company.query(f"SELECT COUNT(*) AS n FROM company WHERE band = '{name}'"), company)


if __name__ == "__main__":
    main()
