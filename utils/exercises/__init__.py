"""What the exercises ask, one folder a day with one file an exercise."""
