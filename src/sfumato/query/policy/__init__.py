"""What an owner declares, and the file it stands in."""
