#!/bin/sh
# The quick tests on every Python >= 3.11 that is present, each in an environment of its own.
set -eu
found=""
for minor in 11 12 13 14; do
  for candidate in "python3.$minor" "$HOME"/.pyenv/versions/3."$minor".*/bin/python; do
    if "$candidate" -c 'import sys' >/dev/null 2>&1; then
      found="$found 3.$minor"
      echo "== Python 3.$minor: $candidate"
      make quick PYTHON="$candidate" VENV=".venv-3.$minor"
      break
    fi
  done
done
[ -n "$found" ] || { echo "no Python >= 3.11 found"; exit 1; }
echo "passed on:$found"
