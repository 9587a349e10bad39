"""Trainings of networks: what is planned and priced, how it runs, and how it is audited."""
