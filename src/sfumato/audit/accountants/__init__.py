"""Audits of accountants, by properties of every sound one."""
