"""The vocabulary: what can stand in a journal."""
