# Writes OUTPUT: "compiler: COMPILER", and what ptxas said of the kernels in OBJECTS, a list separated by "|".
# See keep_resource_usage.sh.
set(text "compiler: ${COMPILER}\n")
string(REPLACE "|" ";" objects "${OBJECTS}")
list(SORT objects)
foreach(object IN LISTS objects)
  file(READ ${object}.ptxas said)
  string(APPEND text "${said}")
endforeach()
file(WRITE ${OUTPUT} "${text}")
