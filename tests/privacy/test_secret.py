import copy
import json
import logging
import pickle

import pytest

from sfumato.privacy.secret import Secret

CANARY = 7_319_554


def test_only_a_mechanism_opens_a_secret():
    assert Secret(CANARY).open_for_noise() == CANARY


@pytest.mark.parametrize(
    "show", [repr, str, "{}".format, "{:>10}".format, lambda s: f"{s!r}{s}", lambda s: "%s".__mod__((s,))]
)
def test_a_secret_never_shows_its_value(show):
    assert str(CANARY) not in show(Secret(CANARY))


def test_a_secret_does_not_reach_a_log(caplog):
    with caplog.at_level(logging.INFO):
        logging.getLogger("test").info("value %s in %r", Secret(CANARY), [Secret(CANARY)])
    assert str(CANARY) not in caplog.text


@pytest.mark.parametrize(
    "use",
    [
        bool,
        int,
        float,
        hash,
        len,
        iter,
        list,
        pickle.dumps,
        copy.copy,
        copy.deepcopy,
        json.dumps,
        lambda s: s == CANARY,
        lambda s: s != CANARY,
        lambda s: s < CANARY,
        lambda s: s >= CANARY,
        lambda s: s + 1,
        lambda s: {s: 1},
        [1].count,
        lambda s: range(10)[s],
        vars,
        lambda s: setattr(s, "other", 1),
    ],
)
def test_a_secret_refuses_every_other_use(use):
    with pytest.raises((TypeError, AttributeError)) as refused:
        use(Secret(CANARY))
    assert str(CANARY) not in str(refused.value)
