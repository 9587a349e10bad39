"""Gradients of rows: each on its own, or clipped sums of a block, and which models can be trained so."""
