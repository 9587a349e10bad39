"""What all accountants share: conversions, tallies of events, profiles of one release."""
