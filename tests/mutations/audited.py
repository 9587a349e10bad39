"""Seeded bugs of plans, engines, sessions and ledgers that audits of real sessions find, from their outputs alone."""

from tests.mutations.mutants import Mutant

_FOLDER = "tests/audits_of_everything/"
_SESSION = f"{_FOLDER}test_audited_paths.py::test_no_path_to_an_answer_tells_more_than_it_is_charged"
_STATISTIC = f"{_FOLDER}test_audited_aggregates.py::test_no_aggregate_tells_more_than_it_is_charged"


def _path(name):
    return (f"{_SESSION}[{name}]",)


def _aggregate(name):
    return (f"{_STATISTIC}[{name}]",)


PLANS = (
    Mutant(
        name="audited: a sum moves as far as its upper bound",
        edits=(
            (
                "query/analysis/stability.py",
                "furthest=max(abs(low), abs(high)), entries",
                "furthest=abs(high), entries",
            ),
        ),
        tests=_aggregate("SUM(x)"),
    ),
    Mutant(
        name="audited: the rows of a unit move a group as one",
        edits=(("query/analysis/stability.py", "Sensitivity(l1=reach.rows * furthest,", "Sensitivity(l1=furthest,"),),
        tests=_aggregate("COUNT(*)"),
    ),
    Mutant(
        name="audited: a unit is counted in one of its groups",
        edits=(
            ("query/analysis/stability.py", "Reach(rows=entries, rows_per_group=1", "Reach(rows=1, rows_per_group=1"),
        ),
        tests=_path("units of two groups"),
    ),
    Mutant(
        name="audited: replacing a unit costs what adding one costs",
        edits=(
            (
                "query/analysis/stability.py",
                "    if neighboring_relation is NeighboringRelation.ADD_OR_REMOVE_ONE:\n        return one\n",
                "    if neighboring_relation:\n        return one\n",
            ),
        ),
        tests=_path("replacement between groups"),
    ),
    Mutant(
        name="audited: in L2 a row moves a sum by one step",
        edits=(
            ("query/analysis/stability.py", "sqrt_up(Fraction(squares * furthest**2))", "sqrt_up(Fraction(squares))"),
        ),
        tests=_path("Gaussian noise"),
    ),
    Mutant(
        name="audited: a private key is as likely to be shown as if its unit had no other",
        edits=(("query/planning/sections.py", "max_groups_per_unit=reach.groups,", "max_groups_per_unit=1,"),),
        tests=_path("private keys of one person"),
    ),
    Mutant(
        name="audited: a median moves by a third of its ranks",
        edits=(
            (
                "mechanisms/quantiles/quantile.py",
                "return self.epsilon / self.rank_range",
                "return 3 * self.epsilon / self.rank_range",
            ),
        ),
        tests=_aggregate("MEDIAN(x)"),
        at_full_size=True,
    ),
    Mutant(
        name="audited: a statistic that needs several numbers pays for one",
        edits=(
            (
                "query/planning/sections.py",
                "l1=sum(part.l1 for part in parts),",
                "l1=min(part.l1 for part in parts),",
            ),
        ),
        tests=_aggregate("vector_sum"),
    ),
)

ENGINES = (
    Mutant(
        name="audited: in SQL values are clamped from above only",
        edits=(
            (
                "engines/sql/expressions/terms.py",
                'return function("LEAST", function("GREATEST", value, least), most)',
                'return function("LEAST", value, most)',
            ),
        ),
        tests=_aggregate("SUM(x)"),
    ),
    Mutant(
        name="audited: in SQL a unit's values count without a limit",
        edits=(
            (
                "engines/sql/entries.py",
                'return function("LEAST", _counted(measure, measures), allowed)',
                "return _counted(measure, measures)",
            ),
        ),
        tests=_aggregate("COUNT(x)"),
    ),
    Mutant(
        name="audited: in SQL sums of more rows than are allowed are not scaled",
        edits=(
            (
                "engines/sql/entries.py",
                "all_of_it = (operation(exp.LTE, counted, allowed), total)",
                "all_of_it = (operation(exp.GTE, counted, whole(0)), total)",
            ),
        ),
        tests=_aggregate("SUM(x)"),
    ),
    Mutant(
        name="audited: in plain Python values are clamped from above only",
        edits=(
            (
                "query/values/evaluation.py",
                (
                    "        return steps.lower\n"
                    "    return min(max(math.floor(quotient + 0.5), steps.lower), steps.upper)\n"
                ),
                "        return math.floor(quotient + 0.5)\n    return min(math.floor(quotient + 0.5), steps.upper)\n",
            ),
        ),
        tests=_path("the engine reference"),
    ),
)

SESSIONS = (
    Mutant(
        name="audited: a process of its own draws half of the noise",
        edits=(
            (
                "mechanisms/additive/laplace.py",
                "discrete_laplace(self.scale, len(steps))",
                "discrete_laplace(self.scale / 2, len(steps))",
            ),
        ),
        tests=(
            "tests/cli/audit/test_question.py::test_a_question_in_a_child_process_keeps_its_claim_and_not_half_of_it",
        ),
    ),
    Mutant(
        name="audited: groups that differ in their last key have the same noise",
        edits=(
            (
                "session/releases/releasing.py",
                "            noisy = measurement.mechanism.release(exact.reshape(-1))\n",
                (
                    "            drawn = np.asarray(measurement.mechanism.release(0 * exact.reshape(-1)))\n"
                    "            noisy = exact.reshape(-1) + drawn[np.arange(exact.size) // 3 * 3]\n"
                ),
            ),
        ),
        tests=_path("a unit of one group"),
    ),
    Mutant(
        name="audited: noise that was drawn once is kept for the next question",
        edits=(
            (
                "session/releases/releasing.py",
                "            noisy = measurement.mechanism.release(exact.reshape(-1))\n",
                (
                    "            drawn = np.asarray(measurement.mechanism.release(0 * exact.reshape(-1)))\n"
                    "            noisy = exact.reshape(-1) + _measured.__dict__.setdefault(str(exact.size), drawn)\n"
                ),
            ),
        ),
        tests=_aggregate("COUNT(*)"),
    ),
    Mutant(
        name="audited: public groups that are empty are left out",
        edits=(
            (
                "session/releases/releasing.py",
                "        return groups(section.statements[0])\n",
                (
                    "        if not found.keys:\n"
                    "            return groups(section.statements[0])\n"
                    "        there = set(zip(*found.keys, strict=True))\n"
                    "        return [group for group in groups(section.statements[0]) if group in there]\n"
                ),
            ),
        ),
        tests=_path("a unit of too many groups"),
    ),
    Mutant(
        name="audited: a stored answer is drawn again for nothing",
        edits=(
            (
                "session/asking/planning.py",
                "    return None if answer is None else readable(planning, answer)\n",
                (
                    "    from sfumato.session.releases.releasing import release\n"
                    "    from sfumato.session.releases.written import encode_released\n"
                    "    found = None if answer is None else readable(planning, answer)\n"
                    "    plan, run = prepared.plan, lambda one: planning.engine.run(one, salt='0' * 32)\n"
                    "    again = [release(section, run) for section in plan.sections]\n"
                    "    return found and {**found, 'sections': [encode_released(one) for one in again]}\n"
                ),
            ),
        ),
        tests=_path("a stored answer"),
    ),
    Mutant(
        name="audited: a retry under a key is drawn again for nothing",
        edits=(
            (
                "session/asking/planning.py",
                "    answer = stored(planning, prepared)\n    if answer is None and",
                "    answer = None if asked.idempotency_key else stored(planning, prepared)\n    if answer is None and",
            ),
            (
                "session/asking/execution.py",
                "    if reservation.is_answered:\n",
                "    if False:\n",
            ),
            (
                "session/asking/execution.py",
                "    return readable(desk, kept)\n",
                "    return answer\n",
            ),
        ),
        tests=_path("a retry"),
    ),
    Mutant(
        name="audited: an answer that accounts share is drawn again for each",
        edits=(
            (
                "session/asking/planning.py",
                "plan, own = prepared.plan, partial(own_answer, prepared)",
                (
                    "from sfumato.session.releases.releasing import release\n"
                    "    from sfumato.session.releases.written import encode_released\n"
                    "    plan = prepared.plan\n\n"
                    "    def own(answer, reservation):\n"
                    "        run = lambda one: planning.engine.run(one, salt='0' * 32)\n"
                    "        again = [encode_released(release(section, run)) for section in plan.sections]\n"
                    '        return {**own_answer(prepared, answer, reservation), "sections": again}'
                ),
            ),
        ),
        tests=_path("answers that accounts share"),
    ),
    Mutant(
        name="audited: people in two parts of a partition pay for one",
        edits=(
            (
                "session/asking/planning.py",
                "value=repr(part.value),\n        max_parts_per_unit=part.max_parts_per_unit,",
                "value=repr(part.value),\n        max_parts_per_unit=1,",
            ),
        ),
        tests=_path("a partition of two parts each"),
    ),
    Mutant(
        name="audited: the receipt says half of what was released",
        edits=(
            (
                "session/asking/execution.py",
                "event=plan.event, guarantee=plan.charge,\n",
                "event=plan.event, guarantee=type(plan.charge)(plan.charge.epsilon / 2),\n",
            ),
        ),
        tests=_path("groups of public keys"),
    ),
    Mutant(
        name="audited: numbers in a file have a quarter of their noise",
        edits=(
            (
                "session/releases/releasing.py",
                "        noisy = measurement.mechanism.release(own.reshape(-1)) if own.size else own\n",
                (
                    "        noisy = own.reshape(-1)\n"
                    "        if own.size:\n"
                    "            noisy = noisy + np.asarray(measurement.mechanism.release(0 * noisy)) // 4\n"
                ),
            ),
        ),
        tests=_path("into a file"),
    ),
    Mutant(
        name="audited: an account below another does not pay with it",
        edits=(
            (
                "session/account.py",
                "parents=(self._desk.account,), window=window",
                "parents=(), window=window",
            ),
        ),
        tests=_path("accounts below"),
    ),
)

LEDGERS = (
    Mutant(
        name="audited: an account pays a quarter of what a question costs",
        edits=(
            (
                "ledger/core/replay.py",
                'return Amounts((("epsilon", charge.epsilon), ("delta"',
                'return Amounts((("epsilon", charge.epsilon / 4), ("delta"',
            ),
        ),
        tests=_path("a budget until it is refused"),
    ),
    Mutant(
        name="audited: nobody is refused",
        edits=(
            (
                "ledger/writing/rules.py",
                "    pending.replay.require_payable(priced)\n",
                "",
            ),
        ),
        tests=_path("a budget until it is refused"),
    ),
    Mutant(
        name="audited: each question is compared with the whole budget",
        edits=(
            (
                "ledger/core/account.py",
                "self._counted(at).total_with(price, part).is_within(allowed)",
                "self.increase(price, part, at).is_within(allowed)",
            ),
        ),
        tests=_path("a budget until it is refused"),
    ),
)

MUTANTS = (*PLANS, *ENGINES, *SESSIONS, *LEDGERS)
