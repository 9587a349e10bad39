"""What every protocol of the local model shares: domains, reports as bytes, clients and aggregators."""
