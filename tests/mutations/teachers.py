"""Seeded bugs of teachers that vote: who sees which rows, what a vote may move, and what is charged."""

from tests.mutations.mutants import Mutant

_VOTES = "tests/learn/teachers/test_votes.py"
_LABELS = "tests/learn/teachers/test_labels.py"
_PATE = "tests/learn/teachers/test_pate.py"
_MOVES = f"{_VOTES}::test_one_unit_moves_one_vote_on_each_public_row_for_every_draw"
_DRAWN = f"{_VOTES}::test_each_unit_is_drawn_by_itself_and_never_by_its_place"
_STATED = f"{_LABELS}::test_stated_sensitivities_are_those_of_votes_that_move"
_CHARGED = f"{_LABELS}::test_all_checks_and_all_labels_are_charged_whatever_the_votes_are"
_LAW = f"{_LABELS}::test_labels_have_their_exact_distribution"
_FIRST = f"{_LABELS}::test_only_noisy_labels_of_the_first_rows_that_pass_leave"

MUTANTS = (
    Mutant(
        name="teachers see all rows",
        edits=(("learn/teachers/votes.py", "is_in = parts == part", "is_in = parts >= 0"),),
        tests=(_MOVES,),
    ),
    Mutant(
        name="rows of teachers are drawn by their place",
        edits=(
            (
                "learn/teachers/votes.py",
                "np.asarray(uniform_below(self.count, len(rows.codes)), dtype=np.int64)",
                "np.arange(len(rows.codes)) % self.count",
            ),
        ),
        tests=(_DRAWN,),
    ),
    Mutant(
        name="units of teachers are drawn by their place",
        edits=(
            (
                "learn/teachers/votes.py",
                "drawn = np.asarray(uniform_below(self.count, int(rows.units.max(initial=-1)) + 1), dtype=np.int64)",
                "drawn = np.arange(int(rows.units.max(initial=-1)) + 1) % self.count",
            ),
        ),
        tests=(_DRAWN,),
    ),
    Mutant(
        name="rows of a unit go to several teachers at the price of one",
        edits=(("learn/teachers/votes.py", "if rows.units is None:", "if len(rows.codes):"),),
        tests=(_MOVES,),
    ),
    Mutant(
        name="a teacher depends on the order of rows",
        edits=(("learn/teachers/votes.py", "np.lexsort((target, *codes.T))", "np.arange(len(target))"),),
        tests=(f"{_VOTES}::test_a_teacher_is_a_function_of_its_rows_in_any_order",),
    ),
    Mutant(
        name="seeds of teachers are their own",
        edits=(("learn/teachers/votes.py", "if last in _FIXED:", 'if last == "verbose":'),),
        tests=(f"{_VOTES}::test_a_settled_classifier_has_fixed_seeds_wherever_they_stand",),
    ),
    Mutant(
        name="what a teacher raises leaves",
        edits=(("learn/teachers/votes.py", "except Exception:", "except MemoryError:"),),
        tests=(f"{_VOTES}::test_nothing_that_a_classifier_raises_or_warns_of_leaves",),
    ),
    Mutant(
        name="what a teacher warns of leaves",
        edits=(("learn/teachers/votes.py", 'warnings.simplefilter("ignore")', 'warnings.simplefilter("always")'),),
        tests=(f"{_VOTES}::test_nothing_that_a_classifier_raises_or_warns_of_leaves",),
    ),
    Mutant(
        name="a teacher that always fails is charged",
        edits=(("learn/teachers/pate.py", "if not teachers.can_vote():", "if count < 1:"),),
        tests=(f"{_PATE}::test_what_cannot_be_used_is_refused_before_rows_are_seen",),
    ),
    Mutant(
        name="a prediction that is no class counts",
        edits=(
            (
                "learn/teachers/votes.py",
                "if found.shape != nothing.shape or not np.isin(found, np.arange(self.classes)).all():",
                "if found.shape != nothing.shape:",
            ),
        ),
        tests=(f"{_VOTES}::test_a_prediction_that_is_no_class_is_no_vote",),
    ),
    Mutant(
        name="a vote is taken for one count that moves",
        edits=(("learn/teachers/labels.py", "VOTES_MOVED: Final = 2", "VOTES_MOVED: Final = 1"),),
        tests=(_STATED,),
    ),
    Mutant(
        name="teachers that move together are taken for apart",
        edits=(
            (
                "learn/teachers/labels.py",
                "Fraction(moved**2 * VOTES_MOVED * self.answers)",
                "Fraction(moved * VOTES_MOVED * self.answers)",
            ),
        ),
        tests=(_STATED,),
    ),
    Mutant(
        name="checks that give no label are not charged",
        edits=(
            (
                "learn/teachers/labels.py",
                "moved, rows = self.moved_teachers, len(self.teachers.public)",
                "moved, rows = self.moved_teachers, self.answers",
            ),
        ),
        tests=(_STATED,),
    ),
    Mutant(
        name="checks of votes are free",
        edits=(("learn/teachers/labels.py", "event=event_of(parts, noises)", "event=event_of(parts[1:], noises[1:])"),),
        tests=(_CHARGED,),
    ),
    Mutant(
        name="votes have the noise of twice the budget",
        edits=(
            (
                "learn/teachers/labels.py",
                "noises = noises_of(parts, self.charge)",
                "noises = noises_of(parts, ApproxDP(2 * self.charge.epsilon, self.charge.delta))",
            ),
        ),
        tests=(_CHARGED,),
    ),
    Mutant(
        name="noise on votes is halved",
        edits=(("learn/teachers/labels.py", "exact[places].reshape(-1)))", "2 * exact[places].reshape(-1)))"),),
        tests=(_LAW,),
    ),
    Mutant(
        name="a check sees the exact count",
        edits=(
            (
                "learn/teachers/labels.py",
                "np.asarray(self.check.release(exact.max(axis=1)))",
                "exact.max(axis=1)",
            ),
        ),
        tests=(_LAW,),
    ),
    Mutant(
        name="more labels are released than are charged",
        edits=(
            (
                "learn/teachers/labels.py",
                "np.flatnonzero(largest >= self.threshold)[: self.answers]",
                "np.flatnonzero(largest >= self.threshold)",
            ),
        ),
        tests=(_FIRST,),
    ),
    Mutant(
        name="votes leave with the labels",
        edits=(
            (
                "learn/teachers/labels.py",
                '"labels": noisy.argmax(axis=1).tolist()}',
                '"labels": noisy.argmax(axis=1).tolist(), "votes": exact.tolist()}',
            ),
        ),
        tests=(_FIRST,),
    ),
    Mutant(
        name="several rows of a unit in a session are priced as one",
        edits=(("learn/teachers/pate.py", "moved_teachers=min(data.rows_per_unit, count)", "moved_teachers=1"),),
        tests=(f"{_PATE}::test_a_session_is_charged_before_rows_are_read_and_covers_all_rows_of_a_unit",),
    ),
    Mutant(
        name="the owner's epsilon takes votes for surer than they are",
        edits=(("learn/teachers/labels.py", "(4 * stddev**2)", "stddev**2"),),
        tests=(f"{_LABELS}::test_no_neighbor_diverges_more_than_it_says",),
    ),
)
