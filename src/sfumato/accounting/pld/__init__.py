"""Privacy loss distributions: composition of discretized losses by Fourier transform, certified on both sides."""
