"""Before a model is bought and while it is: the accuracy to be expected, and the private choice of one of several."""
