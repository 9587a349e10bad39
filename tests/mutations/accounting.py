"""Seeded bugs of accountants, filters and calibrations."""

from tests.mutations.mutants import Mutant

MUTANTS = (
    Mutant(
        name="a divergence that could not be computed costs nothing",
        edits=(("accounting/renyi/bound.py", "np.where(np.isnan(total), np.inf, total)", "np.nan_to_num(total)"),),
        tests=(
            "tests/accounting/renyi/test_bound.py::test_a_divergence_that_could_not_be_computed_is_no_release_of_nothing",
        ),
    ),
    Mutant(
        name="an unknown number of coordinates is one",
        edits=(("privacy/events.py", "return max(1, floor(l2_sensitivity**2))", "return 1"),),
        tests=("tests/accounting/test_unknown_coordinates.py::test_the_charge_for_an_unknown_shape_keeps_its_delta",),
    ),
    Mutant(
        name="the first shape of a move is taken for the worst",
        edits=(("accounting/profiles/of_event.py", "for shape in shapes]", "for shape in shapes[:1]]"),),
        tests=("tests/accounting/test_unknown_coordinates.py::test_no_shape_is_the_worst_at_every_epsilon",),
    ),
    Mutant(
        name="the best accountant takes the largest lower bound for the cost",
        edits=(
            (
                "accounting/comparison.py",
                "min(interval.upper for interval in intervals)",
                "max(interval.lower for interval in intervals)",
            ),
        ),
        tests=("tests/accounting/test_comparison.py::TestBestAccountant::test_cost_grows_with_the_count",),
    ),
    Mutant(
        name="calibration returns the end of the bracket that was refused",
        edits=(("accounting/core/crossing.py", "    return allowed.value", "    return refused.value"),),
        tests=("tests/accounting/core/test_crossing.py",),
    ),
    Mutant(
        name="a calibration at ε = 0 looks at ε",
        edits=(
            (
                "accounting/calibration.py",
                "cost, limit = spent.delta(0), target.delta",
                "cost, limit = spent.epsilon(target.delta), target.delta",
            ),
        ),
        tests=("tests/accounting/test_calibration.py::test_an_epsilon_of_zero_is_met_through_delta",),
    ),
    Mutant(
        name="a belief ends at e^ε times itself, as odds do",
        edits=(
            (
                "accounting/explained.py",
                "highest=prior * odds / (other + prior * odds)",
                "highest=min(prior * odds, Fraction(1))",
            ),
        ),
        tests=("tests/accounting/test_explained.py",),
    ),
    Mutant(
        name="printed figures are rounded down",
        edits=(("accounting/core/printed.py", "rounding=ROUND_CEILING", "rounding='ROUND_FLOOR'"),),
        tests=("tests/accounting/core/test_printed.py",),
    ),
    Mutant(
        name="a truncated sample drives nobody out",
        edits=(
            (
                "accounting/composition/basic.py",
                "neighbors.single.replaced.one_by_one, neighbors.replaced.one_by_one",
                "neighbors.single.present, neighbors.present",
            ),
        ),
        tests=("tests/accounting/core/test_amplification.py",),
    ),
    Mutant(
        name="losses are summed from the mode on",
        edits=(
            (
                "accounting/composition/optimal.py",
                "epsilon_each + count) / 2) + 1, law.lowest)",
                "epsilon_each + count) / 2) + 1, law.mode)",
            ),
        ),
        tests=("tests/accounting/composition/test_optimal.py",),
    ),
    Mutant(
        name="the delta of events is not taken off",
        edits=(
            (
                "accounting/composition/optimal.py",
                "return (delta - failing) / (1 - failing)",
                "return delta - 0 * failing",
            ),
        ),
        tests=("tests/accounting/composition/test_optimal.py",),
    ),
    Mutant(
        name="a group over a sample shares delta as one",
        edits=(("accounting/composition/basic.py", "share / any_of_them", "share / event.sampling_probability"),),
        tests=("tests/accounting/composition/test_basic.py",),
    ),
    Mutant(
        name="the best of many costs one epsilon less",
        edits=(
            (
                "accounting/composition/basic.py",
                "else (2 + event.shape) * epsilon",
                "else (1 + event.shape) * epsilon",
            ),
        ),
        tests=("tests/accounting/composition/test_basic.py",),
    ),
    Mutant(
        name="advanced composition forgets counts",
        edits=(("accounting/composition/advanced.py", "squares += count * epsilon**2", "squares += epsilon**2"),),
        tests=("tests/accounting/composition/test_advanced.py",),
    ),
    Mutant(
        name="a filter looks at what was spent, not at what would be",
        edits=(
            (
                "accounting/adaptive/filters.py",
                "if not self._allows(total):",
                "if not self._allows(self.spent):",
            ),
        ),
        tests=("tests/accounting/adaptive/test_filters.py", "tests/accounting/adaptive/test_filters.py"),
    ),
    Mutant(
        name="an odometer takes the best order without paying for the others",
        edits=(
            (
                "accounting/adaptive/odometers.py",
                "log_up(1 / (weight * self.delta_slack))",
                "log_up(1 / self.delta_slack)",
            ),
        ),
        tests=("tests/accounting/adaptive/test_odometers.py::test_weights_say_which_orders_pay",),
    ),
    Mutant(
        name="a Rényi filter is content with any one order",
        edits=(
            (
                "accounting/adaptive/amounts.py",
                "return all(number <= limits[name]",
                "return any(number <= limits[name]",
            ),
        ),
        tests=("tests/accounting/adaptive/test_divergence_filters.py", "tests/accounting/adaptive/test_amounts.py"),
    ),
    Mutant(
        name="an advanced filter at half its logarithm",
        edits=(
            (
                "accounting/adaptive/filters.py",
                "and self._doubled_log * squares <=",
                "and self._doubled_log * squares / 2 <=",
            ),
        ),
        tests=(
            "tests/accounting/adaptive/test_filters.py::TestAdvancedFilter::test_a_budget_can_be_filled_to_the_brim",
        ),
    ),
    Mutant(
        name="Gaussian privacy at the price of concentrated privacy",
        edits=(
            (
                "accounting/adaptive/event_prices.py",
                "AdditivePrice(1 / noise_multiplier**2)",
                "AdditivePrice(1 / (2 * noise_multiplier**2))",
            ),
        ),
        tests=("tests/accounting/adaptive/test_divergence_filters.py",),
    ),
    Mutant(
        name="the worse order of a finite pair is forgotten",
        edits=(
            (
                "accounting/renyi/curves.py",
                "return np.maximum(_one_way(orders, p, q), _one_way(orders, q, p))",
                "return _one_way(orders, p, q)",
            ),
        ),
        tests=("tests/accounting/renyi/test_curves.py",),
    ),
    Mutant(
        name="no run at all has no probability",
        edits=(("accounting/renyi/selection.py", "np.logaddexp(-average, runs)", "runs"),),
        tests=("tests/accounting/renyi/test_selection.py",),
    ),
    Mutant(
        name="a trapezoidal rule with too few nodes",
        edits=(("accounting/renyi/gaussian_samples.py", "_ACCURACY: Final = 80.0", "_ACCURACY: Final = 8.0"),),
        tests=("tests/accounting/renyi/test_gaussian_samples.py",),
    ),
    Mutant(
        name="what fails is not taken from δ",
        edits=(
            ("accounting/renyi/accountant.py", "left = (delta - bound.failure) / (1 - bound.failure)", "left = delta"),
        ),
        tests=("tests/accounting/renyi/test_accountant.py::TestRDPAccountant::test_delta_and_epsilon_agree",),
    ),
    Mutant(
        name="a unit that comes into a full sample replaces nobody",
        edits=(
            (
                "accounting/renyi/of_event.py",
                "_inside(event.event, neighbors.single.replaced.one_by_one)",
                "_inside(event.event, neighbors.single.present)",
            ),
        ),
        tests=("tests/accounting/renyi/test_sampling.py",),
    ),
    Mutant(
        name="groups over a partition cost linearly",
        edits=(
            (
                "accounting/core/additive.py",
                "total_price(flattened(part, neighbors), neighbors.relation, rule)",
                "total_price(flattened(part, neighbors.single), neighbors.relation, rule).times(neighbors.size)",
            ),
        ),
        tests=("tests/accounting/core/test_additive.py",),
    ),
    Mutant(
        name="the factor between discrete and continuous law forgotten",
        edits=(
            (
                "accounting/gaussian/gaussian.py",
                "inner = min(epsilon - self.log_factor, _LARGEST_EPSILON)",
                "inner = min(epsilon, _LARGEST_EPSILON)",
            ),
        ),
        tests=("tests/accounting/gaussian/test_gaussian.py",),
    ),
    Mutant(
        name="discrete noise taken for continuous",
        edits=(
            ("accounting/gaussian/discrete_gaussian.py", "square / (variance - taken), 64)", "square / variance, 64)"),
        ),
        tests=("tests/accounting/gaussian/test_discrete_gaussian.py",),
    ),
    Mutant(
        name="pure events at half their concentrated price",
        edits=(("accounting/gaussian/zcdp.py", "float(min(loss, _FULL)) / 2)", "float(min(loss, _FULL)) / 4)"),),
        tests=("tests/accounting/gaussian/test_zcdp.py::test_rho_of_pure_mechanisms_is_that_of_randomized_response",),
    ),
    Mutant(
        name="delta of approximate events not spent",
        edits=(
            (
                "accounting/gaussian/zcdp.py",
                "delta=(delta - Fraction(slack)) / (1 - Fraction(slack)))",
                "delta=delta)",
            ),
        ),
        tests=("tests/accounting/gaussian/test_zcdp.py",),
    ),
    Mutant(
        name="a count composes its event once",
        edits=(
            (
                "accounting/core/normal_form.py",
                "tuple((event, _within_limit(many * times)) for event, many in self.counts)",
                "self.counts",
            ),
        ),
        tests=("tests/accounting/core/test_normal_form.py",),
    ),
    Mutant(
        name="concentrated privacy of a group grows linearly",
        edits=(("accounting/core/normal_form.py", "ZCDPEvent(event.rho * size**2)", "ZCDPEvent(event.rho * size)"),),
        tests=("tests/accounting/core/test_normal_form.py",),
    ),
    Mutant(
        name="a sample of everybody means the same outside it",
        edits=(
            (
                "accounting/core/normal_form.py",
                "(inner is neighbors.relation or all(isinstance(single, _PLAIN) for single, _ in seen))",
                "True",
            ),
        ),
        tests=("tests/accounting/core/test_normal_form.py",),
    ),
    Mutant(
        name="a bound of a group is a lower bound too",
        edits=(
            ("accounting/core/accountant.py", "return found if self.tally.is_tight else", "return found if True else"),
        ),
        tests=("tests/accounting/core/test_accountant.py",),
    ),
    Mutant(
        name="a replaced unit in a sample of everybody is one step",
        edits=(("accounting/core/normal_form.py", "else neighbors.one_by_one)", "else neighbors.present)"),),
        tests=("tests/accounting/core/test_normal_form.py",),
    ),
    Mutant(
        name="what is cut off above a grid is lost",
        edits=(
            (
                "accounting/pld/discretize.py",
                "masses=masses, infinite_mass=float(forward[-1]))\n\n\ndef lower_law",
                "masses=masses, infinite_mass=0.0)\n\n\ndef lower_law",
            ),
        ),
        tests=("tests/accounting/pld/test_discretize.py",),
    ),
    Mutant(
        name="losses are rounded down",
        edits=(
            (
                "accounting/pld/discretize.py",
                "asked = np.abs(losses) * (1 - _NUDGE)",
                "asked = np.abs(losses) + grid.step / 2",
            ),
        ),
        tests=("tests/accounting/pld/test_discretize.py",),
    ),
    Mutant(
        name="masses are not rounded outward",
        edits=(
            (
                "accounting/pld/discretize.py",
                "np.maximum(masses + error, 0.0) if is_upper",
                "np.maximum(masses - error, 0.0) if is_upper",
            ),
        ),
        tests=("tests/accounting/pld/test_discretize.py",),
    ),
    Mutant(
        name="errors of the transform are not added",
        edits=(("accounting/pld/bounds.py", "return self._up(value + doubt + beyond", "return self._up(value"),),
        tests=("tests/accounting/pld/test_bounds.py",),
    ),
    Mutant(
        name="a composition forgets its count",
        edits=(
            ("accounting/pld/convolve.py", "_power(np.fft.rfft(wrapped), count)", "_power(np.fft.rfft(wrapped), 1)"),
        ),
        tests=("tests/accounting/pld/test_convolve.py",),
    ),
    Mutant(
        name="a lower law above the tests",
        edits=(
            (
                "accounting/pld/discretize.py",
                "np.minimum.accumulate(np.minimum(before if",
                "np.minimum.accumulate(np.maximum(before if",
            ),
        ),
        tests=("tests/accounting/pld/test_discretize.py",),
    ),
    Mutant(
        name="infinite losses add up as logarithms",
        edits=(("accounting/pld/bounds.py", "-math.expm1(logs)", "logs"),),
        tests=("tests/accounting/pld/test_bounds.py",),
    ),
    Mutant(
        name="an exchanged unit in a sample moves once",
        edits=(
            (
                "accounting/profiles/of_event.py",
                "        swapped = _inside(event.event, neighbors.swapped, compose)",
                "        swapped = _inside(event.event, neighbors.replaced, compose)",
            ),
        ),
        tests=("tests/accounting/profiles/test_of_event.py",),
    ),
    Mutant(
        name="who is crowded out of a full sample is forgotten",
        edits=(
            (
                "accounting/profiles/of_event.py",
                "one.swapped, compose), max(parts.kept_up",
                "one.present, compose), max(parts.kept_up",
            ),
        ),
        tests=("tests/accounting/profiles/test_of_event.py",),
    ),
    Mutant(
        name="only the presence of a replaced unit is paid for",
        edits=(
            (
                "accounting/profiles/sampled.py",
                "q / (q + growth) * self.replaced.delta_up(inner)",
                "q / (q + growth) * self.present.delta_up(inner)",
            ),
        ),
        tests=("tests/accounting/profiles/test_sampled.py",),
    ),
    Mutant(
        name="a lower bound of a tail that is 0 is not",
        edits=(("accounting/profiles/discrete.py", "(sign > 0) * TINY", "TINY"),),
        tests=("tests/accounting/profiles/test_discrete.py",),
    ),
    Mutant(
        name="a lower bound by a mechanism of twice the range",
        edits=(("accounting/profiles/finite.py", "WorstPair(self.epsilon / 2)", "WorstPair(self.epsilon)"),),
        tests=(
            "tests/accounting/profiles/test_finite.py::test_its_tests_are_attained_by_randomized_response_of_half_the_range",
        ),
    ),
    Mutant(
        name="a group is paid at the single's epsilon",
        edits=(("accounting/profiles/combined.py", "growing / self.count * (1 - 2 * ULP)", "growing * (1 - 2 * ULP)"),),
        tests=("tests/accounting/profiles/test_combined.py",),
    ),
    Mutant(
        name="the root of the loss taken for exact",
        edits=(
            (
                "accounting/profiles/mixtures.py",
                "exponent = np.minimum(epsilon, loss - error)",
                "exponent = epsilon + 1e-9",
            ),
        ),
        tests=("tests/accounting/profiles/test_mixtures.py",),
    ),
)
