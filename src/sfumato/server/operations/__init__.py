"""What operators of a server do: check it, back it up and restore it. Nothing here reads data of people."""
