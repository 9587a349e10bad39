"""What numbers, times and errors tell beside the answer."""
