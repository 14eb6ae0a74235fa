#!/bin/sh
# keep_resource_usage.sh COMPILER ... -o OBJECT ...: compiles CUDA code with `ptxas -v`, and keeps what ptxas says of the
# registers, spills and shared memory of each kernel in OBJECT.ptxas instead of showing it. Other messages are shown.
object=
previous=
for argument in "$@"; do
  [ "$previous" = -o ] && object=$argument
  previous=$argument
done
[ -n "$object" ] || exec "$@"
"$@" 2>"$object.messages"
status=$?
kept='^ptxas info|^ +[0-9]+ bytes stack frame'
grep -E "$kept" "$object.messages" >"$object.ptxas"
grep -vE "$kept" "$object.messages" >&2
rm -f "$object.messages"
exit $status
