/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The files of a command. Each verb lists every path that it will read or write, before any work:
 * no output overwrites an input or another output.
 */
#ifndef KITH_CLI_FILES_H
#define KITH_CLI_FILES_H

/** What a verb does with a path, and which other files it reads or writes with it. */
typedef enum file_role {
    FILE_NONE,         /**< no path */
    FILE_READ,         /**< read, with the other files of a snapshot in many files */
    FILE_WRITTEN,      /**< written; "-" is standard output */
    FILE_STATE,        /**< a restart file: rewritten through PATH.part; PATH.lock is its lock */
    FILE_FIGURE,       /**< a figure by gnuplot, with its script .gp and its data .dat */
    FILE_FIGURE_AGAIN, /**< a figure whose three files are each rewritten through a .part */
    FILE_FILM          /**< a film, or frames in many files */
} file_role;

/** A path of the command line. */
typedef struct file_use {
    const char *option; /**< name of the option or operand in messages: "INPUT", "--output" */
    const char *path;   /**< NULL: the option is not given */
    file_role role;     /**< what the verb does with the path */
} file_use;

/** End the command (wrong arguments) if one file has two uses and is written by one of them. Files
 *  are compared, not names: hard links, symbolic links and other spellings of a path are found, of
 *  files that do not exist yet too. Standard output is a file; devices and pipes may be shared.
 *  Also end it if an output cannot be written: the folder is missing or not writable, or the path
 *  is a folder.
 *  @param uses  [n] all paths of the command line */
void files_check(const file_use *uses, int n);

#endif
