from sfumato.query.model.kinds import NUMBERS, TIMES, Kind


def test_numbers_and_times_are_kinds_apart():
    assert {Kind.INTEGER, Kind.FLOAT} == NUMBERS
    assert {Kind.DATE, Kind.TIMESTAMP} == TIMES
    assert not NUMBERS & TIMES


def test_a_kind_is_called_as_policies_call_it():
    assert [str(kind) for kind in Kind] == ["integer", "float", "text", "boolean", "date", "timestamp"]
