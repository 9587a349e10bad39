"""RAPPOR: texts of an open set, hashed to bits that each device randomizes twice, once for good and once a report."""
