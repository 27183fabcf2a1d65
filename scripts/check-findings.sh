#!/usr/bin/env bash
# Runs every findings/*.sh, which install public packages in temporary folders, and names those that no longer hold. Exit code 1 if there is one.
set -uo pipefail
cd "$(dirname "$0")/../findings"
failed=()
for finding in *.sh; do
  if said=$(bash "$finding" 2>&1); then echo "✓ $finding"; else
    failed+=("$finding")
    printf '✗ %s\n%s\n' "$finding" "$(tail -20 <<<"$said")"
  fi
done
[ ${#failed[@]} -eq 0 ]
