"""Groups of the categories of the Adult census, for tables of generalized values.

They follow from what the words mean, never from rows: schooling by what was completed, work by who pays and by its
kind, households by who lives together, countries by their part of the world. [FWY05] draws such trees of the same
columns; these groups are this project's own. None stands for a missing value, and "?" is how the files write it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

_EUROPE_AND_CANADA: Final = [
    "Canada", "England", "France", "Germany", "Greece", "Holand-Netherlands", "Hungary", "Ireland", "Italy", "Poland",
    "Portugal", "Scotland", "Yugoslavia",
]  # fmt: skip
_ASIA: Final = [
    "Cambodia", "China", "Hong", "India", "Iran", "Japan", "Laos", "Philippines", "South", "Taiwan", "Thailand",
    "Vietnam",
]  # fmt: skip
_LATIN_AMERICA: Final = [
    "Columbia", "Cuba", "Dominican-Republic", "Ecuador", "El-Salvador", "Guatemala", "Haiti", "Honduras", "Jamaica",
    "Mexico", "Nicaragua", "Outlying-US(Guam-USVI-etc)", "Peru", "Puerto-Rico", "Trinadad&Tobago",
]  # fmt: skip

ADULT_TAXONOMIES: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "workclass": {
            "for pay": {
                "employee": {"private": ["Private"], "public": ["Federal-gov", "State-gov", "Local-gov"]},
                "self-employed": ["Self-emp-inc", "Self-emp-not-inc"],
            },
            "no pay or not known": ["Without-pay", "Never-worked", "?", None],
        },
        "education": {
            "no college degree": {
                "no diploma or not known": {
                    "up to grade 8": ["Preschool", "1st-4th", "5th-6th", "7th-8th"],
                    "grades 9 to 12": ["9th", "10th", "11th", "12th"],
                    "not known": [None],
                },
                "diploma": ["HS-grad", "Some-college"],
                "associate": ["Assoc-voc", "Assoc-acdm"],
            },
            "college degree": {
                "bachelor": ["Bachelors"],
                "beyond bachelor": ["Masters", "Prof-school", "Doctorate"],
            },
        },
        "marital_status": {
            "with spouse": ["Married-civ-spouse", "Married-AF-spouse"],
            "without spouse or not known": {
                "never married or not known": ["Never-married", None],
                "married before": ["Married-spouse-absent", "Separated", "Divorced", "Widowed"],
            },
        },
        "occupation": {
            "office": {
                "leading": ["Exec-managerial", "Prof-specialty"],
                "assisting": ["Tech-support", "Protective-serv", "Sales", "Adm-clerical"],
            },
            "manual or not known": {
                "industry": ["Craft-repair", "Machine-op-inspct", "Transport-moving", "Handlers-cleaners"],
                "service and land": ["Other-service", "Priv-house-serv", "Farming-fishing", "Armed-Forces"],
                "occupation not known": ["?", None],
            },
        },
        "relationship": {
            "couple": ["Husband", "Wife"],
            "no couple or not known": {
                "child or relative": ["Own-child", "Other-relative"],
                "on their own or not known": ["Not-in-family", "Unmarried", None],
            },
        },
        "race": {
            "White or not known": ["White", None],
            "other than White": ["Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"],
        },
        "sex": {"female": ["Female"], "male or not known": ["Male", None]},
        "native_country": {
            "United States or not known": ["United-States", "?", None],
            "abroad": {"Europe and Canada": _EUROPE_AND_CANADA, "Asia": _ASIA, "Latin America": _LATIN_AMERICA},
        },
    }
)
"""For each of the eight categories of Adult its groups, as `sf.synth.generalized_table` takes them."""
