"""Audits: statistics that refute a claimed guarantee from outputs alone, and never confirm one.

A mechanism is any callable, run on neighbouring databases; testers look for events that are too much likelier on one
of them. A law test beside them looks at the noise itself. The first finds privacy violations, the second calibration
bugs, and reports keep the two apart. A third test asks twice, and finds noise that is not drawn afresh. Accountants are
audited by their laws, and sensitivities by exact answers without noise. A report can be read as a page.
"""

from sfumato.audit.accountants.accountants import ForeignAccount, check_accountant
from sfumato.audit.accountants.laws import Account
from sfumato.audit.auditor import TESTERS, audit
from sfumato.audit.canaries import CanaryFinding, CanaryReport, audit_in_one_run, audit_scores
from sfumato.audit.core.adapters import adapted
from sfumato.audit.core.columns import Columns, Outputs, columns
from sfumato.audit.core.findings import (
    CAVEAT,
    AccountingFinding,
    AuditReport,
    EventFinding,
    LawFinding,
    RepeatFinding,
    SensitivityFinding,
    Verdict,
)
from sfumato.audit.core.repeats import check_repeats, repeat_p_value
from sfumato.audit.core.roles import Mechanism, NeighborGenerator, NeighborPair, Runs, Tester
from sfumato.audit.core.runs import one_by_one, run_on
from sfumato.audit.core.worlds import Worlds
from sfumato.audit.laws import ALPHA, DeclaredLaw, check_law, p_value, spread_p_value
from sfumato.audit.neighbors import Neighbors, small_databases, small_pairs
from sfumato.audit.noiseless import check_sensitivity
from sfumato.audit.reports.commands import Command, serve
from sfumato.audit.reports.page import page, save_page
from sfumato.audit.search.bits import BITS
from sfumato.audit.search.bounds import Count, conditional_p_value, epsilon_lower_bound
from sfumato.audit.search.hockey_stick import HOCKEY_STICK
from sfumato.audit.search.split_search import SPLIT_SEARCH, SplitTester

__all__ = [
    "ALPHA",
    "BITS",
    "CAVEAT",
    "HOCKEY_STICK",
    "SPLIT_SEARCH",
    "TESTERS",
    "Account",
    "AccountingFinding",
    "AuditReport",
    "CanaryFinding",
    "CanaryReport",
    "Columns",
    "Command",
    "Count",
    "DeclaredLaw",
    "EventFinding",
    "ForeignAccount",
    "LawFinding",
    "Mechanism",
    "NeighborGenerator",
    "NeighborPair",
    "Neighbors",
    "Outputs",
    "RepeatFinding",
    "Runs",
    "SensitivityFinding",
    "SplitTester",
    "Tester",
    "Verdict",
    "Worlds",
    "adapted",
    "audit",
    "audit_in_one_run",
    "audit_scores",
    "check_accountant",
    "check_law",
    "check_repeats",
    "check_sensitivity",
    "columns",
    "conditional_p_value",
    "epsilon_lower_bound",
    "one_by_one",
    "p_value",
    "page",
    "repeat_p_value",
    "run_on",
    "save_page",
    "serve",
    "small_databases",
    "small_pairs",
    "spread_p_value",
]
