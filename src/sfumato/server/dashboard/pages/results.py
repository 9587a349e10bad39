"""Pages of answers: values with their errors as a table and a chart, the receipt, downloads, and the registry."""

import json
import math
from contextlib import suppress
from io import BytesIO
from typing import Any, Final

import xlsxwriter
from fastapi import APIRouter, Response

from sfumato.privacy.codec import encode_guarantee
from sfumato.server.dashboard.visits import Here, Page, Visit
from sfumato.server.gateway.routes import releases
from sfumato.server.gateway.routes.releases import Format
from sfumato.session.releases.documents import decode_release
from sfumato.session.releases.receipt import receipt_from_dict
from sfumato.session.releases.release import Release

router = APIRouter(route_class=Page, include_in_schema=False)

_MOST_BARS: Final = 60
_MOST_OF_A_BATCH: Final = 100
_PAGE: Final = 50
_MODEL: Final = "a fitted model, for the estimator that asked for it; or as JSON"
_SEARCHED: Final = 500
_EXCEL: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@router.get("/releases")
def registry(visit: Here, dataset: str = "", find: str = "") -> Response:
    """The answers that one's account was shown last, the latest first; others have their address still."""
    own = [name for name in visit.gateway.curator.datasets if visit.who.principal.account(name)]
    chosen = dataset if dataset in own else (own[0] if own else "")
    known = releases.latest(visit.who, chosen, limit=_SEARCHED) if chosen else []
    found = [one for one in known if find.lower() in one["question"].lower()]
    return visit.page("releases.html", datasets=own, chosen=chosen, find=find, releases=found[:_PAGE], count=len(found))


@router.get("/releases/batch")
def batch(visit: Here, ids: str = "", reused: bool = False) -> Response:  # noqa: FBT001, FBT002 # a field of an address
    """The answers of a batch together."""
    names = [name for name in ids.split(",") if name][:_MOST_OF_A_BATCH]
    shown = [(name, shown_release(_document(visit, name))) for name in names]
    return visit.page("result.html", answers=shown, is_reused=reused, link=f"/releases/batch?ids={','.join(names)}")


@router.get("/releases/{release}")
def release(release: str, visit: Here, reused: bool = False) -> Response:  # noqa: FBT001, FBT002 # a field of an address
    """An answer under its own address, which stays."""
    shown = shown_release(_document(visit, release))
    return visit.page("result.html", answers=[(release, shown)], is_reused=reused, link=f"/releases/{release}")


@router.get("/releases/{release}/{name}")
def download(release: str, name: str, visit: Here) -> Response:
    """An answer as a file."""
    form = name.rpartition(".")[2]
    if form == "xlsx":
        content = excel(decode_release(_document(visit, release)))
        headers = {"Content-Disposition": f'attachment; filename="{release}.xlsx"'}
        return Response(content, media_type=_EXCEL, headers=headers)
    found = releases.release(release, visit.who, Format(form) if form in list(Format) else Format.JSON)
    found.headers.setdefault("Content-Disposition", f'attachment; filename="{release}.json"')
    return found


def shown_release(document: Any) -> dict[str, Any]:
    """What a page shows of an answer, or of a model, which has no table."""
    if isinstance(document, dict) and "model" in document:
        receipt = receipt_from_dict(document["receipt"])
        return {
            "keys": (), "statistics": (), "rows": [], "is_noise": False, "confidence": 95.0, "is_model": True,
            "notes": (_MODEL,), "receipt": receipt.to_dict(), "cost": encode_guarantee(receipt.guarantee), "charts": [],
        }  # fmt: skip
    found = decode_release(document)
    rows: list[dict[str, Any]] = [
        {"keys": ["NULL" if key is None else str(key) for key in group], "cells": [_cell(one) for one in row]}
        for group, row in zip(found.groups, found.estimates, strict=True)
    ]
    is_noise = any(cell["is_noise"] for row in rows for cell in row["cells"])
    return {
        "keys": found.keys, "statistics": found.statistics, "rows": rows, "is_noise": is_noise, "is_model": False,
        "confidence": round(100 * found.confidence, 1), "notes": found.notes, "receipt": found.receipt.to_dict(),
        "cost": encode_guarantee(found.receipt.guarantee), "charts": _charts(found, rows),
    }  # fmt: skip


def excel(found: Release) -> bytes:
    """An answer as a workbook: texts are never taken for formulas."""
    out = BytesIO()
    with xlsxwriter.Workbook(out, {"strings_to_formulas": False, "strings_to_urls": False}) as book:
        sheet, bold = book.add_worksheet("answer"), book.add_format({"bold": True})
        header = [*found.keys, *(f"{name}{end}" for name in found.statistics for end in ("", "_low", "_high"))]
        for place, name in enumerate(header):
            sheet.write_string(0, place, name, bold)
        for line, (group, row) in enumerate(zip(found.groups, found.estimates, strict=True), 1):
            figures = (figure for one in row for figure in (one.value, one.low, one.high))
            for place, value in enumerate((*group, *figures)):
                _write(sheet, line, place, value)
        sheet.autofit()
        receipt = book.add_worksheet("receipt")
        for line, (name, value) in enumerate(found.receipt.to_dict().items()):
            receipt.write_string(line, 0, name, bold)
            receipt.write_string(line, 1, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        receipt.set_column(1, 1, 100)
    return out.getvalue()


def _write(sheet: Any, line: int, place: int, value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(line, place, value)
        return
    with suppress(TypeError, ValueError, OverflowError):
        is_exact = not isinstance(value, int) or float(value) == value  # of other whole numbers digits would be lost
        if not isinstance(value, str) and is_exact and math.isfinite(float(value)):
            sheet.write_number(line, place, float(value))
            return
    sheet.write_string(line, place, str(value))


def _document(visit: Visit, name: str) -> Any:
    return json.loads(bytes(releases.release(name, visit.who).body))


def _cell(one: Any) -> dict[str, Any]:
    """A value with its error, and whether the noise is larger than what it says."""
    cell = {"value": one.value, "low": one.low, "high": one.high, "error": None, "is_noise": False}
    with suppress(TypeError, ValueError, OverflowError):
        value, low, high = map(float, (one.value, one.low, one.high))
        cell["error"] = (high - low) / 2
        cell["is_noise"] = not math.isfinite(high - low) or (high - low) / 2 > abs(value) > 0 or value == 0 < high - low
    return cell


def _charts(found: Release, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One chart for each column of numbers: a point and the interval of each group."""
    charts = []
    for place, name in enumerate(found.statistics):
        points = []
        for row in rows[:_MOST_BARS]:
            cell = row["cells"][place]
            with suppress(TypeError, ValueError, OverflowError):
                figures = [float(cell[end]) for end in ("value", "low", "high")]
                if all(map(math.isfinite, figures)):
                    points.append([" · ".join(row["keys"]) or name, *figures, cell["is_noise"]])
        if points:
            charts.append({"kind": "intervals", "name": name, "points": points})
    return charts
