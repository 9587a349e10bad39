"""The analyst's handle: plan, reserve, run, add noise, commit. The one place where data, noise and ledger meet."""
