"""Relations, expressions and the exact half of plans as SQL, for engines that run SQL."""
