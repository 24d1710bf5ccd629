"""Finding files and text: ripgrep where there is one, else the same in Python."""
