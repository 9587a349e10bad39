"""How pages are made: templates that escape all that they show, one catalog of texts, and how numbers are written."""

import gzip
import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sfumato.server.identity.people import Action, Role

LANGUAGES: Final = ("en", "de")
"""The languages of the catalog, in the order of its texts."""

THEMES: Final = ("auto", "light", "dark")
"""How pages look: as the system does, or always in one way."""

FOLDER: Final = Path(__file__).parent
_SMALLEST: Final = 1e-4
_LARGEST: Final = 1e15
_DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class Look:
    """In which language and which colors somebody sees pages."""

    language: str
    theme: str


@cache
def catalog() -> Mapping[str, tuple[str, ...]]:
    """All texts of all pages, by name, in each language."""
    rooms = tomllib.loads((FOLDER / "texts.toml").read_text("utf-8"))
    return {f"{room}.{name}": tuple(texts) for room, own in rooms.items() for name, texts in own.items()}


def translated(language: str, name: str, /, **values: object) -> str:
    """A text of the catalog; what is filled in is plain text, and escaped where it is shown.

    Example:
        >>> translated("de", "about.queries", n="3")
        'etwa 3 weitere Abfragen'
    """
    return catalog()[name][LANGUAGES.index(language)].format_map(values)


def language_of(accepted: str) -> str:
    """The language of the catalog that a browser likes best, by its header ``Accept-Language``.

    Example:
        >>> [language_of(text) for text in ("de-CH,de;q=0.9,en;q=0.8", "fr,en;q=0.5", "", "de;q=0.1,en")]
        ['de', 'en', 'en', 'en']
    """
    liked: dict[str, float] = {}
    for part in accepted.split(","):
        name, _, weight = part.strip().partition(";q=")
        try:
            liked.setdefault(name.partition("-")[0].lower(), float(weight or 1))
        except ValueError:
            continue
    known = [(liked[language], -place, language) for place, language in enumerate(LANGUAGES) if language in liked]
    return max(known)[2] if known else LANGUAGES[0]


def number(value: Any) -> str:
    """A number as people read it, with few digits; anything else as it is.

    Example:
        >>> [number(value) for value in (234.5678, "1/3", Fraction(1, 10), 0.00001234, float("inf"), None, "Basel")]
        ['234.6', '1/3', '0.1', '1.234e-05', '∞', '–', 'Basel']
    """
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        return str(value)
    exactly = float(value)
    size = abs(exactly)
    if not math.isfinite(exactly):
        return "∞" if exactly > 0 else "−∞"
    if size >= _LARGEST or 0 < size < _SMALLEST:
        return f"{exactly:.{_DIGITS}g}"
    whole = len(str(int(size))) if size >= 1 else 0
    text = f"{exactly:,.{max(0, _DIGITS - whole)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace(",", "\u202f").replace("-", "−")


def main_number(budget: Any) -> tuple[str, float]:
    """The first number of a budget as JSON, ε or ρ, with its sign; infinite where nothing limits it."""
    if isinstance(budget, dict):
        for name, sign in (("epsilon", "ε"), ("rho", "ρ"), ("mu", "μ")):
            if name in budget:
                return sign, float(Fraction(str(budget[name])))
    return "ε", math.inf


def budget_text(budget: Any) -> str:
    """A budget as JSON, as people read it.

    Example:
        >>> budget_text({"type": "ApproxDP", "epsilon": "29/10", "delta": "1/1000000"})
        'ε 2.9, δ 1e-06'
    """
    sign, value = main_number(budget)
    delta = Fraction(str(budget.get("delta", 0))) if isinstance(budget, dict) else Fraction(0)
    return f"{sign} {number(value)}" + (f", δ {float(delta):.3g}" if delta else "")


def share(part: Any, whole: Any) -> float:
    """What part of a budget another one is, between 0 and 1."""
    (sign, value), (other, of) = main_number(part), main_number(whole)
    if sign != other or not of or math.isinf(of):
        return 0.0
    return min(1.0, max(0.0, value / of))


@cache
def assets() -> Mapping[str, bytes]:
    """Scripts, styles and pictures, by name."""
    found = sorted(path for path in (FOLDER / "assets").iterdir() if path.suffix in {".js", ".css", ".svg"})
    return {path.name: path.read_bytes() for path in found}


@cache
def zipped(name: str) -> bytes:
    """The same, compressed."""
    return gzip.compress(assets()[name], mtime=0)


@cache
def asset(name: str) -> str:
    """Where a script, a style or a picture is; its address changes with what it holds."""
    return f"/assets/{name}?{sha256(assets()[name]).hexdigest()[:12]}"


class Pages:
    """Makes pages of templates."""

    def __init__(self) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(FOLDER / "templates"), autoescape=True, undefined=StrictUndefined,
            trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        self._environment.filters.update(number=number, budget=budget_text, data=json.dumps)
        self._environment.globals.update(
            asset=asset, share=share, main_number=main_number, Action=Action, Role=Role, languages=LANGUAGES,
            themes=THEMES,
        )  # fmt: skip

    def text(self, template: str, look: Look, **values: Any) -> str:
        """A page.

        Args:
            template: The name of its file.
            look: Its language and colors.
            values: What it shows.
        """

        def t(name: str, /, **filled: object) -> str:
            return translated(look.language, name, **filled)

        return self._environment.get_template(template).render(t=t, look=look, **values)
