"""What an agent sends out: whom it may talk to, what is masked on the way, and what never leaves."""
