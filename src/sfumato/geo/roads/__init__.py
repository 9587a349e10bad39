"""Roads: small graphs of segments, matching of points to them, and passages."""
