"""What a write changes: the written against what the upstream holds, and masked values put back."""
