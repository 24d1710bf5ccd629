"""Rule files -> layers of rules, and what a rule speaks of."""
