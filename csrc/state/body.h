/* body.h: what moves: a body, as one record of GG_BODY floats.
 *
 * A *slot* is what collides: a position, a radius, a material, in cell order. A *body* is what moves. Bodies 0 ..
 * free_bodies - 1 belong to grains, and a lone grain is one slot and one body of the same index; a grain may be fixed
 * (inverse mass 0): it acts on others, nothing acts on it, and two such grains never meet. The bodies behind them are
 * contact points on tools: one for each contact, as the velocity of a tool's surface differs from place to place. A
 * tool that follows its targets has infinite mass; one with a mass that along the normal (solvers/dynamic_tools.h).
 */
#ifndef GG_BODY_H
#define GG_BODY_H

#include "../base/vec.h"

/* aligned, so that a GPU loads and stores it as one vector */
typedef struct gg_vec4 {
    GG_ALIGNED(16) float x;
    float y, z, w;
} gg_vec4;

/* nvcc vectorizes aligned loads by itself, but some stores only of its own type */
#ifdef __CUDA_ARCH__
#define GG_STORE_VEC4(to, a) (*(float4 *)(to) = make_float4((a).x, (a).y, (a).z, (a).w))
#else
#define GG_STORE_VEC4(to, a) (*(to) = (a))
#endif

/* columns of a body: velocity [m/s] in 0 .. 2, spin r * omega [m/s] in 4 .. 6 */
enum {
    GG_BODY_INVERSE_MASS = 3, /* [1/kg], 0: infinite mass */
    GG_BODY_SPIN = 4,
    GG_BODY_INVERSE_INERTIA = 5, /* of a planar body: radius^2 / inertia [1/kg] */
    GG_BODY_PLANAR_SPIN = 6,     /* of a planar body: radius * omega [m/s] */
    GG_BODY_INVERSE_RADIUS = 7   /* [1/m], 0: of a tool */
};

/* Loads and stores of a body, in two aligned vectors rather than eight floats. */
GG_FN void gg_body_load(const float *body, float out[GG_BODY]) {
    for (int k = 0; k < GG_BODY; k += 4) {
        gg_vec4 four = *(const gg_vec4 *)(body + k);
        out[k] = four.x;
        out[k + 1] = four.y;
        out[k + 2] = four.z;
        out[k + 3] = four.w;
    }
}
GG_FN void gg_body_store(float *body, const float in[GG_BODY]) {
    for (int k = 0; k < GG_BODY; k += 4) {
        gg_vec4 four = {in[k], in[k + 1], in[k + 2], in[k + 3]};
        GG_STORE_VEC4((gg_vec4 *)(body + k), four);
    }
}

#endif
