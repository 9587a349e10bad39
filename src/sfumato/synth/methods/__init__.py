"""Methods that choose and measure marginals of a table, for what was charged before."""
