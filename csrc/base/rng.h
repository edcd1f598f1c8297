/* rng.h: counter-based random numbers: the n-th number of a stream is a function of (seed, stream, n) alone.
 *
 * There is no state to store or share between threads. The mixing step is the published 64-bit finaliser of splitmix
 * (Steele, Lea, Flood 2014), applied to each word of the counter in turn.
 */
#ifndef GG_RNG_H
#define GG_RNG_H

#include "base.h"

GG_FN uint64_t gg_rng_mix(uint64_t z) {
    z += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

GG_FN uint64_t gg_rng_bits(uint64_t seed, uint64_t stream, uint64_t n) {
    return gg_rng_mix(gg_rng_mix(gg_rng_mix(seed) ^ stream) ^ n);
}

/* uniform in [0, 1), 24 bits */
GG_FN float gg_rng_uniform(uint64_t seed, uint64_t stream, uint64_t n) {
    return (float)(gg_rng_bits(seed, stream, n) >> 40) * (1.0f / 16777216.0f);
}

#endif
