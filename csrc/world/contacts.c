/* contacts.c: the contacts of one env in the last substep, as a list: who, what passed between them, and where. */
#include "../contact/narrow.h"
#include "../solvers/contacts.h"
#include "world.h"

/* the other side of a contact as gg_world_get_contacts numbers it, from its key in the contact list */
static int32_t other_side(const gg_world *w, const gg_view *v, int32_t key) {
    if (key >= 0) {
        return key;
    }
    int32_t tool = v->parts[-1 - key].tool, own = (int32_t)gg_own_tool_count(w);
    return -1 - (tool < GG_WALL_COUNT ? own + tool : tool - GG_WALL_COUNT);
}

/* normal towards the grain in a slot and point of its contact with another grain: halfway between the surfaces */
static gg_vec3 grain_place(const gg_view *v, int64_t env, int64_t slot, int32_t id, gg_vec3 *normal) {
    const gg_vec4 *position = v->position + env * v->dims.slots;
    gg_vec4 x = position[slot], y = position[v->slot_of[env * v->dims.slots + id]];
    gg_vec3 apart = gg_separation(&v->params, x, y);
    float distance = gg_norm(apart);
    *normal = gg_unit(apart, gg_coincident_normal(v->grain_id[env * v->dims.slots + slot], id));
    return gg_madd(gg_v3(x.x, x.y, x.z), *normal, -0.5f * (distance + x.w - y.w));
}

/* the same of its contact with a part of a tool: on the surface of the grain, where wrenches act */
static gg_vec3 part_place(const gg_view *v, int64_t env, int64_t slot, int32_t part, gg_vec3 *normal) {
    gg_vec4 x = v->position[env * v->dims.slots + slot];
    const gg_shape *shape = &v->parts[part];
    gg_pose pose =
        gg_pose_within(v->tool_pose[env * v->dims.tool_count + shape->tool], shape->position, shape->rotation);
    gg_mat3 rotation = gg_quat_mat(pose.rotation);
    gg_vec3 center = gg_v3(x.x, x.y, x.z),
            local = gg_mat_tmul(rotation, gg_part_offset(v, part, center, pose.position));
    *normal = gg_mat_mul(rotation, gg_sdf_eval(shape, v->grids, v->samples, local).gradient);
    return gg_madd(center, *normal, -x.w);
}

static void put3(float *to, int64_t k, gg_vec3 a) {
    to[3 * k] = a.x;
    to[3 * k + 1] = a.y;
    to[3 * k + 2] = a.z;
}

/* what is stored of a contact */
typedef struct contact_parts {
    int32_t key;
    gg_vec3 impulse, torque;
} contact_parts;

/* contact k of the grain in a slot: of those that were solved, then of those that it keeps asleep */
static contact_parts contact_of(const gg_view *v, int64_t env, int64_t slot, int32_t k) {
    int64_t at = env * v->dims.slots + slot;
    contact_parts out = {0, gg_v3(0.0f, 0.0f, 0.0f), gg_v3(0.0f, 0.0f, 0.0f)};
    if (k >= v->contact_count[at]) {
        int64_t kept = (env * v->dims.sleep.slots + v->grain_id[at]) * GG_KEPT + k - v->contact_count[at];
        out.key = v->kept_key[kept];
        out.impulse = v->kept_impulse[kept];
        out.torque = v->kept_torque[kept];
        return out;
    }
    gg_stored_contact stored = gg_stored_contact_at(v, env, at, k);
    out.key = stored.key;
    out.impulse = gg_load_lane3(gg_stored_impulses(v, env), stored.impulse3);
    if (v->params.rolling) {
        out.torque = gg_load_lane3(gg_stored_torques(v, env), stored.impulse3);
    }
    return out;
}

/* entry k of the list: a contact of the grain in a slot */
static void put_contact(const gg_world *w, const gg_view *v, int64_t env, int64_t slot, contact_parts contact,
                        int64_t k, const gg_contact_list *out) {
    int32_t key = contact.key, id = v->grain_id[env * v->dims.slots + slot];
    gg_vec3 normal, impulse = contact.impulse, torque = contact.torque;
    if (key >= 0 && key < id) {
        /* a contact that the higher id keeps is reported by the lower one all the same */
        slot = v->slot_of[env * v->dims.slots + key];
        key = id;
        id = contact.key;
        impulse = gg_scale(impulse, -1.0f);
        torque = gg_scale(torque, -1.0f);
    }
    gg_vec3 point = key >= 0 ? grain_place(v, env, slot, key, &normal) : part_place(v, env, slot, -1 - key, &normal);
    out->pairs[2 * k] = id;
    out->pairs[2 * k + 1] = other_side(w, v, key);
    put3(out->impulses, k, impulse);
    put3(out->torque_impulses, k, torque);
    put3(out->points, k, point);
    put3(out->normals, k, normal);
}

gg_status gg_world_get_contacts(gg_world *w, int64_t env, int64_t capacity, const gg_contact_list *out, int64_t *count,
                                double *dt) {
    *count = 0;
    gg_status status = gg_env_check(w, env);
    if (status != GG_OK) {
        return status;
    }
    GG_EXPECT(gg_message_of(w), !gg_is_planar(&w->view.params),
              "contacts: expected a world of spheres, this one is planar");
    GG_EXPECT(gg_message_of(w), w->view.params.law != GG_LAW_continuum,
              "contacts: expected grains, continuous matter has none; see wrenches");
    GG_EXPECT(gg_message_of(w), w->view.params.law != GG_LAW_bell && w->view.params.law != GG_LAW_table,
              "contacts: expected a mode that keeps contacts, in modes bell and table they are forces of the moment");
    gg_fields fields = GG_BIT(env) | GG_BIT(slot_of) | GG_BIT(contact_first) | GG_BIT(contact_count) | GG_BIT(key_a) |
                       GG_BIT(key_b) | GG_BIT(impulse_a) | GG_BIT(impulse_b) | GG_BIT(roll_a) | GG_BIT(roll_b) |
                       GG_BIT(link_a) | GG_BIT(link_b) | GG_BIT(grain_id) | GG_BIT(position) | GG_BIT(tool_pose) |
                       GG_BIT(kept_count) | GG_BIT(kept_key) | GG_BIT(kept_impulse) | GG_BIT(kept_torque);
    gg_view *v;
    if ((status = gg_world_pull(w, fields, env, &v)) != GG_OK) {
        return status;
    }
    const gg_env *state = &v->env[env];
    *dt = state->dt_last;
    for (int64_t id = 0; state->dt_last > 0.0f && id < v->dims.grain_count; id++) {
        int64_t slot = v->slot_of[env * v->dims.slots + id], at = env * v->dims.slots + slot;
        int32_t kept = state->some_asleep ? v->kept_count[env * v->dims.sleep.slots + id] : 0;
        for (int32_t k = 0; k < v->contact_count[at] + kept; k++) {
            contact_parts contact = contact_of(v, env, slot, k);
            /* where both sides list a contact the lower grain id reports it */
            if (contact.key >= 0 && contact.key < id && !gg_has_owners(&v->params)) {
                continue;
            }
            if (*count < capacity) {
                put_contact(w, v, env, slot, contact, *count, out);
            }
            ++*count;
        }
    }
    return GG_OK;
}
