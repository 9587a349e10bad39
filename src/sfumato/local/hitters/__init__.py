"""Which of all possible values many people hold, when nobody can list them."""
