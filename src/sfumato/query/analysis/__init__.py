"""What is known of a query without its data: types, shapes, bounds, stability, work."""
