"""A planner in the process of the tests: what it plans is what the other process would."""

from sfumato.learn.ordering.planning import planned_fit


class PlannerHere:
    """Plans fits here, and counts them."""

    def __init__(self):
        self.planned = 0

    def plan(self, order, rows):
        """See `Planner.plan`."""
        self.planned += 1
        return planned_fit(order, rows)

    def close(self):
        """Nothing to end."""
