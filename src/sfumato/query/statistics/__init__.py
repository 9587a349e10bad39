"""Statistics, one file each or close family; and what all of them are made of."""
