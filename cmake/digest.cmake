# cmake -DOUT=back_ends.c "-DFILES=perfmap-gcc11.so;perfmap-gcc12.so" -P digest.cmake
#
# Writes a C file with the SHA-256 of each file; leaves it alone when it says so already.
set(text "")
foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME)
    file(SHA256 ${file} sum)
    string(APPEND text "${name} ${sum}\\n")
endforeach()
string(CONCAT text "/* Made by cmake/digest.cmake. */\nextern const char perfmap_back_ends[];\n"
    "__attribute__((used)) const char perfmap_back_ends[] = \"${text}\";\n")
file(CONFIGURE OUTPUT ${OUT} CONTENT "${text}" @ONLY)
