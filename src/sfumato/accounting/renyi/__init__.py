"""Rényi divergences of neighbors' distributions: an upper bound for each event and order, and as (ε, δ)."""
