"""Work in the background: the life of workers, and one queue of jobs on PostgreSQL."""
