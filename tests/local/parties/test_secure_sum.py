"""Secure sums: the sum of the trusted adder whoever drops out when, masks that hide everything else, refusals."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from tests.local.parties.runs import Run, exactly, of

from sfumato.errors import ParameterError
from sfumato.local import Party, PublicKeys, Revealed, SecureSum
from sfumato.local.parties.keys import SumSession
from sfumato.local.parties.splitting import PART_BYTES

VALUES = [1, 20, 7, 40, 9]
STEPS = ("join", "deal", "add", "reveal")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("absent", [(), (0,), (4,), (1, 3)], ids=str)
def test_the_sum_is_that_of_the_parties_that_sent_whoever_drops_out_when(step, absent):
    protocol = exactly(5, 2, max_colluders=0)
    run = Run(protocol, VALUES, absent={step: absent}).done()
    sent = [number for number in range(5) if step == "reveal" or number not in absent]
    found = run.box.estimate()
    assert (found.total, found.shares) == (sum(VALUES[number] for number in sent), len(sent))


def test_parties_may_drop_out_at_different_steps():
    protocol = exactly(7, 3, max_colluders=0, numbers=3)
    rows = [[number, 10 * number, 100 - number] for number in range(7)]
    run = Run(protocol, rows, absent={"deal": [6], "add": [2], "reveal": [0]}).done()
    assert run.box.estimate().totals == tuple(np.sum([rows[at] for at in (0, 1, 3, 4, 5)], axis=0))


def test_with_noise_the_interval_holds_the_sum():
    run = Run(of(5, 2), VALUES, absent={"add": [3]}).done()
    found = run.box.estimate(confidence="0.99999999")
    (low, high) = found.intervals[0]
    assert low <= sum(VALUES) - VALUES[3] <= high
    assert found.shares == 4


# What masks hide.


def coefficients(monkeypatch, parties=4, absent=()):
    """How often the mask of each key is in what each party sent, read off a real run as digits of a number."""
    names = {}

    def name_of(session, key):
        place = names.setdefault(key, len(names))
        number = 1 << 3 * place  # a digit of base 8 for each key
        return np.array([number], dtype=np.uint64) % np.uint64(1 << session.protocol.modulus_bits)

    monkeypatch.setattr(SumSession, "mask", name_of)
    protocol = exactly(parties, 2, high=2**50, max_colluders=1)
    run = Run(protocol, [0] * parties, absent={"add": absent}).added()
    half = 1 << protocol.modulus_bits - 1
    rows = []
    for masked in run.masked.values():
        left, digits = (int(masked[0]) + half) % (2 * half) - half, []
        for _ in names:
            digit = (left + 4) % 8 - 4
            digits.append(digit)
            left = (left - digit) // 8
        rows.append(digits)
    own = {names[party._own] for party in run.parties if party._own in names}
    return rows, own


def test_each_pair_adds_and_subtracts_one_mask_and_each_party_adds_its_own(monkeypatch):
    rows, own = coefficients(monkeypatch)
    columns = list(zip(*rows, strict=True))
    assert len(columns) == 4 + 6
    for place, column in enumerate(columns):
        expected = [0, 0, 0, 1] if place in own else [-1, 0, 0, 1]
        assert sorted(column) == expected
    pairs = {tuple(at for at, digit in enumerate(column) if digit) for column in columns}
    assert pairs >= set(combinations(range(4), 2))


def test_given_the_own_masks_every_set_of_numbers_with_one_sum_looks_the_same(monkeypatch):
    """All masks of pairs of three honest parties, modulo 4, by enumeration: what is left is uniform but for its sum."""
    rows, own = coefficients(monkeypatch)
    honest = rows[:3]
    pairs = [place for place in range(10) if place not in own and not rows[3][place]]
    assert len(pairs) == 3
    laws = {}
    for values in product(range(4), repeat=3):
        law = Counter(
            tuple(
                (value + sum(row[place] * mask for place, mask in zip(pairs, masks, strict=True))) % 4
                for value, row in zip(values, honest, strict=True)
            )
            for masks in product(range(4), repeat=3)
        )
        laws.setdefault(sum(values) % 4, []).append(law)
    for same in laws.values():
        assert all(law == same[0] for law in same)
        assert len(same[0]) == 16
        assert len(set(same[0].values())) == 1


def test_without_the_own_mask_a_late_party_would_be_laid_bare(monkeypatch):
    """Why there are two masks: the aggregator that says a sender dropped out gets its key, and takes off its pairs."""
    rows, own = coefficients(monkeypatch)
    for row in rows:
        assert sum(abs(row[place]) for place in own) == 1


@pytest.mark.statistical
def test_what_a_party_sends_is_uniform_in_the_ring():
    protocol = exactly(3, 1, max_colluders=1, numbers=16_000)
    run = Run(protocol, [np.full(16_000, 100)] * 3).added()
    for masked in run.masked.values():
        counts = np.bincount((masked >> np.uint64(protocol.modulus_bits - 6)).astype(np.int64), minlength=64)
        assert ((counts - 250) ** 2 / 250).sum() < 63 + 7 * (2 * 63) ** 0.5  # type-I error below 1e-6
    assert len({masked.tobytes() for masked in run.masked.values()}) == 3


# What is refused.


@pytest.mark.parametrize("step", STEPS)
def test_too_few_parties_are_refused_at_each_step(step):
    protocol = of(5, 2)
    run = Run(protocol, VALUES, absent={step: (0, 1)})
    reached = {"join": run.joined, "deal": run.joined, "add": run.dealt, "reveal": run.done}[step]()
    if step == "deal":
        roster = run.box.roster()
        for party in run.parties[2:]:
            run.box.deal(party.number, party.deal(roster))
    if step == "add":  # parties that follow the protocol, and an aggregator that was given too little
        for party in run.parties[2:]:
            run.box.add(party.number, party.contribute(1, run.box.dealt_to(party.number)))
    box = reached.box
    actions = {"join": box.roster, "deal": lambda: box.dealt_to(2), "add": box.senders, "reveal": box.estimate}
    with pytest.raises(ParameterError, match="must be at least 4"):
        actions[step]()


def test_each_step_is_taken_once_by_each_and_in_its_time():
    run = Run(of(3, 1), VALUES[:3]).joined()
    box, first = run.box, run.parties[0]
    with pytest.raises(ParameterError, match="join once"):
        box.join(first._public())
    with pytest.raises(ParameterError, match="after the roster"):
        box.deal(0, {})
    roster = box.roster()
    boxes = {party.number: party.deal(roster) for party in run.parties}
    with pytest.raises(ParameterError, match="join once"):
        box.join(PublicKeys(2, bytes(32), bytes(32)))
    for number in range(3):
        with pytest.raises(ParameterError, match="for all others"):
            box.deal(number, {})
        box.deal(number, boxes[number])
        with pytest.raises(ParameterError, match="deal once"):
            box.deal(number, boxes[number])
    with pytest.raises(ParameterError, match="must have dealt"):
        box.add(0, np.zeros(1, dtype=np.uint64))
    masked = [party.contribute(1, box.dealt_to(party.number)) for party in run.parties]
    for number, numbers in enumerate(masked):
        with pytest.raises(ParameterError, match="gave nothing away yet"):
            box.reveal(Revealed(number, {}, {}))
        box.add(number, numbers)
        with pytest.raises(ParameterError, match="must send once"):
            box.add(number, numbers)
    with pytest.raises(ParameterError, match="senders is missing"):
        box.estimate()
    box.senders()
    with pytest.raises(ParameterError, match="is late"):
        box.add(0, masked[0])


@pytest.mark.parametrize("stranger", [3, -1, "0", None])
def test_strangers_are_refused(stranger):
    run = Run(of(3, 1), VALUES[:3]).dealt()
    box = run.box
    with pytest.raises(ParameterError, match="party"):
        SecureSum(of(3, 1)).join(PublicKeys(stranger, bytes(32), bytes(32)))
    with pytest.raises(ParameterError, match="must have dealt"):
        box.dealt_to(stranger)
    with pytest.raises(ParameterError, match="must have dealt"):
        box.add(stranger, np.zeros(1, dtype=np.uint64))
    with pytest.raises(ParameterError, match="keys"):
        SecureSum(of(3, 1)).join(b"key")


def test_wrong_parts_are_noticed():
    protocol = exactly(5, 2, max_colluders=0)
    for kind, party in (("own_keys", 0), ("pair_keys", 4)):
        run = Run(protocol, VALUES, absent={"add": [4]}).done()
        given = run.revealed[1]
        parts = {name: dict(getattr(given, name)) for name in ("own_keys", "pair_keys")}
        parts[kind][party] = bytes(PART_BYTES)
        run.box._revealed[1] = Revealed(1, **parts)
        with pytest.raises(ParameterError, match="at least one was changed"):
            run.box.estimate()


def test_a_key_that_is_not_the_one_that_was_shown_is_noticed():
    run = Run(exactly(5, 2, max_colluders=0), VALUES, absent={"add": [4]}).done()
    shown = run.box._keys[4]
    run.box._keys[4] = PublicKeys(4, shown.sealing, bytes(range(32)))
    with pytest.raises(ParameterError, match="must be the one that it showed"):
        run.box.estimate()


def test_parts_of_others_than_asked_for_and_second_answers_are_refused():
    run = Run(of(5, 2), VALUES, absent={"add": [4]}).added()
    senders = run.box.senders()
    given = run.parties[0].reveal(senders)
    for wrong in (
        Revealed(0, {}, given.pair_keys),
        Revealed(0, given.own_keys, {}),
        Revealed(0, dict(given.own_keys) | {4: bytes(PART_BYTES)}, given.pair_keys),
    ):
        with pytest.raises(ParameterError, match="must have a part"):
            run.box.reveal(wrong)
    run.box.reveal(given)
    for again in (given, Revealed(4, given.own_keys, given.pair_keys)):
        with pytest.raises(ParameterError, match="gave nothing away yet"):
            run.box.reveal(again)
    with pytest.raises(ParameterError, match="revealed"):
        run.box.estimate()


def test_two_lists_of_senders_open_no_more_than_one_sum():
    """An aggregator that lies to half of the parties gathers enough parts of one secret of each party at most."""
    for parties, max_dropouts, colluders in ((3, 1, 0), (4, 2, 1), (7, 3, 0), (20, 4, 1)):
        protocol = of(parties, max_dropouts, max_colluders=colluders)
        SecureSum(protocol)
        assert 2 * protocol.least_shares > (parties - colluders) + 2 * colluders
    for parties, max_dropouts, colluders in ((2, 1, 0), (4, 2, 0), (3, 2, 1), (6, 4, 2)):
        with pytest.raises(ParameterError, match="both secrets"):
            SecureSum(of(parties, max_dropouts, max_colluders=colluders))


def test_keys_of_one_run_fit_nothing_in_another():
    protocol = of(3, 1)
    run = Run(protocol, VALUES[:3]).joined()
    assert run.box.session != SecureSum(protocol).session
    strayed = Party(protocol, 2, bytes(16))
    run.box._keys[2] = strayed.keys()
    roster = run.box.roster()
    run.box.deal(2, strayed.deal(roster))
    for party in run.parties[:2]:
        run.box.deal(party.number, party.deal(roster))
    with pytest.raises(ParameterError, match="of another run"):
        run.parties[0].contribute(1, run.box.dealt_to(0))


def test_it_says_whom_one_must_trust():
    assert "follow the protocol" in SecureSum.trust
    assert "authentic" in SecureSum.trust
