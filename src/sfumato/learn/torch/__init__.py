"""Private training of networks; needs the extra `torch`."""
