"""Privacy loss distributions: composition of discretised losses by Fourier transform, certified on both sides."""
