"""A simulated telephone network: deterministic, on the real clock or a virtual one."""
