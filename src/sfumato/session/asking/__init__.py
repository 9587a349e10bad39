"""From a query to its answer: prepare, charge, execute."""
