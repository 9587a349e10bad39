"""Many linear queries of one histogram, measured together by the strategy that errs least."""
