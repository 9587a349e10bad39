"""What answers to many questions tell together."""
