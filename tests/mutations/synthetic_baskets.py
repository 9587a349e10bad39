"""Seeded bugs of synthetic baskets and frequent itemsets."""

from tests.mutations.mutants import Mutant

_ROOM = "synth/baskets"
_PARTITIONS = f"{_ROOM}/partitions.py"
_FREQUENT = f"{_ROOM}/frequent.py"
_TAIL = "noise/laws/laplace_tail.py"
_READ = "session/training/baskets.py"
_TESTS = "tests/synth/baskets"

MUTANTS = (
    Mutant(
        name="empty partitions are skipped",
        edits=((_PARTITIONS, "step.parts - len(masks)).tolist()", "0).tolist()"),),
        tests=(f"{_TESTS}/test_partitions.py::test_the_law_is_that_of_noise_on_each_part",),
    ),
    Mutant(
        name="the noise of one level is halved",
        edits=((_PARTITIONS, "max(dyadic_up(self.moved / share), LEAST_SCALE)",
                "max(dyadic_up(self.moved / share) / (1 if further else 2), LEAST_SCALE)"),),
        tests=(f"{_TESTS}/test_partitions.py::test_no_basket_changes_a_probability_by_more_than_its_price",),
    ),
    Mutant(
        name="partitions with baskets get half of the noise",
        edits=((_PARTITIONS, "counts + discrete_laplace(step.scale, len(counts))",
                "counts + discrete_laplace(step.scale / 2, len(counts))"),),
        tests=(f"{_TESTS}/test_partitions.py::test_the_law_is_that_of_noise_on_each_part",),
    ),
    Mutant(
        name="a replaced unit is priced as one that is added",
        edits=((f"{_ROOM}/release.py", "return 2 if relation is REPLACE_ONE else 1", "return 1"),),
        tests=(f"{_TESTS}/test_release.py::test_replaced_units_have_twice_the_noise",),
    ),
    Mutant(
        name="a part has all that was left of the whole",
        edits=((_PARTITIONS, "partition.left - step.epsilon, own)", "partition.left, own)"),),
        tests=(f"{_TESTS}/test_release.py::test_it_is_not_refuted_but_one_of_a_larger_cost_is",
               f"{_TESTS}/test_partitions.py::test_baskets_that_nobody_has_come_out_as_often_as_noise_says"),
    ),
    Mutant(
        name="the threshold follows from the data",
        edits=((_PARTITIONS, "np.flatnonzero(noisy >= step.threshold)",
                "np.flatnonzero(noisy >= max(step.threshold, max(counts.tolist(), default=0)))"),),
        tests=(f"{_TESTS}/test_partitions.py::test_the_law_is_that_of_noise_on_each_part",),
    ),
    Mutant(
        name="the tree is read off the data",
        edits=((f"{_ROOM}/release.py", "for items, count in self.partitioning.leaves(kept)]",
                "for items, count in self.partitioning.leaves(kept) if all(kept.has(one).any() for one in items)]"),),
        tests=(f"{_TESTS}/test_release.py::test_items_that_nobody_has_are_found_as_noise_says",),
    ),
    Mutant(
        name="a unit has a basket for each of its items",
        edits=((_READ, "Grouped(relation, (), tuple(of_item))", "Grouped(relation, (item,), tuple(of_item))"),),
        tests=("tests/session/training/test_baskets.py::test_each_unit_has_one_basket_of_all_its_rows",),
    ),
    Mutant(
        name="an item that is bought twice has twice its bit",
        edits=((_READ, "Fold.MAX", "Fold.SUM"),),
        tests=("tests/session/training/test_baskets.py::test_each_unit_has_one_basket_of_all_its_rows",),
    ),
    Mutant(
        name="large baskets are not cut",
        edits=((_PARTITIONS, "fits = (sizes > 0) & (sizes <= most_items)", "fits = sizes > 0"),),
        tests=(f"{_TESTS}/test_partitions.py::test_large_baskets_are_cut_unit_by_unit",),
    ),
    Mutant(
        name="the rational above the tail is not corrected",
        edits=((_TAIL, "digits, bits), likely).sum())", "digits, bits), 0).sum() or likely)"),),
        tests=("tests/noise/laws/test_laplace_tail.py::test_how_many_there_are_is_binomial_and_by_how_much_geometric",),
    ),
    Mutant(
        name="those above a threshold are all at it",
        edits=((_TAIL, "add(geometric(scale, kept), python_integers([threshold] * kept))",
                "python_integers([threshold] * kept)"),),
        tests=("tests/noise/laws/test_laplace_tail.py::test_how_many_there_are_is_binomial_and_by_how_much_geometric",),
    ),
    Mutant(
        name="frequent sets are counted for the price of one",
        edits=((_FREQUENT, "Laplace(l1_sensitivity=self.k,", "Laplace(l1_sensitivity=1,"),),
        tests=(f"{_TESTS}/test_frequent.py::test_a_basket_moves_each_count_by_one_and_added_ones_all_up",),
    ),
    Mutant(
        name="counts of replaced units are taken to move in one direction",
        edits=((_FREQUENT, "is_one_way = self.relation is ADD_OR_REMOVE_ONE", "is_one_way = True"),),
        tests=(f"{_TESTS}/test_frequent.py::test_a_basket_moves_each_count_by_one_and_added_ones_all_up",),
    ),
    Mutant(
        name="frequent sets are chosen by exact counts",
        edits=((_FREQUENT, "self.choice.release(Secret(exact)).indexes", "np.argsort(-exact)[: self.k].tolist()"),),
        tests=(f"{_TESTS}/test_frequent.py::test_choices_are_noisy",),
    ),
)  # fmt: skip
