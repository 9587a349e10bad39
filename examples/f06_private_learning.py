"""F6. Private learning: who earns more than $50,000, learned from a census that nobody sees.

A session reads the Adult census. A model is charged to its account like a query, before a row is read. Numbers have
public bounds and categories have public values, so that the noise covers any person. Without δ the loss is perturbed
once; with δ each step of the search gets noise. The same model of the same data costs nothing again.
"""

import sfumato as sf

CATEGORIES = ("workclass", "marital_status", "occupation", "relationship", "race", "sex")
NUMBERS = {
    "age": sf.integer(17, 90), "education_num": sf.integer(1, 16), "capital_gain": sf.integer(0, 20_000),
    "capital_loss": sf.integer(0, 2_500), "hours_per_week": sf.integer(1, 99),
}  # fmt: skip
QUERY = f"SELECT {', '.join([*NUMBERS, *CATEGORIES, 'income'])} FROM adult"


def curator() -> sf.Session:
    """A session on adult.data; the codebook of the census lists the categories."""
    everybody = sf.datasets.load_adult("all")
    listed = {name: sf.text(values=sorted(set(everybody[name].to_pylist()))) for name in (*CATEGORIES, "income")}
    return sf.open(
        sf.datasets.load_adult(), name="adult", columns=NUMBERS | listed, budget=sf.ApproxDP(3, "1e-5")
    )  # fmt: skip


def accuracy(model: sf.learn.LogisticRegression) -> float:
    """The share of the 16,281 people of adult.test, who are public here, whose income is predicted."""
    test = sf.datasets.load_adult("test").to_pydict()
    return float((model.predict(test) == test["income"]).mean())


def main() -> None:
    """Fit three models, and one of them again."""
    print(__doc__)
    with curator() as adult:
        for epsilon, delta in (("0.1", "1e-6"), ("1", "1e-6"), ("1", "0"), ("1", "1e-6")):
            model = sf.learn.LogisticRegression(epsilon=epsilon, delta=delta).fit(QUERY, "income", session=adult)
            print(f"{model.guarantee_!s:<16} by {model.noise_['method']:<10} accuracy {accuracy(model):.3f}")
        print("the larger class alone has 0.764; without privacy 0.852 (owner only)")
        print(f"spent {adult.spent} of {adult.budget}: the fourth was stored")


if __name__ == "__main__":
    main()
