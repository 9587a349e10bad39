"""Groups of Adult's categories have every value of the files, each once."""

from sfumato.datasets import ADULT_NAMES, ADULT_TAXONOMIES, load_adult, people


def values_of(groups):
    if isinstance(groups, list):
        return groups
    return [value for inside in groups.values() for value in values_of(inside)]


def test_each_value_is_in_one_group_and_so_is_a_missing_one():
    for groups in ADULT_TAXONOMIES.values():
        values = values_of(groups)
        assert len(set(values)) == len(values)
        assert None in values


def test_all_values_of_the_files_and_no_others_are_grouped():
    table = load_adult("all")
    for name, groups in ADULT_TAXONOMIES.items():
        assert set(values_of(groups)) - {None} == set(table[name].to_pylist()) | ({"?"} & set(values_of(groups)))


def test_all_categories_but_the_class_are_grouped():
    made = people(10)
    categories = [name for name in ADULT_NAMES if str(made.schema.field(name).type) == "string"]
    assert [*ADULT_TAXONOMIES, "income"] == categories


def test_made_up_people_have_no_other_values():
    made = people(2_000)
    for name, groups in ADULT_TAXONOMIES.items():
        assert set(made[name].to_pylist()) <= set(values_of(groups))
