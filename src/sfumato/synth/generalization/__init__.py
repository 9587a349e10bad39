"""Tables for classification: attributes are specialized privately along declared hierarchies, and cells are counted."""
