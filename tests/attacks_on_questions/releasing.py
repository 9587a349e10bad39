"""What a question releases, many times, over exact results that are computed once."""

from tests.attacks_on_questions.observing import found_of

from sfumato.privacy.secret import Secret
from sfumato.session.releases.releasing import release


def released_often(session, plan, runs):
    """What the one section of a plan releases in so many runs."""
    (section,), (found,) = plan.sections, found_of(session, plan)
    kept = dict(zip(map(id, section.statements), map(Secret, found), strict=True))
    return [release(section, lambda statement: kept[id(statement)]) for _ in range(runs)]
