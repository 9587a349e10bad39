"""Rényi divergences of neighbors' laws: an upper bound for each event at each order, and what it means as (ε, δ)."""
