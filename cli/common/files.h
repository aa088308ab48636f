/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The files of a command. Each verb lists every path that it will read or write, before any work:
 * no output overwrites an input or another output.
 */
#ifndef KITH_CLI_FILES_H
#define KITH_CLI_FILES_H

/** What a verb does with a path, and which other files it reads or writes beside it. */
typedef enum file_role {
    FILE_NONE,         /**< no path */
    FILE_READ,         /**< with the other files of a snapshot in many files */
    FILE_WRITTEN,      /**< "-" is standard output */
    FILE_STATE,        /**< written again and again, through PATH.part; PATH.lock is its lock */
    FILE_FIGURE,       /**< by gnuplot, with its script .gp and its data .dat */
    FILE_FIGURE_AGAIN, /**< a figure, each of its files written through its .part */
    FILE_FILM          /**< a film; or frames: many names */
} file_role;

typedef struct file_use {
    const char *option; /**< as it is said to the user: "INPUT", "--output" */
    const char *path;   /**< NULL: not given */
    file_role role;
} file_use;

/** End the command (wrong arguments) where one file has two uses, one of which is to be written:
 *  two names of one file count, by hard links, symbolic links or folders, and names that do not
 *  exist yet. Devices and pipes may be shared. Standard output is a use, too. Also where an
 *  output cannot be written: its folder is missing or not permitted, or it is a folder. */
void files_check(const file_use *uses, int n);

#endif
