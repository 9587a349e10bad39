"""Questions as text: SQL, descriptions, and the form that keys are made of."""
