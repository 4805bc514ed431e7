#!/usr/bin/env bash
# Compares this checkout with a base commit, in turns on this machine, and writes the verdicts to OUTPUT/table.md.
#   .github/benchmark-pull-request.sh BASE OUTPUT
# Exit status: 0 no regression; 1 a regression; 2 something fails that works in the base, or nothing was compared. What is
# undecided, or computes something else than in the base, is in the table and fails nothing.
# PYTHON: the interpreter that has everything installed; OPTIONS: of `benchmarks.regress`.
set -euo pipefail

base=$1
mkdir -p "$2"
output=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
read -r -a options <<<"${OPTIONS:-}"

status=0
"${PYTHON:-.venv/bin/python}" -m benchmarks.regress --base "$base" --allow undecided,digests "${options[@]}" --markdown \
  >"$output/found.md" 2>"$output/told.txt" || status=$?
cat "$output/told.txt" >&2
if [ ! -s "$output/found.md" ]; then
  reason=$(tail -n 1 "$output/told.txt")
  printf '### No verdict on speed\n%s\n' "$reason" >"$output/found.md"
  echo "::error::$reason"
  status=2
fi
{
  echo "<!-- benchmark -->"  # by which the comment is found again
  cat "$output/found.md"
} >"$output/table.md"
exit "$status"
