"""What several releases cost together, by theorems on (ε, δ)."""
