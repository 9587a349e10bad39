"""The shuffle model: reports lose their senders and their order, and together reveal less of each person."""
