"""Opening data under a policy, and checking it first."""
