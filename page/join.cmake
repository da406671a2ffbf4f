# Joins a page's modules, styles and skeleton into one file:
# cmake -DSOURCE=page -DOUT=page.html -DMODULES=a,b -DSTYLES=style -DSKELETON=page.html -P join.cmake
#
# Modules see each other's names, so that their imports and the word export go, and no two of them
# may have the same name at the top.
string(REPLACE "," ";" modules "${MODULES}")
string(REPLACE "," ";" styles "${STYLES}")

set(code "")
foreach(module ${modules})
    file(READ ${SOURCE}/${module}.js text)
    string(REGEX REPLACE "(^|\n)import [^\n]*" "\\1" text "${text}")
    string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
    # Browsers need neither comments, indentation, nor blanks around what no text has: a fifth of it.
    string(REGEX REPLACE "\n +" "\n" text "\n${text}")
    string(REGEX REPLACE "\n//[^\n]*" "" text "${text}")
    string(REGEX REPLACE " (=>|===|!==|&&|\\|\\||=) " "\\1" text "${text}")
    string(REGEX REPLACE "([;{,])\n" "\\1" text "${text}")
    string(APPEND code "// --- ${module}.js ---\n${text}\n")
endforeach()
set(style "")
foreach(name ${styles})
    file(READ ${SOURCE}/${name}.css text)
    string(APPEND style "${text}")
endforeach()
file(READ ${SOURCE}/${SKELETON} page)
string(REGEX REPLACE "\n +" "\n" style "${style}")
string(REGEX REPLACE " *([:;,{}]) *" "\\1" style "${style}")
string(REGEX REPLACE "([;}])\n" "\\1" style "${style}")
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@CODE@" "${code}" page "${page}")
file(WRITE ${OUT} "${page}")
