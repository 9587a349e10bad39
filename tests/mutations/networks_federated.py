"""Seeded bugs of federations: what an owner may move, who takes part and at which price, and whose noise is there."""

from tests.mutations.mutants import Mutant

_AT = "learn/torch/federated"
_OWNERS = "tests/learn/torch/federated/test_owners.py"
_ACCOUNTS = "tests/learn/torch/federated/test_accounts.py"
_PLAN = "tests/learn/torch/federated/test_plan.py"
_SHARED = "tests/learn/torch/federated/test_shared.py"
_MOVES = f"{_PLAN}::test_one_owner_moves_a_sum_by_the_clip_whatever_its_samples_and_those_of_others_are"
_OWN = f"{_PLAN}::test_an_owner_is_drawn_so_rarely_that_its_own_epsilon_is_kept"
_REMAIN = f"{_SHARED}::test_those_who_may_remain_make_the_noise_that_the_charge_needs"
_UNSAMPLED = f"{_SHARED}::test_drawing_owners_saves_nothing_as_the_server_sees_who_takes_part"

MUTANTS = (
    Mutant(
        name="a federation clips the sum of updates",
        edits=(
            (
                f"{_AT}/plan.py",
                "owner, clip=self.clip)\n            total +=",
                "owner, clip=self.clip, most=64 * STEPS)\n            total +=",
            ),
            (
                f"{_AT}/plan.py",
                "        return total\n",
                "        return total // max(1, int(abs(total).max()) // STEPS)\n",
            ),
        ),
        tests=(_MOVES,),
    ),
    Mutant(
        name="a federation clips each sample of an owner",
        edits=((f"{_AT}/owners.py", "clip=clip, most=most))", "clip=clip, most=most * max(1, len(inputs))))"),),
        tests=(_MOVES, f"{_OWNERS}::test_an_owner_is_clipped_as_one_however_many_samples_it_has"),
    ),
    Mutant(
        name="norms of updates are as long as floats say",
        edits=((f"{_AT}/owners.py", "square_of(steps) > most**2", "square_of(steps) > 2 * most**2"),),
        tests=(f"{_OWNERS}::test_the_norm_holds_however_floats_round",),
    ),
    Mutant(
        name="a NaN of an owner stays in its update",
        edits=((f"{_AT}/owners.py", "largest == 0 or not np.isfinite(values).all()", "largest == 0"),),
        tests=(f"{_OWNERS}::test_an_update_within_the_clip_is_cut_towards_0_and_a_longer_one_is_scaled",),
    ),
    Mutant(
        name="what training raises on an owner leaves",
        edits=((f"{_AT}/owners.py", "except Exception:", "except MemoryError:"),),
        tests=(f"{_OWNERS}::test_odd_samples_add_0_and_raise_nothing",),
    ),
    Mutant(
        name="owners train the public model itself",
        edits=((f"{_AT}/owners.py", "copy.deepcopy(model).train()", "model.train()"),),
        tests=(f"{_OWNERS}::test_nothing_that_training_writes_or_warns_of_is_seen",),
    ),
    Mutant(
        name="owners draw from the generator of everybody",
        edits=((f"{_AT}/owners.py", "torch.random.fork_rng(devices)", "torch.enable_grad()"),),
        tests=(f"{_OWNERS}::test_layers_that_drop_at_random_draw_afresh_for_each_owner_and_leave_other_draws_alone",),
    ),
    Mutant(
        name="an owner's own probability is not computed",
        edits=(
            (f"{_AT}/plan.py", "return min(largest, self.sampling_probability)", "return self.sampling_probability"),
        ),
        tests=(_OWN,),
    ),
    Mutant(
        name="an owner's own probability is not drawn with",
        edits=(
            (
                f"{_AT}/plan.py",
                "places.setdefault(self.probability_of(owner)",
                "places.setdefault(self.sampling_probability",
            ),
        ),
        tests=(f"{_PLAN}::test_each_owner_is_drawn_with_its_own_probability",),
    ),
    Mutant(
        name="a round of a federation without anybody has no noise",
        edits=((f"{_AT}/plan.py", "self.noise.release(total)", "self.noise.release(total) if total.any() else total"),),
        tests=(f"{_PLAN}::test_rounds_without_anybody_get_the_noise_of_every_other_round",),
    ),
    Mutant(
        name="a federation divides by who is there",
        edits=((f"{_AT}/plan.py", "Fraction(self.owners_per_round))", "Fraction(max(1, len(everybody))))"),),
        tests=(f"{_PLAN}::test_a_sum_is_divided_by_the_public_number_whoever_took_part",),
    ),
    Mutant(
        name="a federation charges one round for all",
        edits=(
            (
                f"{_AT}/plan.py",
                "return SelfComposedEvent(PoissonSampledEvent(probability, event), rounds)",
                "return SelfComposedEvent(PoissonSampledEvent(probability, event), 1)",
            ),
        ),
        tests=(f"{_PLAN}::test_the_event_is_that_of_the_rounds_and_costs_what_was_asked",),
    ),
    Mutant(
        name="a federation runs twice at the price of one",
        edits=((f"{_AT}/plan.py", "if self.public.rounds:", "if self.public.rounds > self.rounds:"),),
        tests=(f"{_PLAN}::test_a_plan_runs_once_and_refuses_two_owners_of_one_name",),
    ),
    Mutant(
        name="drawing is paid for less where the server sees who is drawn",
        edits=(
            (f"{_AT}/shared.py", "rho=rho_of(charge, times, relation)", "rho=4 * rho_of(charge, times, relation)"),
            (
                f"{_AT}/shared.py",
                "return SelfComposedEvent(self.noise.event, self.rounds)",
                "return SelfComposedEvent(ZCDPEvent(self.noise.rho / 4), self.rounds)",
            ),
        ),
        tests=(_UNSAMPLED, _REMAIN),
    ),
    Mutant(
        name="noise of owners who drop out is forgotten",
        edits=((f"{_AT}/shared.py", "max_dropouts=max_dropouts,\n", "max_dropouts=0,\n"),),
        tests=(_REMAIN,),
    ),
    Mutant(
        name="a model moves by a sum of too few shares",
        edits=((f"{_AT}/shared.py", "least=self._honest", "least=1"),),
        tests=(f"{_SHARED}::test_fewer_shares_than_were_promised_move_nothing",),
    ),
    Mutant(
        name="a replaced owner moves a secure sum as far as a new one",
        edits=((f"{_AT}/shared.py", "norm * (2 if relation", "norm * (1 if relation"),),
        tests=(_REMAIN,),
    ),
    Mutant(
        name="an owner clips to the norm of all",
        edits=((f"{_AT}/shared.py", "most=self.steps_of(owner)", "most=STEPS"),),
        tests=(f"{_SHARED}::test_an_owner_clips_so_far_that_its_own_epsilon_is_kept",),
    ),
    Mutant(
        name="rounds of a federation go on after the last",
        edits=((f"{_AT}/shared.py", "self.public.rounds >= self.rounds", "self.public.rounds > self.rounds"),),
        tests=(f"{_SHARED}::test_no_round_is_done_that_was_not_charged",),
    ),
    Mutant(
        name="people of an owner pay as if all its samples came or went",
        edits=(
            (f"{_AT}/accounts.py", "if plan.neighboring_relation is not NeighboringRelation.REPLACE_ONE:", "if False:"),
        ),
        tests=(f"{_ACCOUNTS}::test_a_plan_that_covers_no_change_of_some_rows_is_refused",),
    ),
    Mutant(
        name="a part in a federation is priced below what it reveals",
        edits=(
            (
                f"{_AT}/accounts.py",
                "self._plan.event_of(self._owner))",
                "self._plan.event_of(self._owner)).__class__(ZCDPEvent(Fraction(1, 10**9)), 2)",
            ),
        ),
        tests=(f"{_ACCOUNTS}::test_a_smaller_epsilon_of_its_own_is_what_is_charged",),
    ),
    Mutant(
        name="two participations are paid for as one",
        edits=((f"{_AT}/accounts.py", ', "participation": self._participation}', "}"),),
        tests=(f"{_ACCOUNTS}::test_the_same_participation_is_charged_once_and_another_again",),
    ),
    Mutant(
        name="rows that cannot be read are told",
        edits=((f"{_AT}/accounts.py", "except Exception:", "except MemoryError:"),),
        tests=(f"{_ACCOUNTS}::test_rows_that_cannot_be_read_any_more_add_0",),
    ),
)
