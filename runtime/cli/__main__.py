"""`python -m interlock.runtime.cli`: the same program as `interlock`, for whoever starts it by its interpreter."""

from interlock.runtime.cli.main import main

main()
