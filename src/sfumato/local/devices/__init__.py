"""What a device spends over days and years: a ledger of its own, and what documented deployments spend without one."""
