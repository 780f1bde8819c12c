# Each file below tests/ is a test; what they come to is told in the Test Anything Protocol.
echo "TAP version 13"
n=0
for test in tests/*.sh; do
  [ -e "$test" ] || continue
  n=$((n + 1))
  name=$(basename "$test" .sh)
  if said=$(sh "$test" 2>&1); then
    echo "ok $n - $name"
  else
    echo "not ok $n - $name"
    printf '  ---\n  error: "assertion failed: %s"\n  ...\n' "$said"
  fi
done
echo "1..$n"
