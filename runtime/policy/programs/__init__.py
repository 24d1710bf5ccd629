"""The catalogue: what every known program reads, writes, deletes, runs and connects to.

One entry a program, as data; one option reader; handlers in code only where data cannot say it.
"""

from interlock.runtime.policy.programs.catalogue import name_of, program_of, programs, subcommand_of
from interlock.runtime.policy.programs.entry import Program
from interlock.runtime.policy.programs.usage import Usage, Word, read_usage

__all__ = ["Program", "Usage", "Word", "name_of", "program_of", "programs", "read_usage", "subcommand_of"]
