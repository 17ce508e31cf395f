"""The service from end to end: replicas that are killed, remote ends that fail, clocks that are wrong; SQL checks the end."""
