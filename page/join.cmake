# Joins the page's modules, style and skeleton into one file: cmake -DSOURCE=page -DOUT=page.html -P join.cmake
#
# The modules are named in the order in which they need each other. They see each other's names, so
# that their imports and the word export go, and no two of them may have the same name at the top.
set(modules bytes sums times model dom format table state columns picture ask costs where source flame levels locations overview strip trace timeline main)

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
file(READ ${SOURCE}/style.css style)
file(READ ${SOURCE}/page.html page)
string(REGEX REPLACE "\n +" "\n" style "${style}")
string(REGEX REPLACE " *([:;,{}]) *" "\\1" style "${style}")
string(REGEX REPLACE "([;}])\n" "\\1" style "${style}")
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@CODE@" "${code}" page "${page}")
file(WRITE ${OUT} "${page}")
