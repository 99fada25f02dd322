"""The echo agent's parts, one noun a file; `herma.drill.echo_agent` puts them together."""
