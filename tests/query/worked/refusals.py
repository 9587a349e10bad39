"""All questions of the worked suite that are refused."""

from tests.query.worked.refusals_people import REFUSALS as PEOPLE
from tests.query.worked.refusals_prices import REFUSALS as PRICES
from tests.query.worked.refusals_text import REFUSALS as TEXT
from tests.query.worked.refusals_values import REFUSALS as VALUES

REFUSALS = (*PEOPLE, *VALUES, *TEXT, *PRICES)
