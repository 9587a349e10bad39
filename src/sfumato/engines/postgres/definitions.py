"""What stands behind a relation of PostgreSQL: stored rows alone, or definitions that are computed when it is read.

A base table is read as it is stored, and so is a materialized view. A view, a virtual generated column and a policy of
row-level security are computed: they are read if `postgres_totality` proves that they fail on no row. A foreign table
is whatever another server says, which nothing here can prove.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sfumato.engines.postgres.connection import Transaction
from sfumato.engines.postgres.totality import is_total_expression, is_total_query

_DEFINITIONS: Final = """
    WITH RECURSIVE below (oid) AS (
      SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relname = $2
       UNION
      SELECT part.oid FROM below CROSS JOIN LATERAL (
        SELECT inhrelid FROM pg_inherits WHERE inhparent = below.oid
         UNION ALL
        SELECT d.refobjid FROM pg_class AS v JOIN pg_rewrite AS r ON r.ev_class = v.oid
          JOIN pg_depend AS d ON d.objid = r.oid AND d.classid = 'pg_rewrite'::regclass
         WHERE v.oid = below.oid AND v.relkind = 'v' AND d.refclassid = 'pg_class'::regclass
      ) AS part (oid)),
    computed (oid, kind, name, code, classid, objid) AS (
      SELECT c.oid, 'view', '', pg_get_viewdef(c.oid), 'pg_rewrite'::regclass, r.oid
        FROM below JOIN pg_class AS c USING (oid) JOIN pg_rewrite AS r ON r.ev_class = c.oid WHERE c.relkind = 'v'
       UNION ALL
      SELECT below.oid, 'column', attname, pg_get_expr(adbin, adrelid), 'pg_attrdef'::regclass, d.oid
        FROM below JOIN pg_attribute ON attrelid = below.oid
        JOIN pg_attrdef AS d ON adrelid = below.oid AND adnum = attnum
       WHERE attgenerated = 'v'
       UNION ALL
      SELECT below.oid, 'policy', polname, pg_get_expr(polqual, polrelid), 'pg_policy'::regclass, p.oid
        FROM below JOIN pg_policy AS p ON polrelid = below.oid WHERE polqual IS NOT NULL)
    SELECT below.oid::bigint, n.nspname::text, c.relname::text, c.relkind::text,
           (SELECT json_agg(json_build_array(kind, name, code, EXISTS (
                     SELECT FROM pg_depend AS d
                       LEFT JOIN pg_type AS t ON d.refclassid = 'pg_type'::regclass AND t.oid = refobjid
                      WHERE d.classid = computed.classid AND d.objid = computed.objid
                        AND d.refclassid <> 'pg_class'::regclass AND t.typtype IS DISTINCT FROM 'e'))
                     ORDER BY kind, name)
              FROM computed WHERE computed.oid = below.oid)::text
      FROM below JOIN pg_class AS c USING (oid) JOIN pg_namespace AS n ON n.oid = c.relnamespace ORDER BY 1"""
"""Of a relation and all that it reads, what is computed; and whether a user's function, operator or type has a part."""

_TYPES: Final = """
    WITH RECURSIVE below AS (
      SELECT attname, atttypid AS type FROM pg_attribute
       WHERE attrelid = $1::bigint::oid AND attnum > 0 AND NOT attisdropped
       UNION ALL
      SELECT attname, typbasetype FROM below JOIN pg_type ON oid = type WHERE typtype = 'd')
    SELECT attname::text, CASE WHEN typtype = 'e' THEN 'enum' WHEN nspname = 'pg_catalog' THEN typname ELSE '' END::text
      FROM below JOIN pg_type AS t ON t.oid = type JOIN pg_namespace AS n ON n.oid = typnamespace
     WHERE typtype <> 'd'"""

_STORED, _VIEW = frozenset({"r", "p", "m"}), "v"


@dataclass(frozen=True, slots=True)
class ComputedDefinition:
    """A definition: the query of a view, or the expression of a column or a policy.

    Attributes:
        kind: `view`, `column` or `policy`.
        name: Of the column or the policy.
        code: In SQL, as the server gives it.
        has_foreign_parts: Whether a function, an operator or a type is in it that a user made.
    """

    kind: str
    name: str
    code: str
    has_foreign_parts: bool


@dataclass(frozen=True, slots=True)
class CatalogRelation:
    """A relation, and what is computed when it is read."""

    oid: int
    schema: str
    name: str
    kind: str
    computed: tuple[ComputedDefinition, ...]


def definitions(asked: Transaction, schema: str, name: str) -> tuple[CatalogRelation, ...]:
    """A relation and all that it reads, in the order of their numbers."""
    rows = asked.rows(_DEFINITIONS, (schema, name))
    return tuple(
        CatalogRelation(oid, place, called, kind, tuple(_computed(computed)))
        for oid, place, called, kind, computed in rows
    )


def are_stored(relations: Collection[CatalogRelation]) -> bool:
    """Whether nothing of them is computed when they are read, so that a transaction reads the same rows each time."""
    return all(one.kind in _STORED and not one.computed for one in relations)


def unproved(
    asked: Transaction, relations: Collection[CatalogRelation], *, place: tuple[str, str], columns: Collection[str],
    has_policies: bool,
) -> str | None:  # fmt: skip
    """The name of a relation whose definition may fail on some row; None if there is none.

    Args:
        asked: The transaction in which the catalog is read.
        relations: A relation and all that it reads.
        place: The schema and the name of the first one.
        columns: The columns of that which are read.
        has_policies: Whether row-level security may hide rows, so that its policies are computed.
    """
    if are_stored(relations):
        return None
    types = {(one.schema, one.name): dict(asked.rows(_TYPES, (one.oid,))) for one in relations}
    for one in relations:
        computed = [
            each for each in one.computed
            if (has_policies or each.kind != "policy")
            and ((one.schema, one.name) != place or each.kind != "column" or each.name in columns)
        ]  # fmt: skip
        if one.kind not in {*_STORED, _VIEW} or not all(_is_total(each, one, types) for each in computed):
            return one.name
    return None


def _is_total(
    computed: ComputedDefinition, relation: CatalogRelation, types: Mapping[tuple[str, str], Mapping[str, str]]
) -> bool:
    if computed.has_foreign_parts:
        return False
    if computed.kind == "view":
        return is_total_query(computed.code, lambda schema, name: types.get((schema, name)))
    return is_total_expression(computed.code, types[relation.schema, relation.name])


def _computed(told: Any) -> Iterator[ComputedDefinition]:
    for kind, name, code, has_foreign_parts in json.loads(told or "[]"):
        yield ComputedDefinition(kind, name, code, has_foreign_parts)
