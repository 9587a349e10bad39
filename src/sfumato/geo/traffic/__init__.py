"""Traffic: noisy counts and mean speeds by segment of road and hour, from passages of many people."""
