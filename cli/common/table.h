/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Columns of numbers, for example g(r), and the files they are written to.
 */
#ifndef KITH_CLI_TABLE_H
#define KITH_CLI_TABLE_H

#include "options.h"

#include <core/memory_file.h>
#include <jansson.h>

typedef enum table_format {
    TABLE_BY_NAME, /**< by the path's ending; text where it tells nothing */
    TABLE_TEXT,    /**< columns of text under a header of comments */
    TABLE_JSON,    /**< the report of the run, with the columns */
    TABLE_NPY,     /**< a structured array */
    TABLE_XVG,     /**< GROMACS, xmgrace */
    TABLE_LAMMPS   /**< fix ave/time mode vector */
} table_format;

typedef enum table_role {
    TABLE_X,     /**< what the others are drawn over */
    TABLE_Y,     /**< in every format */
    TABLE_ERROR, /**< of the column before; not in XVG and LAMMPS */
    TABLE_DETAIL /**< in JSON and .npy alone */
} table_role;

typedef struct table_column {
    table_role role;
    char label[3 * IO_NAME_LENGTH]; /**< "g(O-H)" */
    io_table_column data;           /**< its name is that of the field in JSON and .npy */
} table_column;

typedef struct table {
    const char *title, *x_title, *y_title; /**< of XVG */
    const char *unit;                      /**< of lengths; "": not known */
    int power;                             /**< of that unit in x: 1, or -1 for wave numbers */
    char *notes;                           /**< lines of the header, each ended; NULL: none */
    const char *partial; /**< what is said where the run was stopped; NULL: it was not */
    int64_t step;        /**< for LAMMPS: of the last frame */
    int64_t rows;
    int n;
    table_column *column;
    bool lost; /**< memory did not suffice for all columns */
} table;

/** Begin the notes of a table with the file that was read. @return the stream for further lines, to
 *  be closed by io_memory_file_close; NULL: no memory */
FILE *table_open_notes(io_memory_file *notes, const char *input, const char *description);

/** Add a column; where memory does not suffice, table_write tells. */
void table_add(table *t, table_role role, const char *label, const char *field,
               const double *value);

/** Add one of whole numbers. */
void table_add_whole(table *t, table_role role, const char *label, const char *field,
                     const double *value);

/** End the command where the options of a table contradict each other: the format of none, or two
 *  for standard output. */
void table_check_options(struct argp_state *state, const options *o, table_format format);

/** Write a table, "-": as text to standard output, and free its columns and notes.
 *  @param facts  what a JSON file holds beside the columns; let go of
 *  @return an exit status, reported. */
int table_write(const char *path, table_format format, table *t, json_t *facts);

#endif
