/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The name that kith/waves.h had in version 0.1; it goes in 0.3. All is in kith.h.
 */
#include <kith.h>
