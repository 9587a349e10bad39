"""Whatever is sent to the interface: no defect, and no status, type or content that its document does not know.

Requests are drawn by Schemathesis from the document alone, such as it allows and such as it does not, and sent by
somebody who may do what they want to.
"""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.server.gateway.interface import DATASET, DOORS, MATRIX
from tests.sizes import FULL_SIZE

EXAMPLES = 200 if FULL_SIZE else 6
WITH = {
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
    "response_headers_conformance",
}  # fmt: skip
OTHERS_NOTICE = ("/versions", "/close", "/acknowledgments")
"""Sent for datasets that do not exist alone, as other tests ask the ones that do."""


@pytest.fixture(scope="module")
def schema(beside):
    import schemathesis  # half a second, which all processes of tests would spend that only collect this file

    with beside.client() as client:
        return schemathesis.openapi.from_url(str(client.base_url.join("/v1/openapi.json")))


@pytest.mark.parametrize(
    ("method", "path"), [*MATRIX, *(("GET", path) for path in sorted(DOORS))], ids=lambda part: part
)
def test_no_request_is_answered_by_a_defect_or_by_what_is_not_documented(beside, schema, method, path):
    from schemathesis import GenerationMode
    from schemathesis.checks import CHECKS, not_a_server_error

    checks = [check for check in CHECKS.get_all() if getattr(check, "__name__", "") in WITH]
    assert not_a_server_error in checks
    modes = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
    drawn = st.one_of([schema[path][method].as_strategy(generation_mode=mode) for mode in modes])

    @given(case=drawn, person=st.sampled_from(["admin", "olga", "ann", "cem"]), is_known=st.booleans())
    @settings(
        max_examples=EXAMPLES, phases=(Phase.generate,), deadline=None,
        suppress_health_check=list(HealthCheck), database=None,
    )  # fmt: skip
    def send(case, person, is_known):
        if is_known and "{dataset}" in path and not path.endswith(OTHERS_NOTICE):
            case.path_parameters["dataset"] = DATASET
        headers = {"Authorization": f"Bearer {beside.keys[person]}"}
        case.validate_response(case.call(headers=headers), checks=checks)

    send()
