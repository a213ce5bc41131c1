# Where a distribution has things. Units and sysusers files are systemd's, whose directories do not follow the prefix's.
include(GNUInstallDirs)
install(TARGETS offcpu RUNTIME_DEPENDENCY_SET offcpu_libraries RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS offcpud RUNTIME_DEPENDENCY_SET offcpu_libraries RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR})
if(OFFCPU_BUNDLE)
  install(RUNTIME_DEPENDENCY_SET offcpu_libraries
    PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv)\\.so"
    LIBRARY DESTINATION lib/offcpu)
  include(Bundle)
endif()
install(FILES packaging/offcpud.toml DESTINATION ${CMAKE_INSTALL_SYSCONFDIR}/offcpud)
install(FILES packaging/systemd/offcpud.service packaging/systemd/offcpud.socket DESTINATION lib/systemd/system)
install(FILES packaging/systemd/offcpud.sysusers DESTINATION lib/sysusers.d RENAME offcpud.conf)
install(FILES packaging/waiting-for-work.conf packaging/causes.conf DESTINATION ${CMAKE_INSTALL_DATADIR}/offcpu)
install(FILES packaging/grafana/offcpud.json DESTINATION ${CMAKE_INSTALL_DATADIR}/offcpu/grafana)
install(FILES packaging/prometheus/offcpud.rules.yml DESTINATION ${CMAKE_INSTALL_DATADIR}/offcpu/prometheus)
install(FILES docs/offcpu.1 docs/offcpu-record.1 docs/offcpu-top.1 docs/offcpu-report.1 docs/offcpu-doctor.1
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES docs/offcpu-losses.7 docs/offcpu-page.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
install(FILES docs/offcpud.toml.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install(FILES docs/offcpud.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8)
install(DIRECTORY packaging/completions/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(DIRECTORY packaging/completions/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(DIRECTORY packaging/completions/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
