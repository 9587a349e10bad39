"""Who is charged for a stream, and the state that outlives the process."""
