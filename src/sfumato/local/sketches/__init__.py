"""Sketches: reports about texts and large domains that name one of many public hash functions and a little of its row."""
