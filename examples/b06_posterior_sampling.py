"""B6. One draw from a posterior is private by itself, if no single observation can be arbitrarily unlikely.

A hospital wants to publish how common a side effect is, and how many visits a patient makes in a month. It draws one
parameter from the posterior instead of publishing the mean. That draw needs no more noise. One patient changes the
log-likelihood by at most ln(high/low), if the parameter is kept within the public limits low and high. Without limits a
single patient could exclude a parameter, and no ε would hold.
"""

import sfumato as sf
from sfumato.errors import NotPrivateError
from sfumato.mechanisms import BetaBernoulli, GammaPoisson, PosteriorSampling

ILL = (True,) * 61 + (False,) * 139
VISITS = (0, 1, 1, 2, 2, 2, 3, 3, 4, 9) * 20  # counts above 6 count as 6
SIDE_EFFECT = PosteriorSampling(BetaBernoulli(low="0.1", high="0.9"))
TEMPERED = PosteriorSampling(BetaBernoulli(low="0.1", high="0.9"), epsilon=1)
RATE = PosteriorSampling(GammaPoisson(low=1, high=6, maximum=6), epsilon=1)


def refusal(low: str) -> str:
    """The error of the model for a limit of 0, which bounds nothing."""
    try:
        BetaBernoulli(low=low, high="0.9")
    except NotPrivateError as error:
        return str(error)
    return "accepted"


def name_of(mechanism: PosteriorSampling) -> str:
    """The name of a mechanism, which says whether the likelihood was raised to a power below 1."""
    return "posterior itself" if mechanism.power == 1 else f"tempered, power {float(mechanism.power):.3f}"


def main() -> None:
    """Draw from three posteriors; a fourth is refused."""
    print(__doc__)
    print(f"side effect: {sum(ILL)} of {len(ILL)} patients, {sum(ILL) / len(ILL):.3f} (owner only)")
    for name, mechanism in (
        ("posterior itself", SIDE_EFFECT),
        (f"tempered, power {float(TEMPERED.power):.3f}", TEMPERED),
    ):
        print(f"  {name:<24} drew {float(mechanism.release(ILL)):.3f}; spent {sf.PureDP(mechanism.epsilon)}")
    capped = [min(visits, int(RATE.model.extremes[1])) for visits in VISITS]
    print(f"visits in a month: {sum(capped) / len(capped):.3f} on average, after clamping (owner only)")
    print(f"  {name_of(RATE):<24} drew {float(RATE.release(VISITS)):.3f}; spent {sf.PureDP(RATE.epsilon)}")
    print(f"\nwithout limits: {refusal('0')}")


if __name__ == "__main__":
    main()
