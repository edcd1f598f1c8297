/* instrument.h: what the emulator tells an instrument of the kernels that it runs.
 *
 * In a build with GG_EMULATOR_INSTRUMENT the compiler turns each load and store of the backend into a call (GCC's
 * -fsanitize=thread, without its library), and the functions below are those of tests/emulator/meter, a shared library
 * that must be loaded before the extension. In other builds they are empty.
 */
#ifndef GG_EMULATOR_INSTRUMENT_H
#define GG_EMULATOR_INSTRUMENT_H

#include <cstddef>

/* barriers: of a block, a warp, half a warp */
enum emulator_barrier { EMULATOR_BLOCK, EMULATOR_WARP, EMULATOR_HALF_WARP, EMULATOR_BARRIERS };
/* what an atomic access orders: nothing; what came before a change; what comes after a read */
enum emulator_order { EMULATOR_RELAXED, EMULATOR_RELEASE, EMULATOR_ACQUIRE };

#ifdef GG_EMULATOR_INSTRUMENT
#define EMULATOR_HOOK(declaration) extern "C" declaration;
/* a function whose loads and stores are not seen, and which is called from where it stands in the source */
#define EMULATOR_UNSEEN __attribute__((noinline, no_sanitize("thread")))
#else
#define EMULATOR_HOOK(declaration)                                                                                     \
    inline declaration {}
#define EMULATOR_UNSEEN
#endif

/* device memory was allocated; size 0: it was freed */
EMULATOR_HOOK(void gg_meter_memory(const void *, size_t))
/* a kernel begins: its first argument, of so many bytes; blocks, threads of a block */
EMULATOR_HOOK(void gg_meter_launch(const void *, size_t, unsigned, unsigned))
/* these blocks of it begin: where their memory lies, bytes of it per block */
EMULATOR_HOOK(void gg_meter_blocks(const void *, size_t, unsigned))
/* from now on this thread of the grid runs */
EMULATOR_HOOK(void gg_meter_resume(unsigned))
/* these threads of the grid have met: kind, the first one, their number */
EMULATOR_HOOK(void gg_meter_meet(emulator_barrier, unsigned, unsigned))
/* these blocks have ended */
EMULATOR_HOOK(void gg_meter_end())
/* of the thread that runs: it enters a phase; it has a fence; it accesses a word atomically, from a place in the code */
EMULATOR_HOOK(void gg_meter_phase(int))
EMULATOR_HOOK(void gg_meter_fence())
EMULATOR_HOOK(void gg_meter_atomic(const void *, const void *, size_t, emulator_order))

#undef EMULATOR_HOOK

#endif
