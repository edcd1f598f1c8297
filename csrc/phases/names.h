/* names.h: the names of the phases. */
#ifndef GG_NAMES_H
#define GG_NAMES_H

#ifdef __cplusplus
extern "C" {
#endif

int gg_phase_count(void);
/* "" beyond the last */
const char *gg_phase_name(int phase);

#ifdef __cplusplus
}
#endif

#endif
