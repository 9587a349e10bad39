"""Reports have one form: bytes and texts that name their protocol, and go back and forth."""

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.local.core.reports import Report, Reports, blocks, bytes_of_text

PRINT = b"abcd"


def test_a_report_is_its_version_its_fingerprint_and_its_payload():
    report = Report(PRINT, b"\x07\x08")
    assert bytes(report) == b"\x01abcd\x07\x08"
    assert Report.from_bytes(bytes(report)) == report
    assert Report.from_text(report.to_text()) == report


@pytest.mark.parametrize("data", [b"", b"\x01abcd", b"\x00abcdx", b"\x02abcdx", None, [1] * 6, "\x01abcdx"])
def test_bytes_of_no_report_are_refused(data):
    with pytest.raises(ParameterError, match="report"):
        Report.from_bytes(data)


@pytest.mark.parametrize(
    "text", ["", "AWFiY2R4\n", " AWFiY2R4", "AWFiY2R", "AWFiY2R5=", "AWFiY2Q=", "é", None, b"AWFiY2R4"]
)
def test_texts_of_no_report_are_refused(text):
    with pytest.raises(ParameterError, match="report"):
        Report.from_text(text)


def test_a_text_has_one_form():
    assert bytes_of_text("AQ==") == b"\x01"
    assert bytes_of_text("AR==") is None  # the same byte with other bits that are not used


@pytest.mark.parametrize("fingerprint", [b"", b"abc", b"abcde"])
def test_a_fingerprint_has_four_bytes(fingerprint):
    with pytest.raises(ParameterError, match="fingerprint"):
        Report(fingerprint, b"x")
    with pytest.raises(ParameterError, match="fingerprint"):
        Reports(fingerprint, np.zeros((1, 1), dtype=np.uint8))


@pytest.mark.parametrize("payloads", [np.zeros(3, dtype=np.uint8), np.zeros((3, 1)), np.zeros((1, 1, 1), np.uint8)])
def test_payloads_are_rows_of_bytes(payloads):
    with pytest.raises(ParameterError, match="rows of bytes"):
        Reports(PRINT, payloads)


def test_a_batch_is_a_sequence_of_reports():
    batch = Reports(PRINT, np.array([[1, 2], [3, 4], [5, 6]], dtype=np.uint8))
    assert list(batch) == [Report(PRINT, b"\x01\x02"), Report(PRINT, b"\x03\x04"), Report(PRINT, b"\x05\x06")]
    assert len(batch[1:]) == 2
    assert [row.tobytes() for row in batch.whole()] == [bytes(report) for report in batch]


def test_blocks_say_where_each_report_stood():
    report = Report(PRINT, b"x")
    (block,) = blocks([None, report, b"longer than a report", report.to_text()], fingerprint=PRINT, width=1)
    assert (block.places.tolist(), block.items) == ([1, 3], 4)
    assert block.payloads.tolist() == [[ord("x")], [ord("x")]]


def test_a_single_report_is_a_block_of_one():
    for given in (Report(PRINT, b"x"), bytes(Report(PRINT, b"x")), Report(PRINT, b"x").to_text()):
        (block,) = blocks(given, fingerprint=PRINT, width=1)
        assert block.items == len(block.payloads) == 1
