"""How many shares of noise a second, and how long does a secure sum take each party and the aggregator, on one core?

Twenty parties, four of which may drop out or collude; two drop out after they dealt. Times are of the processor, the
best of three. A party's time is that of all its four steps.
"""

import time

import numpy as np

from sfumato.local import Party, PartySum, SecureSum
from sfumato.mechanisms import DistributedGaussian, DistributedLaplace, DistributedSkellam

NOISES = {
    "Laplace, one number": DistributedLaplace(parties=20, l1_sensitivity=1, epsilon="0.5", max_dropouts=4),
    "Laplace, fine lattice": DistributedLaplace(parties=20, l1_sensitivity=1000, epsilon="0.5", max_dropouts=4),
    "Skellam": DistributedSkellam(
        parties=20, linf_sensitivity=1, epsilon="0.5", delta="1e-6", max_dropouts=4, l0_sensitivity=1
    ),
    "Gaussian": DistributedGaussian(parties=20, l2_sensitivity=60, rho="0.05", max_dropouts=4, l0_sensitivity=1),
}
NUMBERS, REPEATS = 1_000_000, 3


def timed(action):
    """The best processor time of a few calls."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def shares():
    print(f"{'shares a second, one core':<28}{'in vectors':>12}{'one by one':>12}")
    for name, noise in NOISES.items():
        zeros, protocol = np.zeros(NUMBERS, dtype=np.int64), PartySum(noise, low=0, high=500)
        many = NUMBERS / timed(lambda noise=noise, zeros=zeros: noise.share(zeros))
        single = 1000 / timed(lambda protocol=protocol: [protocol.share(7) for _ in range(1000)])
        print(f"{name:<28}{many:>12,.0f}{single:>12,.0f}")


def secure_sum(parties, numbers):
    """Seconds of processor for each party, and for the aggregator."""
    noise = DistributedLaplace(parties=parties, l1_sensitivity=1, epsilon="0.5", max_dropouts=parties // 5)
    protocol = PartySum(noise, low=0, high=500, numbers=numbers)
    spent = [0.0, 0.0]

    def by(side, action, *arguments):
        start = time.process_time()
        found = action(*arguments)
        spent[side] += time.process_time() - start
        return found

    run = SecureSum(protocol)
    members = [Party(protocol, number, run.session) for number in range(parties)]
    for member in members:
        by(1, run.join, by(0, member.keys))
    roster = by(1, run.roster)
    for member in members:
        by(1, run.deal, member.number, by(0, member.deal, roster))
    sending, values = members[2:], np.full(numbers, 7)
    for member in sending:
        masked = by(0, member.contribute, values, by(1, run.dealt_to, member.number))
        by(1, run.add, member.number, masked)
    senders = by(1, run.senders)
    for member in sending:
        by(1, run.reveal, by(0, member.reveal, senders))
    assert by(1, run.estimate).shares == parties - 2
    return spent[0] / parties, spent[1]


def main():
    shares()
    print(f"\n{'a secure sum':<28}{'each party':>12}{'aggregator':>12}")
    for parties, numbers in ((20, 1), (20, 10_000), (100, 1), (100, 10_000)):
        each, aggregator = min(secure_sum(parties, numbers) for _ in range(REPEATS))
        words = f"{parties} parties, {numbers:,} numbers"
        print(f"{words:<28}{1e3 * each:>9,.1f} ms{1e3 * aggregator:>9,.1f} ms")


if __name__ == "__main__":
    main()
