#!/bin/sh
# check_syntax.sh COMPILER ... -o OBJECT ...: reads the source as the compiler does, and makes an empty OBJECT.
object=
previous=
for argument in "$@"; do
  [ "$previous" = -o ] && object=$argument
  previous=$argument
done
"$@" -fsyntax-only && : >"$object"
