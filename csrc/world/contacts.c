/* contacts.c: the contacts of one env in the last substep and their impulses, as a list. */
#include "world.h"

/* the other side of a contact as gg_world_get_contacts numbers it, from its key in the contact list */
static int32_t other_side(const gg_world *w, const gg_view *v, int32_t key) {
    if (key >= 0) {
        return key;
    }
    int32_t tool = v->parts[-1 - key].tool, own = (int32_t)gg_own_tool_count(w);
    return -1 - (tool < GG_WALL_COUNT ? own + tool : tool - GG_WALL_COUNT);
}

gg_status gg_world_get_contacts(gg_world *w, int64_t env, int64_t capacity, int32_t *pairs, float *impulses,
                                int64_t *count, double *dt) {
    *count = 0;
    gg_status status = gg_env_check(w, env);
    if (status != GG_OK) {
        return status;
    }
    GG_EXPECT(gg_message_of(w), !gg_is_planar(&w->view.params),
              "contacts: expected a world of spheres, this one is planar");
    gg_fields fields = GG_BIT(env) | GG_BIT(slot_of) | GG_BIT(contact_first) | GG_BIT(contact_count) | GG_BIT(key_a) |
                       GG_BIT(key_b) | GG_BIT(impulse_a) | GG_BIT(impulse_b);
    gg_view *v;
    if ((status = gg_world_pull(w, fields, env, &v)) != GG_OK) {
        return status;
    }
    const gg_env *state = &v->env[env];
    const int32_t *keys = state->key_buffer ? v->key_b : v->key_a;
    const float *stored = state->impulse_buffer ? v->impulse_b : v->impulse_a;
    *dt = state->dt_last;
    for (int64_t id = 0; state->dt_last > 0.0f && id < v->dims.grain_count; id++) {
        int64_t at = env * v->dims.slots + v->slot_of[env * v->dims.slots + id], first = v->contact_first[at];
        int64_t lane = first % GG_LANES, row = env * v->dims.contact_rows + first / GG_LANES;
        for (int32_t k = 0; k < v->contact_count[at]; k++, row++) {
            int32_t key = keys[row * GG_LANES + lane];
            /* both sides list a contact: it is reported by the lower grain id */
            if (key >= 0 && key < id) {
                continue;
            }
            if (*count < capacity) {
                pairs[2 * *count] = (int32_t)id;
                pairs[2 * *count + 1] = other_side(w, v, key);
                for (int c = 0; c < 3; c++) {
                    impulses[3 * *count + c] = stored[(3 * row + c) * GG_LANES + lane];
                }
            }
            ++*count;
        }
    }
    return GG_OK;
}
