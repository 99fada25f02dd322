"""Scheduled prompts: what an agent is told to do later."""
