"""The contract of accountants runs on the events that an accountant supports; refusing the others is a test too."""

from tests.accounting.contract import EVENTS, name_of

from sfumato.privacy.neighbors import NeighboringRelation


def pytest_generate_tests(metafunc):
    if "supported_event" in metafunc.fixturenames:
        accountant = metafunc.cls().make(NeighboringRelation.ADD_OR_REMOVE_ONE)
        events = [event for event in EVENTS if accountant.supports(event)]
        metafunc.parametrize("supported_event", events, ids=map(name_of, events))
