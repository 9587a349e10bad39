"""Answers: values, error bars, receipts, tables and pictures."""
