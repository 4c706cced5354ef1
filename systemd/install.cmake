# Installs the unit and the configuration it names. CMakeLists.txt sets `source`, `unit` and the
# folders, which may be relative to the prefix.
cmake_path(ABSOLUTE_PATH bin BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE PHSIC_BIN_DIR)
cmake_path(ABSOLUTE_PATH doc BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE PHSIC_DOC_DIR)
# What belongs to /usr is configured in /etc.
string(REGEX REPLACE "^/usr/?$" "/" root "${CMAKE_INSTALL_PREFIX}")
cmake_path(ABSOLUTE_PATH sysconf BASE_DIRECTORY "${root}" OUTPUT_VARIABLE PHSIC_CONFIG_DIR)
string(APPEND PHSIC_CONFIG_DIR "/phsicd")

configure_file("${source}/systemd/phsicd.service.in" "${unit}" @ONLY)
file(INSTALL "${unit}" DESTINATION "${CMAKE_INSTALL_PREFIX}/lib/systemd/system")

# What an administrator wrote stays.
if(EXISTS "$ENV{DESTDIR}${PHSIC_CONFIG_DIR}/phsicd.yaml")
  message(STATUS "Kept: $ENV{DESTDIR}${PHSIC_CONFIG_DIR}/phsicd.yaml")
else()
  file(INSTALL "${source}/config/phsicd.yaml" DESTINATION "${PHSIC_CONFIG_DIR}")
endif()
