"""What answers to many queries tell together."""
