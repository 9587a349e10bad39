"""F8. Noise that nobody sees whole: each hospital adds a share, and the sum of the shares is exactly the mechanism's.

Twenty hospitals want to know how many cases they have together. None trusts another with its number, and none should
know the noise. Each adds to its own count a share, the difference of two Pólya integers; the shares of seventeen
hospitals add up to discrete Laplace noise of scale 1/ε, to the last bit of its law, so up to three may fail to answer.
A protocol for secure sums shows the total of what they send, and no single share, which would hide next to nothing.
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
    """What the secure sum shows of the hospitals that answered."""
    shares = [mechanism.share(cases) for hospital, cases in enumerate(CASES) if hospital not in LATE]
    return int(mechanism.combine(shares))


def main() -> None:
    """Ask twice, by two laws of noise."""
    print(__doc__)
    answered = sum(cases for hospital, cases in enumerate(CASES) if hospital not in LATE)
    print(f"cases of the {len(CASES) - len(LATE)} hospitals that answered: {answered} (known to nobody)")
    for name, mechanism, price in (
        ("Pólya shares, discrete Laplace", LAPLACE, sf.PureDP("0.5")),
        ("Skellam shares", SKELLAM, sf.ApproxDP("0.5", "1e-6")),
    ):
        print(f"  {name:<30} {private_total(mechanism):>5} ± {mechanism.accuracy()}; spent {price}")
    central = Laplace(l1_sensitivity=1, epsilon="0.5").accuracy()
    print(f"\na trusted curator would have needed ± {central} for the first, without the three who may fail")


if __name__ == "__main__":
    main()
