"""What lessons and experiments train on in common."""
