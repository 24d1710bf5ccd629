"""Text -> the tree of a shell command. Nothing here evaluates anything."""
