"""From a question to its answer: prepare, charge, execute."""
