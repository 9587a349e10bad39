"""Filters and odometers: budgets and running bounds that hold when each question depends on the answers before it."""
