"""What a repository tells about failures that a person settles: one module a kind of failure. They read, and change nothing."""
