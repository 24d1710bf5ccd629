"""A call or a command -> what it touches, resolved on the machine: facts, no verdict."""
