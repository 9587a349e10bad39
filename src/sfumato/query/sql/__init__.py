"""The SQL front end, in the flavour of PostgreSQL: parse, resolve names, lower by an allow-list.

What is not listed is refused before data is read, with the fragment, the reason and what to write instead. Names are
matched without regard to case unless quoted. The analyst's text never reaches an engine: engines emit SQL anew.

```
text ── options ──> options
     ── parsing ──> a parsed query
     ── relations ─> relations: FROM, WHERE, sub-queries (joins, grouping, subqueries)
     ── questions ─> the question: keys (grouping), statistics, windows; how it is shown (shown)
expressions: scalars, by the rules of expressions
```
"""
