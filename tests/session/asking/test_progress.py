"""Progress is shown on the error stream, if at all."""

import pytest

from sfumato.session.asking.progress import told


@pytest.mark.parametrize("shown", [True, False])
def test_what_is_heard_is_shown_on_the_error_stream_if_it_is_wanted(capsys, shown):
    with told("groups released", shown=shown) as hear:
        hear(1_000)
        hear(234)
    out, errors = capsys.readouterr()
    assert out == ""
    assert ("1,234 groups released" in errors) is shown
