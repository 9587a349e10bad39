"""The routes, written down a second time: which action each of them is, and a body for it.

What a role may then do is the table of rights in `identity.people`, which has tests of its own.
"""

from tests.server.running import COUNT

from sfumato.server.identity.people import Action

DATASET = "clinic"
ASK = {"sql": COUNT, "epsilon": "0.001"}
REASON = {"reason": "a test"}
DOORS = {"/v1/health", "/v1/ready"}
"""Open to everybody."""

MATRIX = {
    ("GET", "/v1/metrics"): (Action.READ_METRICS, None),
    ("GET", "/v1/me"): (Action.READ_SELF, None),
    ("GET", "/v1/datasets"): (Action.READ_SELF, None),
    ("GET", "/v1/datasets/{dataset}"): (Action.READ_SCHEMA, None),
    ("GET", "/v1/datasets/{dataset}/relations"): (Action.READ_RELATIONS, None),
    ("GET", "/v1/datasets/{dataset}/label"): (Action.READ_SCHEMA, None),
    ("POST", "/v1/datasets/{dataset}/versions"): (Action.PUBLISH_VERSION, {"data_version": "\u2020"}),
    ("POST", "/v1/datasets/{dataset}/acknowledgments"): (Action.ACKNOWLEDGE, REASON),
    ("GET", "/v1/datasets/{dataset}/people"): (Action.READ_PEOPLE, None),
    ("POST", "/v1/datasets/{dataset}/estimate"): (Action.ESTIMATE, ASK),
    ("POST", "/v1/datasets/{dataset}/dry-run"): (Action.ESTIMATE, ASK),
    ("POST", "/v1/datasets/{dataset}/ask"): (Action.ASK, ASK),
    ("POST", "/v1/datasets/{dataset}/from-releases"): (Action.READ_OWN_RELEASES, {"sql": COUNT}),
    ("GET", "/v1/datasets/{dataset}/accounts"): (Action.READ_ACCOUNTS, None),
    ("POST", "/v1/datasets/{dataset}/accounts"): (
        Action.OPEN_ACCOUNT, {"name": "opened", "budget": {"epsilon": 1, "delta": "1e-6"}},
    ),
    ("GET", "/v1/datasets/{dataset}/accounts/history"): (Action.READ_ACCOUNTS, None),
    ("GET", "/v1/datasets/{dataset}/accounts/{path}"): (Action.READ_ACCOUNTS, None),
    ("GET", "/v1/datasets/{dataset}/accounts/{path}/history"): (Action.READ_ACCOUNTS, None),
    ("POST", "/v1/datasets/{dataset}/accounts/budget"): (
        Action.CHANGE_BUDGET, {"budget": {"epsilon": 100_000, "delta": "1e-3"}, **REASON},
    ),
    ("POST", "/v1/datasets/{dataset}/accounts/{path}/budget"): (
        Action.CHANGE_BUDGET, {"budget": {"epsilon": 2, "delta": "1e-6"}, **REASON},
    ),
    ("POST", "/v1/datasets/{dataset}/accounts/{path}/close"): (Action.CLOSE_ACCOUNT, REASON),
    ("GET", "/v1/approvals"): (Action.READ_SELF, None),
    ("POST", "/v1/approvals/{approval}"): (Action.DECIDE, {"granted": False}),
    ("GET", "/v1/questions/{question}"): (Action.ASK, None),
    ("GET", "/v1/releases"): (Action.READ_OWN_RELEASES, None),
    ("GET", "/v1/releases/{release}"): (Action.READ_OWN_RELEASES, None),
    ("GET", "/v1/people"): (Action.READ_EVERYBODY, None),
    ("POST", "/v1/people"): (Action.MANAGE_PEOPLE, {"name": "added"}),
    ("PATCH", "/v1/people/{name}"): (Action.MANAGE_PEOPLE, {"display_name": "Added"}),
    ("POST", "/v1/people/{name}/grants"): (Action.GRANT_ROLES, {"dataset": DATASET, "role": "auditor"}),
    ("DELETE", "/v1/people/{name}/grants/{dataset}"): (Action.GRANT_ROLES, None),
    ("GET", "/v1/keys"): (Action.READ_SELF, None),
    ("POST", "/v1/keys"): (Action.MANAGE_OWN_KEYS, {"name": "made"}),
    ("POST", "/v1/keys/{key}/rotate"): (Action.MANAGE_KEYS, {}),
    ("DELETE", "/v1/keys/{key}"): (Action.MANAGE_KEYS, None),
    ("GET", "/v1/acts"): (Action.READ_ACTS, None),
    ("GET", "/v1/acts/verify"): (Action.READ_ACTS, None),
    ("GET", "/v1/collections"): (Action.READ_COLLECTIONS, None),
    ("GET", "/v1/collections/{collection}"): (Action.READ_COLLECTIONS, None),
    ("POST", "/v1/collections/{collection}/reports"): (Action.SEND_REPORTS, None),
    ("GET", "/v1/collections/{collection}/estimate"): (Action.READ_ESTIMATES, None),
    ("GET", "/v1/counters"): (Action.READ_COUNTERS, None),
    ("GET", "/v1/counters/{counter}"): (Action.READ_COUNTERS, None),
    ("GET", "/v1/counters/{counter}/releases"): (Action.READ_COUNTERS, None),
    ("GET", "/v1/maps"): (Action.READ_MAPS, None),
    ("GET", "/v1/maps/{map}"): (Action.READ_MAPS, None),
    ("GET", "/v1/synthetic"): (Action.READ_SYNTHETIC, None),
    ("GET", "/v1/synthetic/{synthetic}"): (Action.READ_SYNTHETIC, None),
    ("GET", "/v1/federations"): (Action.READ_FEDERATIONS, None),
    ("POST", "/v1/federations"): (
        Action.MANAGE_FEDERATIONS,
        {
            "name": "others", "parties": ["ann", "bob"], "rounds": 1, "least": 2, "seconds": 60.0,
            "message_characters": 1_000, "plan": {},
        },
    ),
    ("GET", "/v1/federations/{federation}"): (Action.READ_FEDERATIONS, None),
    ("DELETE", "/v1/federations/{federation}"): (Action.MANAGE_FEDERATIONS, None),
    ("POST", "/v1/federations/{federation}/messages"): (
        Action.TAKE_PART, {"round": 0, "attempt": 0, "phase": "keys", "message": "none"},
    ),
    ("GET", "/v1/federations/{federation}/messages"): (Action.READ_FEDERATIONS, None),
    ("POST", "/v1/federations/{federation}/results"): (Action.TAKE_PART, {"round": 0, "result": "none"}),
    ("GET", "/v1/federations/{federation}/results/{number}"): (Action.READ_FEDERATIONS, None),
}  # fmt: skip
"""What each route is, and a body for it."""

OWN = {Action.READ_ACCOUNTS: Action.READ_OWN_ACCOUNT}
"""What an analyst may do where others see everybody's."""

HIDDEN = {"{approval}", "{question}", "{release}", "{key}"}
"""Of what is somebody's, others hear that it does not exist."""


def address(path):
    values = {
        "dataset": DATASET, "path": "opened", "approval": "none", "question": "none", "release": "none", "key": "none",
        "name": "added", "collection": "drinks", "counter": "entries", "map": "town",
        "synthetic": "twins", "federation": "none", "number": 0,
    }  # fmt: skip
    found = path.removeprefix("/v1").format(**values)
    asked = {"/releases": f"?dataset={DATASET}", "/federations/none/messages": "?round=0&attempt=0&phase=keys"}
    return found + asked.get(found, "?role=auditor" if "/grants/" in found else "")
