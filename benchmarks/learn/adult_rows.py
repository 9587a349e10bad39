"""Adult as rows of numbers for benchmarks of models: the split of UCI, public bounds, and who earns above 50,000."""

from pathlib import Path

import numpy as np

import sfumato as sf

NUMBERS = {
    "age": (17, 90), "education_num": (1, 16), "capital_gain": (0, 20_000), "capital_loss": (0, 2_500),
    "hours_per_week": (1, 99),
}  # fmt: skip
LOWER, UPPER = zip(*NUMBERS.values(), strict=True)
CATEGORIES = ("workclass", "marital_status", "occupation", "relationship", "race", "sex")
EPSILONS = ("0.1", "1", "3", "10")
PEER = Path(__file__).parents[1] / "peers" / "diffprivlib" / ".venv" / "bin" / "python"


def values_listed():
    """The values of categories, which the codebook of the census lists."""
    everybody = sf.datasets.load_adult("all")
    return {name: sorted(set(everybody[name].to_pylist())) for name in (*CATEGORIES, "income", "native_country")}


def labels_of(table):
    """Who earns above 50,000."""
    return np.array(table["income"].to_pylist()) == ">50K"


def five(part):
    """Five numbers, clamped, and labels."""
    table = sf.datasets.load_adult(part)
    columns = [np.clip(table[name].to_numpy(), low, high) for name, (low, high) in NUMBERS.items()]
    return np.stack(columns, axis=1).astype(np.float64), labels_of(table)


def fifty(part):
    """Five numbers between 0 and 1, 0/1 features of six categories and of a birth in the United States, and labels."""
    table, values = sf.datasets.load_adult(part), values_listed()
    rows, labels = five(part)
    columns = [(rows - np.array(LOWER)) / (np.array(UPPER) - np.array(LOWER))]
    for name, listed in [*((name, values[name]) for name in CATEGORIES), ("native_country", ["United-States"])]:
        columns.append(np.array(table[name].to_pylist())[:, None] == np.array(listed))
    return np.concatenate(columns, axis=1).astype(np.float64), labels


def seven(part):
    """Places of six categories in their lists, the years of education, and labels."""
    table, values = sf.datasets.load_adult(part), values_listed()
    columns = [np.searchsorted(values[name], table[name].to_pylist()) for name in CATEGORIES]
    return np.stack([*columns, table["education_num"].to_numpy()], axis=1).astype(np.float64), labels_of(table)


def seven_ends():
    """The public bounds of `seven`."""
    values = values_listed()
    return [0] * len(CATEGORIES) + [1], [*(len(values[name]) - 1 for name in CATEGORIES), 16]
