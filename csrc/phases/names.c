/* names.c: the names of the phases. */
#include "names.h"

#include "phases.h"

int gg_phase_count(void) { return GG_PHASE_COUNT; }

const char *gg_phase_name(int phase) {
    static const char *const names[] = {
#define PHASE_NAME(name, ...) #name,
        GG_PHASES(PHASE_NAME)
#undef PHASE_NAME
    };
    return phase >= 0 && phase < GG_PHASE_COUNT ? names[phase] : "";
}
