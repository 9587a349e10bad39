"""Filters and odometers: budgets and running bounds that hold when each query depends on the answers before it."""
