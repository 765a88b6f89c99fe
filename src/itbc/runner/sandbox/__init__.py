"""What an agent works in: its workspace, its view of the machine, its programs, and what is kept of them."""
