"""Where data lies: files, frames, tables, and what identifies a version of them."""
