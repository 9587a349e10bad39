"""F8. Distributed noise: each hospital adds a share, and nobody knows the whole noise.

Twenty hospitals want to know how many cases they have together. None trusts another with its number, and none should
know the noise. Each hospital adds a share to its own count: the difference of two Pólya integers. The shares of
seventeen hospitals add up to exactly discrete Laplace noise of scale 1/ε, so up to three may fail to answer. A secure
sum reveals only the total of what they send, and no single share, which would hide almost nothing.
"""

import sfumato as sf
from sfumato.mechanisms import DistributedLaplace, DistributedSkellam, Laplace

CASES = (14, 3, 0, 22, 7, 9, 31, 5, 12, 18, 2, 6, 11, 8, 25, 4, 16, 10, 1, 13)
LATE = (4, 11)  # two hospitals that did not answer
LAPLACE = DistributedLaplace(parties=20, max_dropouts=3, l1_sensitivity=1, epsilon="0.5", modulus_bits=32)
SKELLAM = DistributedSkellam(
    parties=20, max_dropouts=3, linf_sensitivity=1, epsilon="0.5", delta="1e-6", modulus_bits=32
)


def private_total(mechanism: DistributedLaplace | DistributedSkellam) -> int:
    """The total that the secure sum reveals for the hospitals that answered."""
    shares = [mechanism.share(cases) for hospital, cases in enumerate(CASES) if hospital not in LATE]
    return int(mechanism.combine(shares))


def main() -> None:
    """Release the total twice, with two noise distributions."""
    print(__doc__)
    answered = sum(cases for hospital, cases in enumerate(CASES) if hospital not in LATE)
    print(f"cases of the {len(CASES) - len(LATE)} hospitals that answered: {answered} (known to nobody)")
    for name, mechanism, cost in (
        ("Pólya shares, discrete Laplace", LAPLACE, sf.PureDP("0.5")),
        ("Skellam shares", SKELLAM, sf.ApproxDP("0.5", "1e-6")),
    ):
        print(f"  {name:<30} {private_total(mechanism):>5} ± {mechanism.accuracy()}; spent {cost}")
    central = Laplace(l1_sensitivity=1, epsilon="0.5").accuracy()
    print(f"\na trusted curator would have needed ± {central} for the first, with no allowance for hospitals that fail")


if __name__ == "__main__":
    main()
