"""How near synthetic rows come to a table: exactly for its owner, with noise for everybody else, and as pages."""
