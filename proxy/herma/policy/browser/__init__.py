"""What a browser needs that a program does not: a session in a cookie, pages of the gate's own, and a guard against other sites."""
