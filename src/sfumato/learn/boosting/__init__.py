"""Models that are sums of many small steps, each learned from noisy sums of gradients."""
