"""Run the exact half of a plan where the data lives.

Engines get a `Statement` and return integers per group, as a `Secret`. They never see a budget, and their own error
texts never leave, because engines quote rows.
"""
