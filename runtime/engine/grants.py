"""The standing permissions of one session, made from answers."""
