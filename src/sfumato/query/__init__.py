"""Questions as pure plans: schema, expressions, relations, their stability, and the split of a budget over them.

No engine and no data: everything here is decided from the owner's policy and the analyst's text alone.
"""
