"""Audits: tests that try to refute a claimed guarantee from outputs alone, and never confirm one.

A mechanism is any callable, run on neighboring databases. Testers look for events that are likelier on one of them than
the claim allows: privacy violations. A distribution test finds noise that does not follow its declared distribution: a
calibration bug. A repetition test finds noise that is not drawn afresh. Accountants are audited by properties of every
sound one, and sensitivities by exact answers without noise. A report can be read as a page.
"""

from sfumato.audit.accountants.accountants import ForeignAccount, check_accountant
from sfumato.audit.accountants.properties import Account
from sfumato.audit.auditor import TESTERS, audit
from sfumato.audit.canaries import CanaryFinding, CanaryReport, audit_in_one_run, audit_scores
from sfumato.audit.core.adapters import adapted, one_by_one
from sfumato.audit.core.copies import DatabaseCopies
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
from sfumato.audit.core.outputs import Columns, Outputs, columns
from sfumato.audit.core.roles import AuditedMechanism, NeighborGenerator, NeighborPair, Runs, Tester
from sfumato.audit.core.runs import check_repeats, repeat_p_value, run_on
from sfumato.audit.distributions import ALPHA, DeclaredLaw, check_law, p_value, spread_p_value
from sfumato.audit.neighbors import Neighbors, small_databases, small_pairs
from sfumato.audit.noiseless import check_sensitivity
from sfumato.audit.reports.commands import Command, serve
from sfumato.audit.reports.page import page, save_page
from sfumato.audit.search.bounds import Count, conditional_p_value, epsilon_lower_bound
from sfumato.audit.search.testers import BITS, HOCKEY_STICK, SPLIT_SEARCH, SplitTester

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
    "AuditedMechanism",
    "CanaryFinding",
    "CanaryReport",
    "Columns",
    "Command",
    "Count",
    "DatabaseCopies",
    "DeclaredLaw",
    "EventFinding",
    "ForeignAccount",
    "LawFinding",
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
