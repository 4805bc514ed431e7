#!/usr/bin/env bash
# Compares this checkout with a base commit, in turns on this machine, and writes what became slower to OUTPUT/table.md.
#   .github/benchmark-pull-request.sh BASE OUTPUT
# Exit status: 0 no regression, or no verdict is possible and the table says why; 1 regressions.
# PYTHON: the interpreter that has everything installed; OPTIONS: of `benchmarks.regress`.
set -euo pipefail

base=$1
mkdir -p "$2"
output=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
read -r -a options <<<"${OPTIONS:-}"

status=0
"${PYTHON:-.venv/bin/python}" -m benchmarks.regress --base "$base" "${options[@]}" --markdown \
  >"$output/found.md" 2>"$output/told.txt" || status=$?
cat "$output/told.txt" >&2
# An interpreter that fails ends with 1 as well, but it leaves no table.
if [ "$status" -eq 1 ] && [ ! -s "$output/found.md" ]; then status=2; fi
if [ "$status" -gt 1 ]; then
  reason=$(tail -n 1 "$output/told.txt")
  printf '### No verdict on speed\n%s\n' "$reason" >"$output/found.md"
  echo "::warning::$reason"
  status=0
fi
{
  echo "<!-- benchmark -->"  # by which the comment is found again
  cat "$output/found.md"
} >"$output/table.md"
exit "$status"
