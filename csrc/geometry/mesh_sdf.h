/* mesh_sdf.h: the signed distance field of a triangle mesh. Host only. */
#ifndef GG_MESH_SDF_H
#define GG_MESH_SDF_H

#include <stddef.h>

#include "../base/status.h"
#include "shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Signed distances [m] of a triangle mesh at the samples of a grid, written to samples[0] on (x fastest; first_sample
 * is not used): exact distance, sign by winding number, so that small holes and self-intersections do no harm and an
 * inverted mesh gives the same field. vertices (vertex_count, 3) [m], faces (face_count, 3). thread_count 0: one per
 * core this process may use. GG_ERROR_ARGUMENT, GG_ERROR_MEMORY: message (may be NULL) says what is wrong. */
gg_status gg_mesh_to_grid(const double *vertices, int64_t vertex_count, const int32_t *faces, int64_t face_count,
                          const gg_sdf_grid *grid, float *samples, int32_t thread_count, char *message,
                          size_t message_size);

#ifdef __cplusplus
}
#endif

#endif
