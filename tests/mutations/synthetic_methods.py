"""Seeded bugs of methods for synthetic data: what they choose from, what it costs, and what is stated in public."""

from tests.mutations.mutants import Mutant

_ROOM = "synth/methods"
_MEASURING = f"{_ROOM}/measuring.py"
_MERGING = "synth/methods/merging.py"
_STATED = f"{_ROOM}/stated.py"
_MWEM = f"{_ROOM}/mwem.py"
_NETWORK = f"{_ROOM}/privbayes.py"
_TESTS = "tests/synth/methods"
_ODOMETER = f"{_TESTS}/test_odometer.py"

MUTANTS = (
    Mutant(
        name="the score of a network may move twice as far as is said",
        edits=((_MEASURING, "steps = {name: 2 * int((own.sum()", "steps = {name: int((own.sum()"),),
        tests=(f"{_TESTS}/test_measuring.py", _ODOMETER),
    ),
    Mutant(
        name="the score of a network is made with exact shares of its column",
        edits=(
            (
                _MEASURING,
                "np.abs(shares.sum() * counts - shares[:, np.newaxis] * counts.sum(axis=0)).sum()",
                "np.abs(counts.sum() * counts - counts.sum(axis=1)[:, np.newaxis] * counts.sum(axis=0)).sum()",
            ),
        ),
        tests=(f"{_TESTS}/test_measuring.py", _ODOMETER),
    ),
    Mutant(
        name="a marginal is measured twice for one charge",
        edits=(
            (
                _MEASURING,
                "noisy = noise.release(Secret(self._counts(columns).open_for_noise().reshape(-1)))",
                'noisy = [noise.release(Secret(self._counts(columns).open_for_noise().reshape(-1))) for _ in "12"][1]',
            ),
        ),
        tests=(_ODOMETER,),
    ),
    Mutant(
        name="a choice takes the candidate of the best exact score",
        edits=((_MEASURING, "chosen = Exponential(utility_sensitivity=reach, epsilon=epsilon).release(Secret(scores))",
                "chosen = scores.index(max(scores))"),),
        tests=(_ODOMETER,),
    ),
    Mutant(
        name="the last round of MWEM overspends",
        edits=((_MWEM, "measuring.left if is_last else cost * _FOR_NOISE", "cost if is_last else cost * _FOR_NOISE"),),
        tests=(f"{_TESTS}/test_mwem.py", _ODOMETER),
    ),
    Mutant(
        name="groups beyond the memory of a model are chosen in rounds",
        edits=((_MWEM, "if stated.fits(shape, [*known, own], room)] or singles", "] or singles"),),
        tests=(f"{_TESTS}/test_mwem.py",),
    ),
    Mutant(
        name="pairs of a tree take whatever memory they need",
        edits=((f"{_ROOM}/plan.py", "room -= shape.cells(pair)", "pass"),),
        tests=(f"{_TESTS}/test_plan.py::test_a_tree_has_the_pairs_for_which_there_is_memory",),
    ),
    Mutant(
        name="a network has tables that noise hides",
        edits=((_NETWORK, "if shape.cells([name, *parents]) <= most:", "if most is not None:"),),
        tests=(f"{_TESTS}/test_privbayes.py",),
    ),
    Mutant(
        name="a network keeps small sets of parents as well",
        edits=((_NETWORK, "not in within]", "not in []]"),),
        tests=(f"{_TESTS}/test_privbayes.py",),
    ),
    Mutant(
        name="weights of a workload are cut to whole numbers",
        edits=((_STATED, "found = {columns: int(weight * scale)", "found = {columns: int(weight) or 1"),),
        tests=(f"{_TESTS}/test_stated.py",),
    ),
    Mutant(
        name="candidates weigh alike whatever the workload",
        edits=((_STATED, "sum(weight * len(other & set(own)) for", "sum(weight for"),),
        tests=(f"{_TESTS}/test_stated.py",),
    ),
    Mutant(
        name="a workload takes whatever memory it needs",
        edits=((_STATED, "if shape.cells(columns) > _MOST_CELLS:", "if False:"),),
        tests=(f"{_TESTS}/test_stated.py",),
    ),
    Mutant(
        name="values of which a combination is impossible are merged",
        edits=((_MERGING, "if name in self.kept:", "if False:"),),
        tests=(f"{_TESTS}/test_merging.py", f"{_TESTS}/test_measuring.py"),
    ),
    Mutant(
        name="a missing number is in the last part",
        edits=((_MERGING, "numbers[cut.bins :] = part + 1", "numbers[cut.bins :] = part"),),
        tests=(f"{_TESTS}/test_merging.py",),
    ),
    Mutant(
        name="parts of a number are of equal width",
        edits=((_MERGING, "inside += count", "inside += 1"),),
        tests=(f"{_TESTS}/test_merging.py",),
    ),
    Mutant(
        name="quantiles are no part of what is stored",
        edits=((_STATED, '"impossible": zeros, "quantiles": cuts}', '"impossible": zeros}'),),
        tests=(f"{_TESTS}/test_stated.py",),
    ),
    Mutant(
        name="the domain of a marginal is read off the data",
        edits=(("session/training/marginals.py", "counts = np.zeros(cells, dtype=np.int64)",
                "counts = np.zeros(int(places.max(initial=0)) + 1, dtype=np.int64)"),),
        tests=("tests/session/training/test_marginals.py::test_an_empty_table_has_counts_of_zero",),
    ),
    Mutant(
        name="merged values are counted apart",
        edits=(("session/training/marginals.py", "numbers[codes[:, place]]", "codes[:, place] % size"),),
        tests=("tests/session/training/test_marginals.py::test_merged_values_are_added_up",),
    ),
    Mutant(
        name="a bin that is partly impossible is impossible",
        edits=((_STATED, "if not met or any(bins[place][0] < first or bins[place][1] > end for place in met):",
                "if not met:"),),
        tests=(f"{_TESTS}/test_stated.py",),
    ),
    Mutant(
        name="made-up rows have what is impossible",
        edits=((_STATED, "total=total, impossible=self.impossible, start=start", "total=total, start=start"),),
        tests=(f"{_TESTS}/test_stated.py", "tests/synth/test_synthesis.py"),
    ),
    Mutant(
        name="what is stated is no part of the stored question",
        edits=((f"{_ROOM}/plan.py", '{"method": self.method, **self.stated.document()}', '{"method": self.method}'),),
        tests=("tests/synth/test_synthesis.py::test_what_is_stated_is_a_part_of_the_question",),
    ),
    Mutant(
        name="a workload is passed over by methods that have none",
        edits=((f"{_ROOM}/choosing.py", "if stated.workload and method not in WEIGHING:", "if False:"),),
        tests=(f"{_TESTS}/test_choosing.py",),
    ),
)  # fmt: skip
