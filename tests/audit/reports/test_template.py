"""Templates of pages: values are escaped, and pictures have names of their own."""

import pytest

from sfumato.audit.reports import template
from sfumato.audit.reports.template import Picture, filled
from sfumato.errors import ParameterError
from sfumato.plots.synthetic import scores_beside


def test_values_are_escaped_and_pictures_are_drawn_with_names_of_their_own():
    figure = scores_beside(["one"], {"real": [0.5]}, title="Scores", y_label="AUC")
    picture = Picture(figure=figure, caption="Bars & <marks>")
    page = filled("{{ words }} {{ picture | svg }} {{ picture | svg }}", words="<b>", picture=picture)
    assert page.startswith("&lt;b&gt; <svg")
    assert page.count("<title") == 2
    for name in ("picture-1-name", "picture-2-name"):
        assert f'<title id="{name}">Bars &amp; &lt;marks&gt;</title>' in page


def test_it_says_what_it_needs(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(template, "import_module", missing)
    with pytest.raises(ParameterError, match="pip install jinja2 matplotlib"):
        filled("")
