"""Facts and rules -> allow, ask or deny, with the reason and what could be allowed for longer."""
