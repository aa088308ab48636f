# SPDX-License-Identifier: BSD-3-Clause
#
# Man pages and shell completion, both from the command's own help.
if(TARGET kith_cli)
    install(FILES packaging/kith.bash RENAME kith
            DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT command)
    find_program(KITH_HELP2MAN help2man)
    if(KITH_HELP2MAN AND NOT KITH_SANITIZE)
        set(man "${CMAKE_CURRENT_BINARY_DIR}/man")
        add_custom_command(OUTPUT "${man}/kith.1"
            COMMAND packaging/man.sh "$<TARGET_FILE:kith_cli>" "${man}" "${PROJECT_VERSION}"
            DEPENDS kith_cli packaging/man.sh
            WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
            COMMENT "Man pages")
        add_custom_target(kith_man ALL DEPENDS "${man}/kith.1")
        install(DIRECTORY "${man}/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT command)
    endif()
endif()
