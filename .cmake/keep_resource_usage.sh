#!/bin/sh
# keep_resource_usage.sh COMPILER ... -MF DEPENDENCIES ... -o OBJECT ...: compiles CUDA code with `ptxas -v`. What ptxas
# says of the registers, spills and shared memory of each kernel is kept in OBJECT.ptxas instead of being shown, and the
# files that the code is made of in OBJECT.inputs. Other messages are shown.
object=
dependencies=
previous=
for argument in "$@"; do
  [ "$previous" = -o ] && object=$argument
  [ "$previous" = -MF ] && dependencies=$argument
  previous=$argument
done
[ -n "$object" ] || exec "$@"
rm -f "$object.inputs"
"$@" 2>"$object.messages"
status=$?
kept='^ptxas info|^ +[0-9]+ bytes stack frame'
grep -E "$kept" "$object.messages" >"$object.ptxas"
grep -vE "$kept" "$object.messages" >&2
rm -f "$object.messages"
# Ninja reads and removes the file of dependencies.
[ $status != 0 ] || [ -z "$dependencies" ] || cp "$dependencies" "$object.inputs"
exit $status
