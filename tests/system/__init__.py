"""Real processes on real sockets: started, raced, starved, killed."""
