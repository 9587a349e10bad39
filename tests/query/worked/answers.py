"""All questions of the worked suite that are answered."""

from tests.query.worked.answers_aggregates import ANSWERS as AGGREGATES
from tests.query.worked.answers_expressions import ANSWERS as EXPRESSIONS
from tests.query.worked.answers_groups import ANSWERS as GROUPS
from tests.query.worked.answers_people import ANSWERS as PEOPLE
from tests.query.worked.answers_relations import ANSWERS as RELATIONS
from tests.query.worked.answers_tpch import ANSWERS as TPCH

ANSWERS = (*AGGREGATES, *GROUPS, *EXPRESSIONS, *RELATIONS, *TPCH, *PEOPLE)
