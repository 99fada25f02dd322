"""Configuration: one YAML file, checked whole before any port opens."""
