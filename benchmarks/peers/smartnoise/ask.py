"""SmartNoise SQL on PostgreSQL: count and clamped sum by 100 groups. Prints what it took as JSON.

It bounds the rows of a unit and not its groups: 20 rows a unit are what 10 groups with 2 rows in each may hold. It has
no public groups either; uncensored, the groups that are there are released as they are, which costs it least.

Usage: python ask.py <host> <port> <database> <user> <warm runs> <process of the server>
"""

import sys

import psycopg2
from snsql import Privacy, from_connection
from timed_question import report

host, port, database, user, runs, server = sys.argv[1:]
connection = psycopg2.connect(host=host, port=int(port), dbname=database, user=user)
visits = {
    "max_ids": 20, "row_privacy": False, "sample_max_ids": True, "censor_dims": False, "clamp_counts": False,
    "u": {"type": "int", "private_id": True}, "g": {"type": "int"}, "v": {"type": "float", "lower": 0, "upper": 100},
}  # fmt: skip
metadata = {"": {"public": {"visits": visits}}}
# Its ε is of each column: half for the count, half for the sum.
reader = from_connection(connection, privacy=Privacy(epsilon=0.5), metadata=metadata, engine="postgres")


def asked():
    return reader.execute("SELECT g, COUNT(*) AS n, SUM(v) AS s FROM public.visits GROUP BY g")[1:]


report(asked, runs=int(runs), server=int(server))
