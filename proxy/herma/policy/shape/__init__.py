"""How answers are shaped for clients: notes of the gate's own, and streams as strict or older clients need them."""
