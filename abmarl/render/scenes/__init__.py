"""What there is to see of a world, as arrays: knows no drawing library."""
