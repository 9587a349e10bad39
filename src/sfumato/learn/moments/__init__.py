"""Means, variances and covariances of declared columns, and what transforms rows by them."""
