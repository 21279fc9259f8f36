"""Pictures of mechanisms that take more than a cell to draw, by day."""
