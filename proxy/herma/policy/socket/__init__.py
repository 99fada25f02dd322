"""What passes over a WebSocket: calls of the client, messages and terminal output of the agent."""
