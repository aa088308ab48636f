/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Columns of numbers, for example g(r), and the files they are written to.
 */
#ifndef KITH_CLI_TABLE_H
#define KITH_CLI_TABLE_H

#include "options.h"

#include <core/memory_file.h>
#include <jansson.h>

/** Format of a file of columns. */
typedef enum table_format {
    TABLE_BY_NAME, /**< chosen by the ending of the path; text if the ending is unknown */
    TABLE_TEXT,    /**< columns of text under a header of comments */
    TABLE_JSON,    /**< the JSON summary of the run, and the columns */
    TABLE_NPY,     /**< a structured array of NumPy */
    TABLE_XVG,     /**< XVG of GROMACS and xmgrace */
    TABLE_LAMMPS   /**< as LAMMPS writes it: fix ave/time, mode vector */
} table_format;

/** What a column holds. */
typedef enum table_role {
    TABLE_X,     /**< the abscissa */
    TABLE_Y,     /**< an ordinate, written in every format */
    TABLE_ERROR, /**< error of the column before; not written in XVG and LAMMPS */
    TABLE_DETAIL /**< written in JSON and .npy alone */
} table_role;

/** A column of a table. */
typedef struct table_column {
    table_role role; /**< what the column is, which decides the formats that have it */
    char label[3 * IO_NAME_LENGTH]; /**< title for readers: "g(O-H)" */
    io_table_column data;           /**< values; its name is the field in JSON and .npy */
} table_column;

/** Columns of numbers of one length, and what is written around them. */
typedef struct table {
    const char *title, *x_title, *y_title; /**< titles of the figure and its axes, for XVG */
    const char *unit;                      /**< unit of length; "": not known */
    int power;           /**< power of this unit in x: 1, or -1 for wave numbers */
    char *notes;         /**< lines of the header, each with a newline, from table_open_notes; NULL:
                               memory was exhausted, so that table_write fails */
    const char *partial; /**< note that the run was stopped early; NULL: it was not */
    int64_t step;        /**< step of the last frame, for LAMMPS */
    int64_t rows;        /**< length of each column */
    int n;               /**< number of columns */
    table_column *column; /**< [n] the columns */
    bool incomplete;      /**< memory was exhausted, so a column is missing; table_write fails */
} table;

/** Begin the notes of a table with the file that was read. @return the stream for further lines, to
 *  be closed by io_memory_file_close; NULL: no memory */
FILE *table_open_notes(io_memory_file *notes, const char *input, const char *description);

/** Add a column. If memory is exhausted, table_write fails.
 *  @param label  title for readers: "g(O-H)"
 *  @param field  name in JSON and .npy
 *  @param value  [rows] numbers; borrowed until table_write */
void table_add(table *t, table_role role, const char *label, const char *field,
               const double *value);

/** Add a column of whole numbers. */
void table_add_whole(table *t, table_role role, const char *label, const char *field,
                     const double *value);

/** End the command if --format is given without -o, or if standard output gets a .npy, or both the
 *  table and the JSON summary. */
void table_check_options(struct argp_state *state, const options *o, table_format format);

/** Write a table, and free its columns and notes. The path "-" is standard output, which gets text
 *  unless the format says otherwise.
 *  @param facts  what a JSON file holds beside the columns; its reference is released
 *  @return exit status, reported */
int table_write(const char *path, table_format format, table *t, json_t *facts);

#endif
