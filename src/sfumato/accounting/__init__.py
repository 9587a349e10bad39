"""Events in, guarantees out: what a sequence of releases costs, and how much noise a guarantee needs."""
