"""Audits: statistics that refute a claimed guarantee from outputs alone, and never confirm one.

A mechanism is any callable, run on neighbouring databases; testers look for events that are too much likelier on one
of them. A law test beside them looks at the noise itself. The first finds privacy violations, the second calibration
bugs, and reports keep the two apart. A third test asks twice, and finds noise that is not drawn afresh.
"""

from sfumato.audit.auditor import TESTERS, audit
from sfumato.audit.bits import BITS
from sfumato.audit.bounds import Count, conditional_p_value, epsilon_lower_bound
from sfumato.audit.columns import Columns, Outputs, columns
from sfumato.audit.findings import CAVEAT, AuditReport, EventFinding, LawFinding, RepeatFinding, Verdict
from sfumato.audit.laws import ALPHA, DeclaredLaw, check_law, p_value, spread_p_value
from sfumato.audit.neighbors import Neighbors, small_databases, small_pairs
from sfumato.audit.repeats import check_repeats, repeat_p_value
from sfumato.audit.roles import Mechanism, NeighborGenerator, NeighborPair, Runs, Tester
from sfumato.audit.runs import one_by_one, run_on
from sfumato.audit.split_search import SPLIT_SEARCH, SplitTester

__all__ = [
    "ALPHA",
    "BITS",
    "CAVEAT",
    "SPLIT_SEARCH",
    "TESTERS",
    "AuditReport",
    "Columns",
    "Count",
    "DeclaredLaw",
    "EventFinding",
    "LawFinding",
    "Mechanism",
    "NeighborGenerator",
    "NeighborPair",
    "Neighbors",
    "Outputs",
    "RepeatFinding",
    "Runs",
    "SplitTester",
    "Tester",
    "Verdict",
    "audit",
    "check_law",
    "check_repeats",
    "columns",
    "conditional_p_value",
    "epsilon_lower_bound",
    "one_by_one",
    "p_value",
    "repeat_p_value",
    "run_on",
    "small_databases",
    "small_pairs",
    "spread_p_value",
]
