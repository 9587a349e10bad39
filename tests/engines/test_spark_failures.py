"""What fails in this thread is logged nowhere; what fails in others is none of its business."""

import logging
from concurrent.futures import ThreadPoolExecutor

from pyspark.logger import PySparkLogger

from sfumato.engines.spark_failures import FAILURES, quiet
from sfumato.errors import ParameterError


def test_the_client_logs_nothing_of_this_thread_alone():
    logger, records = PySparkLogger.getLogger("SQLQueryContextLogger"), []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())
    logger.addHandler(handler)
    try:
        with quiet(), ThreadPoolExecutor(1) as pool:
            logger.error("own")
            pool.submit(logger.error, "another's").result()
        logger.error("after")
    finally:
        logger.removeHandler(handler)
    assert records == ["another's", "after"]


def test_what_is_wrong_with_a_declaration_is_no_failure():
    assert not isinstance(ParameterError("x", 1, "y"), FAILURES)
