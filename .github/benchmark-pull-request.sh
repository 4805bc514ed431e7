#!/usr/bin/env bash
# Measures a base commit and this checkout on this machine and writes what became slower to OUTPUT/table.md.
#   .github/benchmark-pull-request.sh BASE OUTPUT
# Exit status: 0 no regression, or no verdict is possible and the table says why; 1 regressions, or a trial of this
# checkout failed. PYTHON: the interpreter that has everything installed; OPTIONS: of `harness run`;
# KERNEL_OPTIONS: of `benchmarks.regress`.
set -euo pipefail

base=$1
mkdir -p "$2"
output=$(cd "$2" && pwd)
new_tree=$(cd "$(dirname "$0")/.." && pwd)
base_tree=$output/base-tree
python=${PYTHON:-$new_tree/.venv/bin/python}
read -r -a options <<<"${OPTIONS:---preset smoke --trials 7}"
read -r -a kernel_options <<<"${KERNEL_OPTIONS:---workload none}"

git -C "$new_tree" worktree add --quiet --detach --force "$base_tree" "$base"
trap 'git -C "$new_tree" worktree remove --force "$base_tree"' EXIT

measure() {  # TREE NAME: the harness of the tree, on the code of the tree
  (cd "$1" && PYTHONPATH=$1 "$python" -m harness run "${options[@]}" --output "$output/$2")
}

judge() {  # FILE MODULE ARGUMENTS: leaves the table in the file, or why there is none in $output/reason.txt
  local status=0 file=$1
  shift
  (cd "$new_tree" && "$python" -m "$@" --markdown) >"$file" 2>"$output/reason.txt" || status=$?
  # An interpreter that fails ends with 1 as well, but it leaves no table.
  if [ "$status" -eq 1 ] && [ ! -s "$file" ]; then status=2; fi
  return "$status"
}

compare() {
  judge "$output/ratios.md" harness compare "$@"
}

status=0
measure "$base_tree" base || echo "::warning::a trial of the base commit failed"
measure "$new_tree" new || status=1

compared=0
compare "$output/base" "$output/new" || compared=$?
if [ "$compared" -eq 1 ]; then
  echo "suspected; measuring both again"
  measure "$new_tree" new-again || status=1
  measure "$base_tree" base-again || echo "::warning::a trial of the base commit failed"
  compared=0
  compare "$output/base" "$output/new" --again "$output/base-again" "$output/new-again" || compared=$?
fi
if [ "$compared" -gt 1 ]; then
  { echo "### No verdict on the ratios"; tail -n 1 "$output/reason.txt"; } >"$output/ratios.md"
  echo "::warning::$(tail -n 1 "$output/reason.txt")"
fi

kernel=0
judge "$output/kernel.md" benchmarks.regress --base "$base" "${kernel_options[@]}" || kernel=$?
if [ "$kernel" -gt 1 ]; then
  { echo "### No verdict on the kernel"; tail -n 1 "$output/reason.txt"; } >"$output/kernel.md"
  echo "::warning::$(tail -n 1 "$output/reason.txt")"
fi

{
  echo "<!-- benchmark -->"  # by which the comment is found again
  cat "$output/ratios.md"
  echo
  cat "$output/kernel.md"
} >"$output/table.md"
if [ "$compared" -eq 1 ] || [ "$kernel" -eq 1 ]; then status=1; fi
exit "$status"
