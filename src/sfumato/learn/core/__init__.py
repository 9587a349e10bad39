"""What all private models share: declared columns, rows on a lattice, the way from a fit to its charge."""
