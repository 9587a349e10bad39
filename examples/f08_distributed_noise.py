"""F8. Distributed noise: each hospital adds a share, and nobody knows the whole noise.

Twenty hospitals want to know how many cases they have together. None trusts another with its number, and none should
know the noise. Each hospital adds a share to its own count: the difference of two Pólya integers. The shares of
sixteen hospitals add up to exactly discrete Laplace noise of scale 1/ε. So up to three may fail to answer, and one may
tell others all it knows. A secure sum reveals only the total of what they send, and no single share, which would hide
almost nothing.
"""

import sfumato as sf
from sfumato.local import Party, PartyEstimate, PartySum, SecureSum, SumMessages, TrustedSum
from sfumato.mechanisms import DistributedLaplace, DistributedSkellam, Laplace

CASES = (14, 3, 0, 22, 7, 9, 31, 5, 12, 18, 2, 6, 11, 8, 25, 4, 16, 10, 1, 13)
LATE = (4, 11)  # two hospitals that did not answer
LAPLACE = DistributedLaplace(parties=20, max_dropouts=4, l1_sensitivity=1, epsilon="0.5")
SKELLAM = DistributedSkellam(parties=20, max_dropouts=4, linf_sensitivity=1, epsilon="0.5", delta="1e-6")


def added_by_a_notary(protocol: PartySum) -> PartyEstimate:
    """The total where all hospitals trust one place to add up and forget."""
    notary = TrustedSum(protocol)
    for hospital, cases in enumerate(CASES):
        if hospital not in LATE:
            notary.add(hospital, protocol.share(cases))
    return notary.estimate()


def added_by_nobody(protocol: PartySum) -> PartyEstimate:
    """The total by secure aggregation: what each hospital sends looks like random numbers."""
    run = SecureSum(protocol)
    hospitals = [Party(protocol, number, run.session) for number in range(len(CASES))]
    messages = SumMessages(protocol, run.session)
    for hospital in hospitals:
        sent = messages.write("keys", hospital.keys())  # all that is passed on can be written so
        run.join(messages.read("keys", sent))
    roster = run.roster()
    for hospital in hospitals:
        run.deal(hospital.number, hospital.deal(roster))
    answering = [hospital for hospital in hospitals if hospital.number not in LATE]
    for hospital in answering:
        run.add(hospital.number, hospital.contribute(CASES[hospital.number], run.dealt_to(hospital.number)))
    senders = run.senders()
    for hospital in answering:
        run.reveal(hospital.reveal(senders))
    return run.estimate()


def main() -> None:
    """Release the total three times, with two noise distributions and two ways to add up."""
    print(__doc__)
    protocol = PartySum(LAPLACE, low=0, high=500)
    print("\n".join(protocol.trust))
    print(f"\na secure sum: {SecureSum.trust}\n")
    answered = sum(cases for hospital, cases in enumerate(CASES) if hospital not in LATE)
    print(f"cases of the {len(CASES) - len(LATE)} hospitals that answered: {answered} (known to nobody)")
    for name, estimate, cost in (
        ("Pólya shares, a secure sum", added_by_nobody(protocol), sf.PureDP("0.5")),
        ("Pólya shares, a notary", added_by_a_notary(protocol), sf.PureDP("0.5")),
        ("Skellam shares, a notary", added_by_a_notary(PartySum(SKELLAM, low=0, high=500)), sf.ApproxDP("0.5", "1e-6")),
    ):
        print(f"  {name:<28} {estimate.total:>5} ± {estimate.half_width}; spent {cost}")
    central = Laplace(l1_sensitivity=1, epsilon="0.5").accuracy()
    print(f"\na trusted curator would have needed ± {central}, with no allowance for hospitals that fail or tell")
    print(f"eighteen shares have {float(protocol.surplus(18)):.3f} times the variance that is promised")


if __name__ == "__main__":
    main()
