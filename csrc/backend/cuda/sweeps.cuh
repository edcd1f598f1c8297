/* sweeps.cuh: contacts of spheres prepared and solved colour by colour (solvers/spheres/coloured), by the threads of a team
 * together, and what follows their sweeps. */
#ifndef GG_SWEEPS_CUH
#define GG_SWEEPS_CUH

#include "slices.cuh"

/* calls body(record) for the team's share of the contacts of a colour, in whole rows */
template <class Body>
__device__ __forceinline__ void gg_each_record(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t colour,
                                               Body body) {
    const gg_colouring *all = &v->colouring[e];
    int64_t first = (int64_t)all->first_row[colour] * GG_LANES, end = (int64_t)all->first_row[colour + 1] * GG_LANES;
    for (int64_t k = first + gg_team_spread_rank(team); k < end; k += gg_team_size(team)) {
        gg_scalar_records at = gg_scalar_records_at(v, e, k, first + all->contacts[colour]);
        body(at);
    }
}

__device__ __forceinline__ void gg_gpu_open_bodies(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_each_slot(team, [&](int64_t slot) { gg_scalar_open_lanes(v, e, slot); });
}

__device__ __forceinline__ void gg_gpu_prepare_colour(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                      int32_t colour) {
    gg_each_record(team, v, e, colour, [&](const gg_scalar_records &at) { gg_scalar_prepare_records(v, e, &at); });
}

/* ---- where contacts lie ---- */

/* tells a block where the contacts of each colour lie, until the next substep */
__device__ __forceinline__ void gg_gpu_open_spans(const gg_gpu_team *team, const gg_view *v, int64_t e) {
    gg_colour_spans *spans = &team->memory->spans;
    const gg_colouring *all = &v->colouring[e];
    for (int32_t k = (int32_t)threadIdx.x; k < GG_COLOURS - 1; k += GG_THREADS) {
        int32_t begin = all->first_row[k] * GG_LANES;
        gg_colour_span span = {begin, begin + all->contacts[k], all->first_row[k + 1] * GG_LANES};
        spans->of[k] = span;
    }
    if (threadIdx.x == 0) {
        spans->colours = gg_step_colours(&v->env[e]);
    }
    __syncthreads();
}

/* Indices of a contact in the arrays of all envs: of a float each, and of x of a vector. In 32 bits, which
 * gg_short_indices sees to, an address is one instruction. */
__device__ __forceinline__ uint32_t gg_gpu_contact_first(const gg_view *v, int64_t e) {
    return (uint32_t)(e * v->dims.contact_rows * GG_LANES);
}
__device__ __forceinline__ uint32_t gg_gpu_contact3(uint32_t contact) {
    return contact + 2 * (contact & ~(uint32_t)(GG_LANES - 1));
}

/* ---- extrapolation ----
 *
 * Between sweeps bodies are extrapolated by their momentum: by advance_bodies, or each by the first of its contacts in a
 * sweep, which has its body at hand; blocks then meet once less. A contact knows by a bit of the index of a body that it is
 * the first one there. */

/* Whether sweeps extrapolate: not where bodies are in shared memory, which a block passes over faster than its contacts
 * would find out; not with clumps, nor where contacts have the last colour, or more than grains find theirs by. */
__device__ __forceinline__ int gg_gpu_sweeps_extrapolate(const gg_gpu_team *team, const gg_view *v, int64_t e) {
    const gg_env *env = &v->env[e];
    return team->near == GG_NEAR_NOTHING && v->dims.coloured.found && !gg_step_condition(env, GG_HAS_REST) &&
           gg_step_colours(env) <= GG_COLOURS_FOUND;
}

/* the index of a body as sweep_own and sweep_other have it; before: the colours of other contacts that the body is in
 * before this one */
#define GG_SWEEP_FIRST INT32_MIN
__device__ __forceinline__ int32_t gg_gpu_sweep_body(int32_t body, uint32_t before) {
    return before ? body : body | GG_SWEEP_FIRST;
}
__device__ __forceinline__ void gg_gpu_note_first(const gg_view *v, int64_t e, const gg_scalar_records *at,
                                                  int32_t colour) {
    const uint64_t *colours = v->colours + e * v->dims.slots;
    uint32_t before = (1u << colour) - 1;
    int32_t own = *at->own, other = *at->other;
    v->sweep_own[at->contact] = gg_gpu_sweep_body(own, (uint32_t)colours[own] & before);
    v->sweep_other[at->contact] =
        gg_is_tool(v, other) ? other : gg_gpu_sweep_body(other, (uint32_t)colours[other] & before);
}

/* the bodies of a contact, marked where it is their first one */
struct gg_gpu_pair {
    int32_t own, other;
};
__device__ __forceinline__ uint32_t gg_gpu_body_of(int32_t marked) { return (uint32_t)(marked & ~GG_SWEEP_FIRST); }

/* ---- the start ----
 *
 * Preparing a contact changes no other: all are prepared at once. Then each grain adds up what its contacts start with, in
 * order of their colours, as if they did so colour by colour. */

/* calls body(records, colour) for the team's share of the contacts of all colours but the last, of which there are some, in
 * whole rows */
template <class Body>
__device__ __forceinline__ void gg_each_coloured(const gg_gpu_team *team, const gg_view *v, int64_t e, Body body) {
    const gg_colour_spans *spans = &team->memory->spans;
    int32_t colour = 0, end = spans->of[spans->colours - 1].end;
    for (int32_t k = gg_team_spread_rank(team); k < end; k += gg_team_size(team)) {
        while (k >= spans->of[colour].end) {
            colour++;
        }
        body(gg_scalar_records_at(v, e, k, spans->of[colour].live), colour);
    }
}

/* what the contacts of grains start with */
struct gg_gpu_starter {
    struct contact {
        int32_t side, other; /* 0: the grain owns it; the other body */
        gg_scalar_vec impulse, twist, torque, push;
    };
    const gg_view *v;
    const float *impulse, *torque;
    float *bodies;
    uint32_t first; /* index of the env's first contact */

    /* found: see colour_contact */
    __device__ __forceinline__ contact load(int32_t found) const {
        contact c;
        uint32_t at = first + (uint32_t)found / 2, at3 = gg_gpu_contact3(at);
        c.side = found & 1;
        c.other = v->other_body[at];
        c.impulse = gg_scalar_load3(impulse + at3);
        c.twist = gg_scalar_cross(gg_scalar_load3(v->normal + at3), c.impulse);
        c.torque = gg_scalar_zero();
        if (v->params.rolling) {
            c.torque = gg_scalar_load3(torque + at3);
        }
        c.push = gg_scalar_load3(v->push + at3);
        return c;
    }
    __device__ __forceinline__ void add(const contact &c, float *body, float *shift) const {
        float mass = body[GG_BODY_INVERSE_MASS];
        gg_scalar_start_side(&v->params, body, c.side ? -1.0f : 1.0f, c.impulse, c.twist, c.torque);
        gg_scalar_shift_side(shift, c.side ? 0.0f - mass : mass, c.push);
        if (!c.side && gg_is_tool(v, c.other)) {
            /* tools stay where they are */
            float tool[GG_BODY];
            gg_body_load(bodies + (uint32_t)c.other * GG_BODY, tool);
            gg_scalar_start_side(&v->params, tool, -1.0f, c.impulse, c.twist, c.torque);
            gg_body_store(bodies + (uint32_t)c.other * GG_BODY, tool);
        }
    }
    /* all contacts of a slot of env e, and of the bodies that stand for tools there; the next one is on its way while
     * one is added */
    __device__ __forceinline__ void start(int64_t e, int64_t slot) const {
        uint32_t colours = (uint32_t)v->colours[e * v->dims.slots + slot];
        const int32_t *found = v->colour_contact + (e * v->dims.slots + slot) * GG_COLOURS_FOUND;
        if (!colours) {
            return;
        }
        contact next = load(found[gg_bit_lowest(colours)]);
        gg_vec4 *at = &v->shift[e * v->dims.slots + slot], kept = *at;
        float body[GG_BODY], shift[4] = {kept.x, kept.y, kept.z, kept.w};
        gg_body_load(bodies + slot * GG_BODY, body);
        while (colours) {
            contact now = next;
            colours &= colours - 1;
            if (colours) {
                next = load(found[gg_bit_lowest(colours)]);
            }
            add(now, body, shift);
        }
        gg_body_store(bodies + slot * GG_BODY, body);
        gg_vec4 moved = {shift[0], shift[1], shift[2], shift[3]};
        GG_STORE_VEC4(at, moved);
    }
};

/* Prepares the contacts of all colours, and returns 1; or 0, and has only opened their spans, where there are more
 * colours than grains find their contacts by, or some of the last. */
__device__ __forceinline__ int gg_gpu_prepare(const gg_gpu_team *team, const gg_view *v, int64_t e) {
    gg_gpu_open_spans(team, v, e);
    int32_t colours = team->memory->spans.colours;
    if (gg_step_condition(&v->env[e], GG_HAS_REST) || colours > GG_COLOURS_FOUND) {
        return 0;
    }
    if (colours == 0) {
        return 1; /* also where the env stands still: nothing is there that it could start from */
    }
    int extrapolate = gg_gpu_sweeps_extrapolate(team, v, e);
    gg_each_coloured(team, v, e, [&](const gg_scalar_records &at, int32_t colour) {
        gg_scalar_vec torque = gg_scalar_zero();
        if (v->params.rolling) {
            torque = gg_scalar_last_torque(v, e, &at);
        }
        gg_scalar_start start = gg_scalar_prepare_contacts(v, e, &at, gg_scalar_last_impulse(v, e, &at), torque);
        gg_scalar_store3(v->push + at.contact3, start.push);
        if (extrapolate && at.count) {
            gg_gpu_note_first(v, e, &at, colour);
        }
    });
    gg_gpu_wait(team);
    gg_gpu_starter starter = {v, gg_scalar_start_impulses(v, e), gg_scalar_start_torques(v, e),
                              v->body_a + e * v->dims.bodies * GG_BODY, gg_gpu_contact_first(v, e)};
    gg_each_slot(team, [&](int64_t slot) { starter.start(e, slot); });
    gg_gpu_wait(team);
    return 1;
}

/* ---- sweeps ----
 *
 * Where the bodies of an env fit into the shared memory of its block, its sweeps work on them there: advance_bodies brings
 * them, note_change, which follows the last sweep, takes them back. */

/* the bodies that the sweeps of an env work on, in shared memory; NULL: those in memory. Contacts of the last colour are
 * solved by the shared body, which knows only these. */
__device__ __forceinline__ float *gg_gpu_near(const gg_gpu_team *team, const gg_view *v, int64_t e) {
    return team->near && !v->env[e].rest ? gg_near_memory() : NULL;
}

/* the same of those before the last sweep, with GG_NEAR_BOTH */
__device__ __forceinline__ float *gg_gpu_near_before(const gg_view *v) {
    return gg_near_memory() + v->dims.bodies * GG_BODY;
}

/* Extrapolates bodies by the momentum of a sweep. Four vectors are on their way at a time. */
__device__ __forceinline__ void gg_gpu_advance(float *now, float *before, int64_t count, int64_t rank, int64_t size,
                                               int32_t sweep, float beta) {
    for (int64_t first = 4 * rank; first < count; first += 16 * size) {
        gg_vec4 a[4] = GG_ZERO, b[4] = GG_ZERO;
        GG_UNROLL(4)
        for (int j = 0; j < 4; j++) {
            int64_t k = first + 4 * j * size;
            if (k < count) {
                a[j] = *(const gg_vec4 *)(now + k);
                if (sweep > 1) {
                    b[j] = *(const gg_vec4 *)(before + k);
                }
            }
        }
        GG_UNROLL(4)
        for (int j = 0; j < 4; j++) {
            int64_t k = first + 4 * j * size;
            if (k < count && sweep > 1) {
                gg_vec4 next = {
                    gg_scalar_extrapolated(a[j].x, b[j].x, beta), gg_scalar_extrapolated(a[j].y, b[j].y, beta),
                    gg_scalar_extrapolated(a[j].z, b[j].z, beta), gg_scalar_extrapolated(a[j].w, b[j].w, beta)};
                GG_STORE_VEC4((gg_vec4 *)(now + k), next);
            }
            if (k < count) {
                GG_STORE_VEC4((gg_vec4 *)(before + k), a[j]);
            }
        }
    }
}

__device__ __forceinline__ void gg_gpu_advance_bodies(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                      int32_t sweep) {
    if (v->env[e].converged) {
        return;
    }
    float *bodies = v->body_a + e * v->dims.bodies * GG_BODY, *before = v->body_b + e * v->dims.bodies * GG_BODY;
    int64_t rank = gg_team_rank(team), size = gg_team_size(team), floats = gg_live_slots(v, e) * GG_BODY;
    if (gg_gpu_near(team, v, e)) {
        /* all bodies at first; later those of contacts with dynamic tools, whose velocities have changed */
        float *near = gg_near_memory();
        int64_t begin = sweep ? v->dims.free_bodies * GG_BODY : 0;
        int64_t end = (v->dims.free_bodies + gg_tool_loads(v, e)) * GG_BODY;
        for (int64_t k = begin + 4 * rank; k < (sweep && !v->params.dynamic ? 0 : end); k += 4 * size) {
            *(gg_vec4 *)(near + k) = *(const gg_vec4 *)(bodies + k);
        }
        if (sweep && team->near == GG_NEAR_BOTH) {
            gg_gpu_advance(near, gg_gpu_near_before(v), floats, rank, size, sweep, v->beta[sweep]);
        } else if (sweep) {
            gg_gpu_advance(near, before, floats, rank, size, sweep, v->beta[sweep]);
        }
    } else if (sweep) {
        gg_gpu_advance(bodies, before, floats, rank, size, sweep, v->beta[sweep]);
    }
}

/* a vector of the last two iterates; it is advanced where it is used, so that nobody waits for it before */
struct gg_gpu_iterates {
    gg_scalar_vec now, before;
};
__device__ __forceinline__ gg_gpu_iterates gg_gpu_iterates_of(const float *now, const float *before, int32_t sweep) {
    gg_gpu_iterates of;
    of.now = gg_scalar_load3(now);
    of.before = gg_scalar_zero();
    if (sweep > 1) {
        of.before = gg_scalar_load3(before);
    }
    return of;
}

/* Solves contacts in the build that the env's features ask for. near: their bodies are in shared memory.
 *
 * What a contact reads besides its bodies is loaded before the one before it is solved, and where bodies are in memory
 * those of the next of the same colour, too: none of these changes them, and memory answers meanwhile. To know its bodies
 * then, a thread loads their indices one contact earlier still. */
template <int spin, int rolling, int cohesive, int near> struct gg_gpu_sweeper {
    struct contact {
        gg_gpu_pair of;
        uint32_t at;
        int32_t live; /* 0: it only fills up the last row of its colour */
        gg_scalar_vec normal;
        gg_gpu_iterates impulse, torque;
        float mass, bias, attraction, friction, roll_weight, roll_limit, twist_limit;
    };
    struct sides {
        float own[GG_BODY], other[GG_BODY];
    };
    gg_scalar_sweep s;
    const int32_t *own, *other; /* indices of bodies, marked where sweeps extrapolate */
    float *before;              /* bodies before the last sweep */

    __device__ __forceinline__ gg_gpu_pair pair(uint32_t contact) const {
        gg_gpu_pair found = {own[contact], other[contact]};
        return found;
    }

    __device__ __forceinline__ contact load(uint32_t at, int live, gg_gpu_pair of) const {
        const gg_view *v = s.v;
        uint32_t at3 = gg_gpu_contact3(at);
        contact c;
        c.of = of;
        c.at = at;
        c.live = live;
        c.normal = gg_scalar_load3(v->normal + at3);
        c.mass = v->effective_mass[at];
        c.bias = v->bias[at];
        c.friction = v->friction[at];
        c.impulse = gg_gpu_iterates_of(s.impulse + at3, s.impulse_next + at3, s.sweep);
        c.attraction = cohesive ? v->attraction[at] : 0.0f;
        if (rolling) {
            c.torque = gg_gpu_iterates_of(s.roll + at3, s.roll_next + at3, s.sweep);
            c.roll_weight = v->roll_weight[at];
            c.roll_limit = v->roll_limit[at];
            c.twist_limit = cohesive ? v->twist_limit[at] : 0.0f;
        }
        return c;
    }
    /* of a live contact: those of others may be written meanwhile */
    __device__ __forceinline__ void load_sides(const contact &c, sides *of) const {
        gg_body_load(s.bodies + gg_gpu_body_of(c.of.own) * GG_BODY, of->own);
        gg_body_load(s.bodies + gg_gpu_body_of(c.of.other) * GG_BODY, of->other);
    }
    /* of a live contact: what its bodies were before the last sweep, where it is their first; no other changes it */
    __device__ __forceinline__ void load_before(const contact &c, sides *of) const {
        if (s.sweep > 1 && c.of.own < 0) {
            gg_body_load(before + gg_gpu_body_of(c.of.own) * GG_BODY, of->own);
        }
        if (s.sweep > 1 && c.of.other < 0) {
            gg_body_load(before + gg_gpu_body_of(c.of.other) * GG_BODY, of->other);
        }
    }
    /* extrapolates a body where this is its first contact, and keeps what it was */
    __device__ __forceinline__ void extrapolate(int32_t marked, float *body, const float *old) const {
        if (marked >= 0) {
            return;
        }
        gg_body_store(before + gg_gpu_body_of(marked) * GG_BODY, body);
        for (int k = 0; s.sweep > 1 && k < 6; k++) {
            float *velocity = &body[k + k / 3];
            *velocity = gg_scalar_extrapolated(*velocity, old[k + k / 3], s.beta);
        }
    }
    __device__ __forceinline__ void solve(const contact &of, sides &with, const sides &old) const {
        if (!near) {
            extrapolate(of.of.own, with.own, old.own);
            extrapolate(of.of.other, with.other, old.other);
        }
        gg_scalar_swept c;
        c.at.contact3 = c.at.roll3 = gg_gpu_contact3(of.at);
        c.normal = of.normal;
        c.mass = of.mass;
        c.bias = of.bias;
        c.attraction = of.attraction;
        c.friction = of.friction;
        c.start = gg_scalar_advanced(of.impulse.now, of.impulse.before, s.sweep, s.beta);
        for (int k = 0; k < GG_BODY; k++) {
            c.own[k] = with.own[k];
            c.other[k] = with.other[k];
        }
        gg_scalar_sweep_press(&c, spin, cohesive);
        gg_scalar_sweep_rub(&s, &c, spin);
        if (rolling) {
            c.torque = gg_scalar_advanced(of.torque.now, of.torque.before, s.sweep, s.beta);
            c.roll_weight = of.roll_weight;
            c.roll_limit = of.roll_limit;
            c.twist_limit = of.twist_limit;
            gg_scalar_sweep_roll(&s, &c, cohesive);
        }
        gg_body_store(s.bodies + gg_gpu_body_of(of.of.own) * GG_BODY, c.own);
        gg_body_store(s.bodies + gg_gpu_body_of(of.of.other) * GG_BODY, c.other);
    }
    /* a contact that is not live has no impulse */
    __device__ __forceinline__ void fill(const contact &of) const {
        uint32_t at3 = gg_gpu_contact3(of.at);
        gg_scalar_store3(s.impulse_next + at3, gg_scalar_zero());
        if (rolling) {
            gg_scalar_store3(s.roll_next + at3, gg_scalar_zero());
        }
    }

    /* All colours but the last, one after another. The last of these have few contacts. The first block solves them and
     * meets the others after the last one: a barrier of its own is faster. */
    __device__ __forceinline__ void sweep(const gg_gpu_team *team, int64_t e) const {
        const gg_colour_spans *spans = &team->memory->spans;
        const int32_t colours = spans->colours, size = gg_team_size(team);
        const int32_t spread = gg_team_spread_rank(team), alone = team->block ? INT32_MAX / 2 : (int32_t)threadIdx.x;
        const uint32_t base = gg_gpu_contact_first(s.v, e);
        int32_t tail = colours;
        while (team->blocks > 1 && tail > 0 && spans->of[tail - 1].live - spans->of[tail - 1].begin <= GG_THREADS) {
            tail--;
        }
        contact next = GG_ZERO;
        sides next_sides = GG_ZERO, old = GG_ZERO;
        gg_gpu_pair after = GG_ZERO;   /* the bodies of the contact after the next one, of the same colour */
        gg_colour_span span = GG_ZERO; /* of the colour of the next one */
        int32_t k = 0;                 /* the record of the next one; the end of the span: there is none */
        for (int32_t colour = -1; colour < colours; colour++) {
            int has = k < span.end;
            if (has && !near && next.live) {
                load_sides(next, &next_sides);
            }
            for (int again = 1; again;) {
                contact now = next;
                sides now_sides = next_sides;
                has = k < span.end;
                again = k + size < span.end;
                if (again) {
                    k += size;
                } else if (colour + 1 < colours) {
                    span = spans->of[colour + 1];
                    k = span.begin + (colour + 1 < tail ? spread : alone);
                } else {
                    k = span.end;
                }
                if (k < span.end) {
                    uint32_t at = base + (uint32_t)k;
                    next = load(at, k < span.live, again && !near ? after : pair(at));
                    if (!near && k + size < span.end) {
                        after = pair(at + (uint32_t)size);
                    }
                }
                if (again && !near && next.live) {
                    load_sides(next, &next_sides);
                }
                if (has && now.live) {
                    if (near) {
                        load_sides(now, &now_sides);
                    }
                    solve(now, now_sides, old);
                } else if (has) {
                    fill(now);
                }
                if (!near && k < span.end && next.live) {
                    load_before(next, &old);
                }
            }
            if (colour < 0) {
                continue;
            }
            if (colour < tail || colour + 1 == colours) {
                gg_gpu_wait(team);
            } else {
                __syncthreads();
            }
        }
    }

    static __device__ __forceinline__ void run(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t number) {
        int extrapolates = !near && number > 0 && gg_gpu_sweeps_extrapolate(team, v, e);
        gg_gpu_sweeper sweeper = {gg_scalar_sweep_of(v, e, number), extrapolates ? v->sweep_own : v->first_body,
                                  extrapolates ? v->sweep_other : v->other_body,
                                  v->body_b + e * v->dims.bodies * GG_BODY};
        if (near) {
            sweeper.s.bodies = gg_near_memory();
        }
        sweeper.sweep(team, e);
    }
};

template <int spin, int rolling, int cohesive>
__device__ __forceinline__ void gg_gpu_sweep_with(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                  int32_t number) {
    gg_gpu_near(team, v, e) ? gg_gpu_sweeper<spin, rolling, cohesive, 1>::run(team, v, e, number)
                            : gg_gpu_sweeper<spin, rolling, cohesive, 0>::run(team, v, e, number);
}

/* one sweep over all colours but the last */
__device__ __forceinline__ void gg_gpu_sweep(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t number) {
    if (v->env[e].converged) {
        return;
    }
    const gg_params *p = &v->params;
    if (p->cohesive) {
        p->rolling ? gg_gpu_sweep_with<1, 1, 1>(team, v, e, number)
        : p->spin  ? gg_gpu_sweep_with<1, 0, 1>(team, v, e, number)
                   : gg_gpu_sweep_with<0, 0, 1>(team, v, e, number);
    } else if (p->rolling) {
        gg_gpu_sweep_with<1, 1, 0>(team, v, e, number);
    } else {
        p->spin ? gg_gpu_sweep_with<1, 0, 0>(team, v, e, number) : gg_gpu_sweep_with<0, 0, 0>(team, v, e, number);
    }
}

__device__ __forceinline__ void gg_gpu_sweep_colour(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                    int32_t pass) {
    if (v->env[e].converged) {
        return;
    }
    gg_scalar_sweep s = gg_scalar_sweep_of(v, e, pass / GG_COLOURS);
    gg_each_record(team, v, e, pass % GG_COLOURS,
                   [&](const gg_scalar_records &at) { gg_scalar_sweep_features(&s, &at, NULL); });
}

__device__ __forceinline__ void gg_gpu_prepare_clumps(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                      int32_t colour) {
    if (gg_lone_colour(v, colour)) {
        gg_gpu_prepare_colour(team, v, e, colour);
        return;
    }
    gg_each_record(team, v, e, colour,
                   [&](const gg_scalar_records &at) { gg_scalar_prepare_clump_records(v, e, &at); });
}

__device__ __forceinline__ void gg_gpu_sweep_clumps(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                    int32_t pass) {
    if (gg_lone_colour(v, pass % GG_COLOURS)) {
        gg_gpu_sweep_colour(team, v, e, pass);
        return;
    }
    if (v->env[e].converged) {
        return;
    }
    gg_scalar_sweep s = gg_scalar_sweep_of(v, e, pass / GG_COLOURS);
    gg_each_record(team, v, e, pass % GG_COLOURS,
                   [&](const gg_scalar_records &at) { gg_scalar_sweep_clump_features(&s, e, &at); });
}

__device__ __forceinline__ void gg_gpu_note_change(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    float *bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    const float *near = gg_gpu_near(team, v, e), *before = v->body_b + e * v->dims.bodies * GG_BODY;
    int extrapolated = v->params.iterations > 1 && gg_gpu_sweeps_extrapolate(team, v, e);
    gg_each_slot(team, [&](int64_t slot) {
        float own = 0.0f, body[GG_BODY], old[GG_BODY];
        if (near) {
            gg_body_load(gg_near_memory() + slot * GG_BODY, body);
            gg_body_store(bodies + slot * GG_BODY, body);
        } else {
            gg_body_load(bodies + slot * GG_BODY, body);
        }
        /* what has no contacts has not changed, and was not kept; the only sweep has brought none before it near */
        int changed = !extrapolated || v->colours[e * v->dims.slots + slot];
        if (near && team->near == GG_NEAR_BOTH && v->params.iterations > 1) {
            gg_body_load(gg_gpu_near_before(v) + slot * GG_BODY, old);
        } else if (changed) {
            gg_body_load(before + slot * GG_BODY, old);
        }
        for (int k = 0; changed && k < GG_BODY; k++) {
            own = gg_maxf(own, gg_scalar_change(body + k, old + k));
        }
        gg_slice_note(team->memory->change, own, slot, [&](int64_t slice, const float *each) {
            float most = 0.0f;
            for (int k = 0; k < GG_LANES; k++) {
                most = gg_maxf(most, each[k]);
            }
            v->slice_stats[e * v->dims.slices + slice].residual = most;
        });
    });
}

__device__ __forceinline__ void gg_gpu_note_overlaps(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_each_slot(team, [&](int64_t slot) {
        gg_overlaps own;
        gg_scalar_overlaps_of(v, e, slot / GG_LANES, (int)(slot % GG_LANES), &own);
        gg_slice_note(team->memory->overlaps, own, slot,
                      [&](int64_t slice, const gg_overlaps *each) { gg_contacts_prepared(v, e, slice, each); });
    });
}

__device__ __forceinline__ void gg_gpu_coloured_load_tools(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                           int32_t) {
    gg_each_slot(team, [&](int64_t slot) { gg_coloured_close_tools(v, e, slot); });
}

__device__ __forceinline__ void gg_gpu_coloured_integrate(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                          int32_t) {
    gg_each_slot(team, [&](int64_t slot) {
        gg_motion own = GG_ZERO;
        gg_scalar_keep_lists(v, e, slot);
        if (slot < v->dims.grain_count) {
            gg_scalar_coloured_integrate_lanes(v, e, slot, &own);
        }
        gg_slice_note(team->memory->motion, own, slot,
                      [&](int64_t slice, const gg_motion *each) { gg_motion_integrated(v, e, slice, each); });
    });
}

#endif
