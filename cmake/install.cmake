# What `cmake --install` puts where (FHS). perfmap finds its plugin and runtime relative to itself, so the tree may be moved as a whole.
#
#     bin/perfmap                              the command
#     lib[/TRIPLET]/perfmap/                   perfmap.so, perfmap-gccN.so (plugin/CMakeLists.txt), libperfmap-rt.so (runtime/CMakeLists.txt)
#     include/perfmap.h, perfmap.f90           for programs with words of their own
#     include/perfmap_metric.h                 for libraries with metrics of their own
#     lib[/TRIPLET]/pkgconfig/perfmap.pc       cflags for perfmap.h; plugin_flag=, plugin= and fortran= for build systems
#     lib[/TRIPLET]/cmake/perfmap/             find_package(perfmap): perfmap::words, perfmap_enable()
#     share/perfmap/wrap/*.txt                 annotations for `perfmap wrap`
#     share/man/man1/perfmap*.1                made by the command itself
#     share/bash-completion/completions/perfmap
#     share/zsh/vendor-completions/_perfmap
#     share/fish/vendor_completions.d/perfmap.fish
#     share/doc/perfmap/                       README, docs/, the examples
include(GNUInstallDirs)

install(TARGETS perfmap RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/pdt/annotations/ DESTINATION ${CMAKE_INSTALL_DATADIR}/perfmap/wrap)
install(FILES ${CMAKE_BINARY_DIR}/completions/_perfmap DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${CMAKE_BINARY_DIR}/completions/perfmap.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${CMAKE_BINARY_DIR}/completions/perfmap DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)

# The .pc file finds the prefix from its own place, so that an installed tree may be moved.
string(REGEX REPLACE "[^/]+" ".." PERFMAP_PC_UP "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
configure_file(${CMAKE_CURRENT_LIST_DIR}/perfmap.pc.in ${CMAKE_BINARY_DIR}/perfmap.pc @ONLY)
install(FILES ${PROJECT_SOURCE_DIR}/runtime/include/perfmap.h ${PROJECT_SOURCE_DIR}/runtime/include/perfmap.f90
    ${PROJECT_SOURCE_DIR}/runtime/include/perfmap_metric.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_BINARY_DIR}/perfmap.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(CMakePackageConfigHelpers)
string(REGEX REPLACE "[^/]+" ".." PERFMAP_CMAKE_UP "${CMAKE_INSTALL_LIBDIR}/cmake/perfmap")
configure_file(${CMAKE_CURRENT_LIST_DIR}/perfmap-config.cmake.in ${CMAKE_BINARY_DIR}/perfmap-config.cmake @ONLY)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/perfmap-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/perfmap-config.cmake ${CMAKE_BINARY_DIR}/perfmap-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/perfmap)

foreach(page README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE)
    install(FILES ${PROJECT_SOURCE_DIR}/${page} DESTINATION ${CMAKE_INSTALL_DOCDIR})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/heat ${PROJECT_SOURCE_DIR}/examples/cxx ${PROJECT_SOURCE_DIR}/examples/fortran
    ${PROJECT_SOURCE_DIR}/examples/grids ${PROJECT_SOURCE_DIR}/examples/lua
    DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples FILES_MATCHING PATTERN "*.c" PATTERN "*.cc" PATTERN "*.f90"
    PATTERN "*.lua")
