#!/bin/sh
# The quick tests on every other Python >= 3.11 that is present, each in an environment of its own; `make test` has run
# them on the one of .venv. Of slow tests it runs a third of the part, and each test with one of its parameters: what differs
# is Python and its packages, not chance.
set -eu
own=$(.venv/bin/python -c 'import sys; print(sys.version_info.minor)' 2>/dev/null || echo none)
passed=""
for minor in 11 12 13 14; do
  [ "$minor" != "$own" ] || continue
  for candidate in "python3.$minor" "$HOME"/.pyenv/versions/3."$minor".*/bin/python; do
    if "$candidate" -c 'import sys' >/dev/null 2>&1; then
      echo "== Python 3.$minor: $candidate"
      make quick PART=0.1 CASES=1 PYTHON="$candidate" VENV=".venv-3.$minor"
      passed="$passed 3.$minor"
      break
    fi
  done
done
echo "passed on: ${passed:-no other Python >= 3.11 is present}"
