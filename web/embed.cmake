# SPDX-License-Identifier: BSD-3-Clause
#
# Write the files of the page as C arrays:
#     cmake -DFOLDER=web -DFILES=a,b -DOUT=page.c -P embed.cmake
set(arrays "")
set(table "")
string(REPLACE "," ";" files "${FILES}")
foreach(name IN LISTS files)
    string(MAKE_C_IDENTIFIER "${name}" symbol)
    file(READ "${FOLDER}/${name}" hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(APPEND arrays "static const unsigned char ${symbol}[] = {${bytes}};\n")
    if(name MATCHES "\\.html$")
        set(type "text/html; charset=utf-8")
    elseif(name MATCHES "\\.css$")
        set(type "text/css; charset=utf-8")
    elseif(name MATCHES "\\.svg$")
        set(type "image/svg+xml")
    else()
        set(type "text/javascript; charset=utf-8")
    endif()
    string(APPEND table "    {\"${name}\", \"${type}\", ${symbol}, sizeof ${symbol}},\n")
endforeach()
file(WRITE "${OUT}" "#include \"web.h\"\n\n${arrays}\n"
    "const web_file web__files[] = {\n${table}    {NULL, NULL, NULL, 0}};\n")
