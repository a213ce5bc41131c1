# Packages for systems that have other versions of our libraries, with these in them: a tarball that runs where it is
# unpacked, and an RPM. Both need the C library of the system that builds them, or a newer one. scripts/package makes
# them.
set(CPACK_PACKAGE_NAME offcpud)
set(CPACK_PACKAGE_VENDOR offcpud)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Off-CPU profiler: where threads wait, for how long, and for what")
set(CPACK_PACKAGE_FILE_NAME offcpud-${PROJECT_VERSION}-x86_64)
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0 AND GPL-2.0-only")
set(CPACK_RPM_PACKAGE_AUTOREQPROV OFF) # it has what it needs, but for this
execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE _libc OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REPLACE "glibc " "" _libc "${_libc}")
set(CPACK_RPM_PACKAGE_REQUIRES "glibc >= ${_libc}")
set(CPACK_RPM_USER_FILELIST "%config(noreplace) /etc/offcpud/offcpud.toml")
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none") # others may have the same libraries
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /etc /usr/sbin /usr/share/man /usr/share/man/man1
    /usr/share/man/man5 /usr/share/man/man7 /usr/share/man/man8 /usr/lib/systemd /usr/lib/systemd/system
    /usr/lib/sysusers.d /usr/share/bash-completion /usr/share/bash-completion/completions /usr/share/zsh
    /usr/share/zsh/vendor-completions /usr/share/fish /usr/share/fish/vendor_completions.d)
foreach(_part PRE_INSTALL POST_INSTALL PRE_UNINSTALL POST_UNINSTALL)
  string(TOLOWER ${_part} _script)
  set(CPACK_RPM_${_part}_SCRIPT_FILE ${CMAKE_SOURCE_DIR}/packaging/rpm/${_script})
endforeach()
include(CPack)
