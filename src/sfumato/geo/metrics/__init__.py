"""Metrics on finite sets and on words, and mechanisms whose privacy fades with the distance in them."""
