"""From a query to a plan: aggregates, their noise and their share of the budget."""
