"""One party: its steps, what it counts itself before it goes on, and that it never gives both secrets away."""

import numpy as np
import pytest
from tests.local.parties.runs import Run, exactly, of

from sfumato.errors import ParameterError
from sfumato.local import Party, PublicKeys
from sfumato.local.parties.splitting import PART_BYTES
from sfumato.mechanisms.distributed import laplace as module

NAME = bytes(range(16))


def trio(protocol=None):
    return [Party(protocol or of(3, 1), number, NAME) for number in range(3)]


def roster_of(parties):
    return {party.number: party.keys() for party in parties}


def test_steps_are_taken_in_order_and_once():
    parties = trio()
    first = parties[0]
    for step in (lambda: first.deal({}), lambda: first.contribute(1, {}), lambda: first.reveal([0])):
        with pytest.raises(ParameterError, match="next is keys"):
            step()
    roster = roster_of(parties)
    with pytest.raises(ParameterError, match="next is deal"):
        first.keys()
    first.deal(roster)
    with pytest.raises(ParameterError, match="next is contribute"):
        first.deal(roster)


def test_no_second_answer_can_be_had_even_after_a_failure():
    run = Run(of(4, 1), [1, 1, 1, 1]).added()
    party = run.parties[0]
    with pytest.raises(ParameterError, match="must be at least 4"):
        party.reveal([0, 1, 2])
    with pytest.raises(ParameterError, match="a new Party"):
        party.reveal([0, 1, 2, 3])


def test_each_party_refuses_too_few_others_at_each_step_whatever_the_aggregator_says():
    protocol = of(5, 2)  # 4 shares are needed
    parties = [Party(protocol, number, NAME) for number in range(5)]
    roster = roster_of(parties)
    with pytest.raises(ParameterError, match=r"roster.*at least 4"):
        parties[4].deal({number: roster[number] for number in (2, 3, 4)})
    boxes = {party.number: party.deal(roster) for party in parties[:4]}

    def to(receiver, senders):
        return {sender: boxes[sender][receiver] for sender in senders}

    with pytest.raises(ParameterError, match=r"dealt.*at least 4"):
        parties[3].contribute(1, to(3, (0, 1)))
    for party in parties[:3]:
        party.contribute(1, to(party.number, {0, 1, 2, 3} - {party.number}))
    with pytest.raises(ParameterError, match=r"senders.*at least 4"):
        parties[0].reveal([0, 1, 2])
    with pytest.raises(ParameterError, match=r"senders.*at least 4"):
        parties[1].reveal([0, 1, 2, 2])


def test_a_party_gives_one_secret_of_each_away_and_never_both():
    run = Run(of(5, 2), [1] * 5, absent={"add": [2]}).done()
    for given in run.revealed.values():
        assert set(given.own_keys) == {0, 1, 3, 4}
        assert set(given.pair_keys) == {2}
        assert all(len(part) == PART_BYTES for part in (*given.own_keys.values(), *given.pair_keys.values()))


@pytest.mark.parametrize("senders", [[1, 2, 3], [0, 1, 2, 9]])
def test_it_answers_for_senders_that_dealt_and_only_as_one_of_them(senders):
    run = Run(of(4, 2, max_colluders=1), [1] * 4).added()
    with pytest.raises(ParameterError, match="must be parties that dealt"):
        run.parties[0].reveal(senders)


def test_a_roster_with_foreign_or_repeated_keys_is_refused():
    keys = roster_of(trio())
    stranger = PublicKeys(0, bytes(32), bytes(range(32)))
    twice = PublicKeys(1, keys[2].sealing, keys[2].masking)
    for changed in ({0: stranger}, {1: twice}, {1: keys[2]}, {2: PublicKeys(2, keys[2].sealing, keys[2].sealing)}):
        first = Party(of(3, 1), 0, NAME)
        own = {0: first.keys()}
        with pytest.raises(ParameterError, match="roster"):
            first.deal(keys | own | changed)
    for odd in ({7: PublicKeys(7, bytes(32), bytes(32))}, {"1": keys[1]}, {1: b"key"}):
        first = Party(of(3, 1), 0, NAME)
        own = {0: first.keys()}
        with pytest.raises(ParameterError, match="roster"):
            first.deal(keys | own | odd)


def test_broken_seals_and_those_of_strangers_are_refused():
    for change in ("flip", "swap", "stranger"):
        parties = trio()
        roster = roster_of(parties)
        boxes = {party.number: party.deal(roster) for party in parties}
        dealt = {1: boxes[1][0], 2: boxes[2][0]}
        if change == "flip":
            dealt[1] = bytes([dealt[1][0] ^ 1]) + dealt[1][1:]
        elif change == "swap":
            dealt = {1: dealt[2], 2: dealt[1]}
        else:
            dealt[0] = boxes[1][0]
        with pytest.raises(ParameterError, match="dealt"):
            parties[0].contribute(1, dealt)


def test_a_seal_is_for_one_direction():
    """Two parties agree on a key for each direction: with one key, two messages would be sealed by one stream."""
    parties = trio()
    roster = roster_of(parties)
    for party in parties:
        party.deal(roster)
    keys = {parties[a]._seal_key(*way) for a, b in ((0, 1), (1, 0)) for way in ((a, b), (b, a))}
    assert len(keys) == 2


def test_noise_is_drawn_by_each_party_afresh(monkeypatch):
    asked = []

    def draw(shape, scale, size):
        asked.append((shape, scale, size))
        return np.zeros(size, dtype=np.int64)

    monkeypatch.setattr(module, "polya", draw)
    protocol = of(4, 2)
    Run(protocol, [1] * 4).added()
    assert len(asked) == 2 * 4
    assert {(1 / shape, scale, size) for shape, scale, size in asked} == {(protocol.honest, protocol.noise.scale, 1)}


def test_no_two_parties_have_a_secret_in_common():
    parties = trio()
    secrets = {(party._sealing, party._pairs, party._own) for party in parties}
    assert len({secret for triple in secrets for secret in triple}) == 9


def test_nothing_secret_is_shown():
    party = trio()[1]
    assert repr(party) == "Party(number=1)"


def test_a_value_of_another_length_is_refused():
    run = Run(exactly(3, 1, numbers=2), [[1, 2]] * 3).dealt()
    with pytest.raises(ParameterError, match="must be 2"):
        run.parties[0].contribute(5, run.box.dealt_to(0))


@pytest.mark.parametrize("number", [-1, 3, 1.5, None, True])
def test_it_is_one_of_the_parties(number):
    with pytest.raises(ParameterError, match="number"):
        Party(of(3, 1), number, NAME)
