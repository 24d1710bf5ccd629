#!/bin/sh
# Makes the virtual environment $1 with the locked packages and this checkout in it.
# Uses uv where it is installed, python3 -m venv and pip otherwise.
set -eu
venv=$1
python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    for candidate in python3.14 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'pass' 2>/dev/null; then python=$candidate; break; fi
    done
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "setup: Python 3.11 or newer is needed; '$python' is not. Set one with: make PYTHON=/path/to/python3 ..." >&2
    exit 1
fi
echo "setup: installing into $venv (once; about half a minute)"
if [ -n "${UV:-}" ]; then
    "$UV" venv --quiet --allow-existing --python "$python" "$venv"
    "$UV" pip sync --quiet --python "$venv/bin/python" --require-hashes dev/requirements.lock
    "$UV" pip install --quiet --python "$venv/bin/python" --no-deps --editable .
else
    if ! "$python" -m venv "$venv"; then
        echo "setup: '$python -m venv' failed. On Debian and Ubuntu: apt-get install python3-venv" >&2
        exit 1
    fi
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r dev/requirements.lock
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --editable .
fi
