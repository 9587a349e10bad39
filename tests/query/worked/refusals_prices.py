"""Refused because of the price, of options in the text, or of parameters."""

from tests.query.worked.cases import Refusal, private, wrong

from sfumato.errors import BudgetExceededError

COUNT = "SELECT COUNT(*) AS n FROM customers"
HEADER = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS"

PRICES = (
    wrong(COUNT, "epsilon", price=()),
    wrong(COUNT, "epsilon", price=(("epsilon", -1),)),
    wrong(COUNT, "epsilon", price=(("epsilon", float("nan")),)),
    wrong(COUNT, "delta", price=(("epsilon", 1), ("delta", 1))),
    wrong(COUNT, "decimal", price=(("epsilon", "1/3"),)),
    wrong(f"{HEADER}(epsilon = 2) COUNT(*) AS n FROM customers", "epsilon", price=(("epsilon", 1),)),
    Refusal(COUNT, BudgetExceededError, ("ε 2", "ε 1"), price=(("epsilon", 2),)),
    Refusal(f"{HEADER}(epsilon = 3) COUNT(*) AS n FROM customers", BudgetExceededError, ("ε 3",), price=()),
)  # fmt: skip

OPTIONS = (
    private(f"{HEADER}(epsilon = 1, noise = 'none') COUNT(*) FROM customers", "noise", "options are", price=()),
    private(f"{HEADER}(epsilon = 1, privacy_unit_column = phone) COUNT(*) FROM customers", "phone", "customer_id",
            price=()),
    wrong(f"{HEADER}(epsilon = 1, epsilon = 2) COUNT(*) FROM customers", "epsilon", "once", price=()),
    wrong(f"{HEADER}(epsilon) COUNT(*) FROM customers", "name = value", price=()),
    wrong(f"{HEADER}(epsilon = 1 COUNT(*", "OPTIONS", price=()),
    wrong(f"{HEADER}(epsilon = 1, max_rows_contributed = 0) COUNT(*) FROM orders", "max_rows_contributed", price=()),
    wrong(f"{HEADER}(epsilon = 1, max_rows_contributed = 2) COUNT(*) FROM census", "limits", on="census", price=()),
    wrong(f"{HEADER}(epsilon = 1) COUNT(*) FROM ({HEADER}(epsilon = 1) * FROM orders)", "2 headers", price=()),
)  # fmt: skip

PARAMETERS = (
    wrong(f"{COUNT} WHERE kids > $1", "$1", "must have a value"),
    wrong(f"{COUNT} WHERE kids > $2", "$2", "$1", parameters=(1,)),
    wrong(f"{COUNT} WHERE kids > :least", "least", "given are: :most", parameters={"most": 3}),
    wrong(COUNT, "$1", "must be used", parameters=(1,)),
    wrong(f"{COUNT} WHERE kids > $1", "$1", "one kind", parameters=("two",)),
    wrong(f"{COUNT} WHERE city = $1", "list", parameters=(["Ghent"],)),
    wrong(f"{COUNT} WHERE balance > $1", "nan", parameters=(float("nan"),)),
    wrong("SELECT COUNT(*) FROM customers GROUP BY $1", "$1", "a column", parameters=("segment",)),
)

REFUSALS = (*PRICES, *OPTIONS, *PARAMETERS)
