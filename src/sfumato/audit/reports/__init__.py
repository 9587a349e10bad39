"""Reports as JSON and as a page, and programs that are audited over their pipes."""
