"""Made-up people with the columns of the Adult census: no row is, or is derived from, a real person.

Every weight and quantile below is a round number written by hand to look like a working population of the 1990s.
"""

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.datasets.draws import Floats, choose, uniforms, whole_quantiles
from sfumato.numeric.rationals import positive_integer

Texts = NDArray[np.str_]
Whole = NDArray[np.int64]

_SCHOOLING: Final = (
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college", "Assoc-voc",
    "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
)  # fmt: skip
_EDUCATION_NUM: Final = {name: number for number, name in enumerate(_SCHOOLING, start=1)}
_YOUNG_EDUCATION: Final = {
    "9th": 1,
    "10th": 5,
    "11th": 12,
    "12th": 6,
    "HS-grad": 34,
    "Some-college": 38,
    "Assoc-voc": 4,
}
_EDUCATION: Final = {
    "Preschool": 2, "1st-4th": 6, "5th-6th": 11, "7th-8th": 22, "9th": 16, "10th": 25, "11th": 25, "12th": 10,
    "HS-grad": 330, "Some-college": 205, "Assoc-voc": 48, "Assoc-acdm": 36, "Bachelors": 182, "Masters": 60,
    "Prof-school": 20, "Doctorate": 14,
}  # fmt: skip
_NEVER, _MARRIED, _ARMY = "Never-married", "Married-civ-spouse", "Married-AF-spouse"
_MARITAL_BY_AGE: Final = {
    25: {_NEVER: 860, _MARRIED: 110, "Divorced": 15, "Separated": 9, "Married-spouse-absent": 4, _ARMY: 2},
    35: {_NEVER: 380, _MARRIED: 460, "Divorced": 110, "Separated": 34, "Married-spouse-absent": 14, _ARMY: 2},
    55: {_NEVER: 140, _MARRIED: 580, "Divorced": 200, "Separated": 40, "Married-spouse-absent": 15, "Widowed": 25},
    91: {_NEVER: 70, _MARRIED: 600, "Divorced": 140, "Separated": 25, "Married-spouse-absent": 15, "Widowed": 150},
}  # below this age, and above the one before
_WORKCLASS: Final = {
    "Private": 697, "Self-emp-not-inc": 78, "Local-gov": 64, "?": 56, "State-gov": 40, "Self-emp-inc": 34,
    "Federal-gov": 30, "Without-pay": 1,
}  # fmt: skip
_GRADUATE_OCCUPATION: Final = {
    "Prof-specialty": 38, "Exec-managerial": 28, "Sales": 12, "Adm-clerical": 8, "Tech-support": 5, "Craft-repair": 4,
    "Other-service": 3, "Protective-serv": 2,
}  # fmt: skip
_OCCUPATION: Final = {
    "Craft-repair": 17, "Adm-clerical": 14, "Other-service": 14, "Sales": 11, "Machine-op-inspct": 9,
    "Exec-managerial": 9, "Transport-moving": 7, "Handlers-cleaners": 6, "Prof-specialty": 4, "Farming-fishing": 4,
    "Tech-support": 3, "Protective-serv": 2,
}  # fmt: skip
_HOME: Final = {"Not-in-family": 60, "Unmarried": 33, "Other-relative": 7}
_YOUNG_HOME: Final = {"Own-child": 68, "Not-in-family": 22, "Other-relative": 7, "Unmarried": 3}
_RACE: Final = {"White": 854, "Black": 96, "Asian-Pac-Islander": 32, "Amer-Indian-Eskimo": 10, "Other": 8}
_COUNTRY: Final = {
    "United-States": 900, "Mexico": 22, "?": 18, "Philippines": 8, "Germany": 7, "Canada": 7, "Puerto-Rico": 7,
    "India": 6, "El-Salvador": 6, "Cuba": 5, "England": 5, "China": 5, "Jamaica": 4,
}  # fmt: skip
_GROWN_UP: Final = 23
_AGE: Final = (0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1), (17, 19, 28, 37, 48, 63, 74, 91)
_HOURS: Final = (0, 0.05, 0.25, 0.3, 0.7, 0.75, 0.95, 0.99, 1), (1, 18, 38, 40, 40, 45, 60, 80, 100)
_WEIGHT: Final = (0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1), (12e3, 4e4, 118e3, 178e3, 237e3, 38e4, 51e4, 148e4)
_GAIN: Final = (0, 0.915, 0.916, 0.95, 0.98, 0.995, 0.9951, 1), (0, 0, 114, 3_500, 7_700, 15_000, 99_999, 99_999)
_LOSS: Final = (0, 0.95, 0.951, 1), (0, 0, 1_400, 2_500)

_MOST: Final = 10_000_000


def people(n: int = 32_561, *, seed: int = 1994) -> pa.Table:
    """Made-up people with the fifteen columns of the Adult census, in its order and with its names of categories.

    Ages are 17 to 90. Education and marital status follow age, occupation follows education, relationship follows
    marital status and sex, and income follows education, age and marriage; everything else is independent.

    Args:
        n: Number of people, each in one row.
        seed: The same seed gives the same people, on every platform.

    Raises:
        ParameterError: n is no whole number of at least 1.

    Example:
        >>> people(3).select(["age", "education", "marital_status"]).num_columns
        3
    """
    positive_integer(n, "n", most=_MOST)

    def draw(column: str) -> Floats:
        return uniforms(seed, column, n)

    age = whole_quantiles(*_AGE, draw("age"))
    sex = choose({"Male": 67, "Female": 33}, draw("sex"))
    schooling = draw("education")
    young, grown = (choose(weights, schooling) for weights in (_YOUNG_EDUCATION, _EDUCATION))
    education = np.where(age < _GROWN_UP, young, grown)
    education_num = np.vectorize(_EDUCATION_NUM.__getitem__)(education)
    workclass = choose(_WORKCLASS, draw("workclass"))
    marital_status = _marital_status(age, draw("marital_status"))
    gain = whole_quantiles(*_GAIN, draw("capital_gain"))
    return pa.table(
        {
            "age": age,
            "workclass": workclass,
            "fnlwgt": whole_quantiles(*_WEIGHT, draw("fnlwgt")),
            "education": education,
            "education_num": education_num,
            "marital_status": marital_status,
            "occupation": _occupation(workclass, education_num, draw("occupation")),
            "relationship": _relationship(marital_status, sex, age, draw("relationship")),
            "race": choose(_RACE, draw("race")),
            "sex": sex,
            "capital_gain": gain,
            "capital_loss": np.where(gain > 0, 0, whole_quantiles(*_LOSS, draw("capital_loss"))),
            "hours_per_week": whole_quantiles(*_HOURS, draw("hours_per_week")),
            "native_country": choose(_COUNTRY, draw("native_country")),
            "income": _income(education_num, age, marital_status, draw("income")),
        }
    )


def _marital_status(age: Whole, uniform: Floats) -> Texts:
    """By age band, youngest first."""
    bands = [age < end for end in _MARITAL_BY_AGE]
    return np.select(bands, [choose(weights, uniform) for weights in _MARITAL_BY_AGE.values()], default=_NEVER)


def _occupation(workclass: Texts, education_num: Whole, uniform: Floats) -> Texts:
    graduate = education_num >= _EDUCATION_NUM["Bachelors"]
    occupation = np.where(graduate, choose(_GRADUATE_OCCUPATION, uniform), choose(_OCCUPATION, uniform))
    return np.where(workclass == "?", "?", occupation)


def _relationship(marital_status: Texts, sex: Texts, age: Whole, uniform: Floats) -> Texts:
    spouse = np.where(sex == "Male", "Husband", "Wife")
    single = np.where(age < _GROWN_UP, choose(_YOUNG_HOME, uniform), choose(_HOME, uniform))
    return np.where(_is_married(marital_status), spouse, single)


def _income(education_num: Whole, age: Whole, marital_status: Texts, uniform: Floats) -> Texts:
    """High incomes: 6 percentage points more for a year of schooling, and half a point for a year of age up to 50."""
    base = np.where(_is_married(marital_status), 0.38, 0.04)
    chance = base + 0.06 * (education_num - 10) + 0.005 * (np.minimum(age, 50) - 38)
    return np.where(uniform < np.clip(chance, 0.01, 0.95), ">50K", "<=50K")


def _is_married(marital_status: Texts) -> NDArray[np.bool_]:
    return np.isin(marital_status, (_MARRIED, _ARMY))
