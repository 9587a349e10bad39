"""An ordinary database and neighbors of all sorts of it: whatever anybody sees besides values is the same on them."""

from tests.attacks_on_questions.clinic import PUBLIC_WARDS, clinic, ordinary, townsfolk
from tests.attacks_on_questions.neighbors_of import clinics, towns


def databases(opened):
    """Databases of a policy by name: an ordinary one, an empty one, and two with poison in them."""
    if opened is clinic:
        return {
            "ordinary": ordinary(),
            "empty": {"patients": [], "visits": [], "drugs": [], "wards": PUBLIC_WARDS},
            "poison": clinics("poison")[1],
            "many": clinics("many rows in many groups")[1],
        }
    return {
        "ordinary": townsfolk(),
        "empty": {"people": [], "wards": PUBLIC_WARDS},
        "missing": towns("missing")[1],
        "no numbers": towns("no numbers")[1],
    }


def is_listed(plan):
    """Whether all keys of a plan are public."""
    return all(section.selection is None for section in plan.sections)
