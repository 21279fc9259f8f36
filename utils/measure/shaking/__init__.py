"""What findings compare when weights move by their last bit, as another processor moves them."""
