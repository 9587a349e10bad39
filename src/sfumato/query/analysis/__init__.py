"""What is known of a question without its data: types, shapes, bounds, stability, work."""
