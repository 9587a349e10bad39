"""Tables to learn and to test with: the small ones of the texts, synthetic people, and the Adult census.

Everything here is public or made up, so nothing of it is noise and nothing of it is charged. Tables are
`pyarrow.Table`s, which `sfumato.open` takes as they are; images are NumPy arrays.
"""

from sfumato.datasets.adult import ADULT_NAMES, adult_or_people, load_adult
from sfumato.datasets.census import people
from sfumato.datasets.commuting import Commuters, commuters
from sfumato.datasets.pseudonyms import SearchLog, ratings, search_log, traces
from sfumato.datasets.shapes import SHAPES, LabeledImages, shapes
from sfumato.datasets.shops import Shop, shop
from sfumato.datasets.small import SYMPTOMS, company, diseases, medical_table, survey, symptoms, votes
from sfumato.datasets.taxonomies import ADULT_TAXONOMIES
from sfumato.datasets.towns import City, city
from sfumato.datasets.voters import HospitalAndVoters, hospital_and_voters

__all__ = [
    "ADULT_NAMES",
    "ADULT_TAXONOMIES",
    "SHAPES",
    "SYMPTOMS",
    "City",
    "Commuters",
    "HospitalAndVoters",
    "LabeledImages",
    "SearchLog",
    "Shop",
    "adult_or_people",
    "city",
    "commuters",
    "company",
    "diseases",
    "hospital_and_voters",
    "load_adult",
    "medical_table",
    "people",
    "ratings",
    "search_log",
    "shapes",
    "shop",
    "survey",
    "symptoms",
    "traces",
    "votes",
]
