import pytest

from sfumato.errors import ParameterError
from sfumato.ledger.core.entry import Opened, PartitionPart
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE


@pytest.mark.parametrize("max_parts", [0, -1, 1.5, True, "2"])
def test_a_part_needs_a_whole_number_of_parts_per_unit(max_parts):
    with pytest.raises(ParameterError, match="max_parts_per_unit"):
        PartitionPart(partition="ward", value="A", max_parts_per_unit=max_parts)


def test_a_partition_needs_a_name():
    with pytest.raises(ParameterError, match="partition"):
        PartitionPart(partition="", value="A")


@pytest.mark.parametrize("missing", ["account", "privacy_unit"])
@pytest.mark.parametrize("value", ["", None, 7])
def test_an_account_needs_a_name_and_a_unit(missing, value):
    facts = {"account": "people", "privacy_unit": "each row"} | {missing: value}
    with pytest.raises(ParameterError, match=missing):
        Opened(budget=PureDP(1), neighboring_relation=ADD_OR_REMOVE_ONE, **facts)
