"""`python -m pgclaim`."""

from .cli import app

app(prog_name="pgclaim")
