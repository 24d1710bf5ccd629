"""All tables of programs as one. Promises: a program stands in it only with the forms in which it reads. Pure."""

from __future__ import annotations

from interlock.runtime.policy.shell.programs.form import Form
from interlock.runtime.policy.shell.programs.machine import MACHINE
from interlock.runtime.policy.shell.programs.system import SYSTEM
from interlock.runtime.policy.shell.programs.text import TEXT
from interlock.runtime.policy.shell.programs.viewer import VIEWERS

FORMS: dict[str, Form] = {**VIEWERS, **TEXT, **MACHINE, **SYSTEM}
"""Every program with a table of read-only options."""
