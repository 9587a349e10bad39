"""Every protocol of the local model, small enough for all of its payloads to be tried."""

from sfumato.local import DirectEncoding, Domain, OptimizedUnaryEncoding, SymmetricUnaryEncoding

DRINKS = ("tea", "coffee", "water")
EPSILONS = ("0.25", "1", "3")

ORACLES = {
    f"{kind.__name__} of {size} at {epsilon}": kind(size, epsilon=epsilon)
    for kind in (DirectEncoding, SymmetricUnaryEncoding, OptimizedUnaryEncoding)
    for size in (2, 3, 4)
    for epsilon in EPSILONS
}
"""Frequency oracles whose payloads can be counted."""

LABELLED = {
    f"{kind.__name__} of labels": kind(Domain(DRINKS, other="water"), epsilon=1)
    for kind in (DirectEncoding, SymmetricUnaryEncoding, OptimizedUnaryEncoding)
}
LARGE = {
    f"{kind.__name__} of 300": kind(300, epsilon=2)
    for kind in (DirectEncoding, SymmetricUnaryEncoding, OptimizedUnaryEncoding)
}
PROTOCOLS = ORACLES | LABELLED | LARGE
