"""Set-valued data: synthetic baskets and frequent itemsets, for what was charged before."""
