# The texts of the page (OFFCPU_PAGE_BODY, _STYLE, _SCRIPT) of the files in page/, and the hashes of style and script.
#
# The modules become one script: a page that is opened as a file may not load others. They are put one behind the other,
# those that others import first, without their imports and exports; so their top-level names must differ, which the
# browser's parser checks.
set(page_modules
    format kinds data errors labels frames rows plumbing owner modules recursion child_index places links view layout regex matcher search
    axis times sides sandwich shares wakers scale change parts
    state
    colors paint
    # with a page
    tree details totals flame table filters controls heat span live tip menus legend export svg copy actions save main)
set(page_dir ${CMAKE_CURRENT_LIST_DIR}/page)
file(READ ${page_dir}/page.html OFFCPU_PAGE_BODY)
file(READ ${page_dir}/page.css OFFCPU_PAGE_STYLE)
set(OFFCPU_PAGE_SCRIPT "\n")
set(page_files ${page_dir}/page.html ${page_dir}/page.css)
foreach(module IN LISTS page_modules)
  file(READ ${page_dir}/${module}.mjs text)
  list(APPEND page_files ${page_dir}/${module}.mjs)
  string(REGEX REPLACE "(^|\n)import [^;]*;" "\\1" text "${text}")
  string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
  string(APPEND OFFCPU_PAGE_SCRIPT "${text}")
endforeach()
# An element ends at its end tag, whatever the script means by it.
if("${OFFCPU_PAGE_SCRIPT}${OFFCPU_PAGE_STYLE}" MATCHES "<!--|</[sS][cCtT]|\\)page\"")
  message(FATAL_ERROR "page/: '${CMAKE_MATCH_0}' would end the element that it is in")
endif()
foreach(text IN ITEMS STYLE SCRIPT)
  string(SHA256 hash "${OFFCPU_PAGE_${text}}")
  string(REGEX REPLACE ".." "\\\\x\\0" OFFCPU_PAGE_${text}_SHA256 "${hash}")
endforeach()
