"""Audits of accountants, by laws that each must keep."""
