"""Pages of HTML from templates, with pictures drawn into them: nothing but themselves, no script and no other file."""

import re
from dataclasses import dataclass
from html import escape
from importlib import import_module
from io import StringIO
from itertools import count
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_REFERENCE: Final = re.compile(r'(\bid="|url\(#|href="#)')


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A figure, what it shows in a line, and that again for who does not see it."""

    figure: "Figure"
    caption: str


def filled(template: str, **values: Any) -> str:
    """A page from a template of jinja2: values are escaped, and pictures are drawn into it by the filter `svg`.

    Args:
        template: The text of the template.
        **values: What it names.

    Raises:
        ParameterError: jinja2 or matplotlib is missing.

    Example:
        >>> filled("<p>{{ words }}</p>", words="1 < 2")
        '<p>1 &lt; 2</p>'
    """
    engine, markup, _ = (_needed(name) for name in ("jinja2", "markupsafe", "matplotlib"))
    drawn = count(1)
    environment = engine.Environment(
        autoescape=True, undefined=engine.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["svg"] = lambda picture: markup.Markup(_svg(picture, prefix=f"picture-{next(drawn)}-"))
    return str(environment.from_string(template).render(**values))


def _needed(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        requirement = "is needed for pages; run: pip install jinja2 matplotlib"
        raise ParameterError(name, None, requirement) from None


def _svg(picture: Picture, *, prefix: str) -> str:
    """A figure as an element of the page, with names of its own and its caption for who does not see it."""
    from matplotlib import rc_context  # noqa: PLC0415 # an extra

    file = StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "sfumato", "font.family": "sans-serif"}):
        picture.figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    drawing = file.getvalue()
    drawing = _REFERENCE.sub(rf"\g<1>{prefix}", drawing[drawing.index("<svg") :])
    name = f"{prefix}name"
    start, rest = drawing.split(">", 1)
    return f'{start} role="img" aria-labelledby="{name}"><title id="{name}">{escape(picture.caption)}</title>{rest}'
