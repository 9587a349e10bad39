"""Clients of every local protocol, each on two values that are as unlike as any: what a collector sees of them."""

from tests.audits_of_everything.judging import Case

from sfumato.local import DirectEncoding, OptimizedUnaryEncoding, SymmetricUnaryEncoding
from sfumato.privacy.guarantees import ApproxDP


def client(protocol, *, pair=(0, 1), **facts):
    """The bytes of so many reports of one value, as whole numbers."""

    def run(value, count):
        reports = protocol.client().report_many([value] * count)
        return [int.from_bytes(row.tobytes()) for row in reports.payloads]

    return Case(mechanism=lambda: run, pair=pair, claim=ApproxDP(protocol.realized_epsilon, 0), **facts)


PROTOCOLS = (
    DirectEncoding(3, epsilon=2),
    SymmetricUnaryEncoding(3, epsilon=2),
    OptimizedUnaryEncoding(3, epsilon=2),
)
CASES = {type(protocol).__name__: client(protocol) for protocol in PROTOCOLS}
