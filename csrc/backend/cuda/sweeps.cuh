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

/* ---- passes over all colours ----
 *
 * What a contact reads besides its bodies is loaded before the contacts of the colour before are solved, and its bodies
 * before the last contact of its own colour: none of these changes them, and memory answers meanwhile. To know its bodies
 * then, a thread loads their indices one contact earlier still. */

/* tells a block where the contacts of each colour lie, until the next substep */
__device__ __forceinline__ void gg_gpu_open_rows(const gg_gpu_team *team, const gg_view *v, int64_t e) {
    gg_colour_rows *rows = &team->memory->rows;
    for (int32_t k = (int32_t)threadIdx.x; k <= GG_COLOURS; k += GG_THREADS) {
        rows->first_row[k] = v->colouring[e].first_row[k];
        if (k < GG_COLOURS) {
            rows->contacts[k] = v->colouring[e].contacts[k];
        } else {
            rows->colours = gg_step_colours(&v->env[e]);
        }
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

/* the bodies of a contact */
struct gg_gpu_pair {
    int32_t own, other;
};
__device__ __forceinline__ gg_gpu_pair gg_gpu_pair_of(const gg_view *v, uint32_t contact) {
    gg_gpu_pair pair = {v->first_body[contact], v->other_body[contact]};
    return pair;
}

/* All colours but the last, one after another. job: a struct with a type `contact`, which begins with the members `of`
 * (gg_gpu_pair), `at` (the index of the contact) and `live` (0: it only fills up the last row of its colour), and with the
 * functions load(contact *), load_bodies(contact *) and solve(contact).
 *
 * The last colours have few contacts. The first block solves them and meets the others after the last one: a barrier of
 * its own is faster. */
template <class Job>
__device__ __forceinline__ void gg_gpu_each_colour(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                   const Job &job) {
    const gg_colour_rows *rows = &team->memory->rows;
    const int32_t colours = rows->colours, size = gg_team_size(team);
    const int32_t spread = gg_team_spread_rank(team), alone = team->block ? INT32_MAX / 2 : (int32_t)threadIdx.x;
    const uint32_t base = gg_gpu_contact_first(v, e);
    int32_t tail = colours;
    while (team->blocks > 1 && tail > 0 && rows->contacts[tail - 1] <= GG_THREADS) {
        tail--;
    }
    typename Job::contact next = GG_ZERO, now;
    gg_gpu_pair after = GG_ZERO; /* the bodies of the contact after the next one of this thread, of the same colour */
    auto load = [&](int32_t colour, int32_t k, gg_gpu_pair of) {
        int32_t first = rows->first_row[colour] * GG_LANES;
        next.of = of;
        next.at = base + (uint32_t)k;
        next.live = k - first < rows->contacts[colour];
        job.load(&next);
        if (k + size < rows->first_row[colour + 1] * GG_LANES) {
            after = gg_gpu_pair_of(v, next.at + (uint32_t)size);
        }
    };
    auto load_first = [&](int32_t colour) {
        if (colour >= colours) {
            return; /* where there is none, no barrier follows that would keep the rows until they are read */
        }
        int32_t k = rows->first_row[colour] * GG_LANES + (colour < tail ? spread : alone);
        if (k < rows->first_row[colour + 1] * GG_LANES) {
            load(colour, k, gg_gpu_pair_of(v, base + (uint32_t)k));
        }
    };
    load_first(0);
    for (int32_t colour = 0; colour < colours; colour++) {
        int32_t end = rows->first_row[colour + 1] * GG_LANES;
        int32_t k = rows->first_row[colour] * GG_LANES + (colour < tail ? spread : alone);
        if (k >= end) {
            load_first(colour + 1);
        } else {
            job.load_bodies(&next);
        }
        while (k < end) {
            now = next;
            k += size;
            if (k < end) {
                load(colour, k, after);
                job.load_bodies(&next);
            } else {
                load_first(colour + 1);
            }
            job.solve(now);
        }
        if (colour < tail || colour + 1 == colours) {
            gg_gpu_wait(team);
        } else {
            __syncthreads();
        }
    }
}

/* ---- the start ----
 *
 * Preparing a contact changes no other: all are prepared at once. What they start with is added to their bodies colour by
 * colour. Until the first sweep writes there, the buffers of the last impulses keep the position corrections. */

/* position corrections of contacts, once their last impulses have been gathered */
__device__ __forceinline__ float *gg_gpu_pushes(const gg_view *v, int64_t e) {
    return v->env[e].impulse_buffer ? v->impulse_b : v->impulse_a;
}

/* calls body(records) for the team's share of the contacts of all colours but the last, in whole rows */
template <class Body>
__device__ __forceinline__ void gg_each_coloured(const gg_gpu_team *team, const gg_view *v, int64_t e, Body body) {
    const gg_colour_rows *rows = &team->memory->rows;
    int32_t colour = 0, end = rows->first_row[rows->colours] * GG_LANES;
    for (int32_t k = gg_team_spread_rank(team); k < end; k += gg_team_size(team)) {
        while (k >= rows->first_row[colour + 1] * GG_LANES) {
            colour++;
        }
        body(gg_scalar_records_at(v, e, k, rows->first_row[colour] * GG_LANES + rows->contacts[colour]));
    }
}

/* adds what contacts start with to their bodies */
struct gg_gpu_starter {
    struct contact {
        gg_gpu_pair of;
        uint32_t at;
        int32_t live;
        gg_scalar_vec normal, impulse, torque, push;
        float own[GG_BODY], other[GG_BODY];
        gg_vec4 shift, other_shift;
    };
    const gg_view *v;
    float *bodies;
    gg_vec4 *shifts;
    const float *impulse, *torque, *push;

    __device__ __forceinline__ void load(contact *c) const {
        uint32_t at3 = gg_gpu_contact3(c->at);
        c->normal = gg_scalar_load3(v->normal + at3);
        c->impulse = gg_scalar_load3(impulse + at3);
        c->push = gg_scalar_load3(push + at3);
        if (v->params.rolling) {
            c->torque = gg_scalar_load3(torque + at3);
        }
    }
    __device__ __forceinline__ void load_bodies(contact *c) const {
        if (!c->live) {
            return;
        }
        gg_body_load(bodies + (uint32_t)c->of.own * GG_BODY, c->own);
        gg_body_load(bodies + (uint32_t)c->of.other * GG_BODY, c->other);
        c->shift = shifts[c->of.own];
        if (!gg_is_tool(v, c->of.other)) {
            c->other_shift = shifts[c->of.other];
        }
    }
    /* tools stay where they are */
    __device__ __forceinline__ void solve(const contact &of) const {
        if (!of.live) {
            return;
        }
        contact c = of;
        gg_scalar_vec twist = gg_scalar_cross(c.normal, c.impulse);
        float mass = c.own[GG_BODY_INVERSE_MASS], other_mass = c.other[GG_BODY_INVERSE_MASS];
        gg_scalar_start_side(&v->params, c.own, 1.0f, c.impulse, twist, c.torque);
        gg_scalar_start_side(&v->params, c.other, -1.0f, c.impulse, twist, c.torque);
        gg_body_store(bodies + (uint32_t)c.of.own * GG_BODY, c.own);
        gg_body_store(bodies + (uint32_t)c.of.other * GG_BODY, c.other);
        move(c.of.own, c.shift, mass, c.push);
        if (!gg_is_tool(v, c.of.other)) {
            move(c.of.other, c.other_shift, 0.0f - other_mass, c.push);
        }
    }
    __device__ __forceinline__ void move(int32_t slot, gg_vec4 shift, float inverse_mass, gg_scalar_vec by) const {
        float moved[4] = {shift.x, shift.y, shift.z, shift.w};
        gg_scalar_shift_side(moved, inverse_mass, by);
        gg_vec4 to = {moved[0], moved[1], moved[2], moved[3]};
        GG_STORE_VEC4(&shifts[slot], to);
    }
};

/* Prepares the contacts of all colours but the last, and returns 1; or 0, and has done nothing, where there is a last one,
 * whose contacts ask for their last impulses later. */
__device__ __forceinline__ int gg_gpu_prepare(const gg_gpu_team *team, const gg_view *v, int64_t e) {
    gg_gpu_open_rows(team, v, e);
    if (gg_step_condition(&v->env[e], GG_HAS_REST)) {
        return 0;
    }
    float *impulse = gg_scalar_start_impulses(v, e), *torque = gg_scalar_start_torques(v, e);
    gg_each_coloured(team, v, e, [&](const gg_scalar_records &at) {
        gg_scalar_store3(impulse + at.contact3, gg_scalar_last_impulse(v, e, &at));
        if (v->params.rolling) {
            gg_scalar_store3(torque + at.roll3, gg_scalar_last_torque(v, e, &at));
        }
    });
    gg_gpu_wait(team);
    float *push = gg_gpu_pushes(v, e);
    gg_each_coloured(team, v, e, [&](const gg_scalar_records &at) {
        gg_scalar_vec last = gg_scalar_zero();
        if (v->params.rolling) {
            last = gg_scalar_load3(torque + at.roll3);
        }
        gg_scalar_start start = gg_scalar_prepare_contacts(v, e, &at, gg_scalar_load3(impulse + at.contact3), last);
        gg_scalar_store3(push + at.contact3, start.push);
    });
    gg_gpu_wait(team);
    gg_gpu_starter starter = {
        v, v->body_a + e * v->dims.bodies * GG_BODY, v->shift + e * v->dims.slots, impulse, torque, push};
    gg_gpu_each_colour(team, v, e, starter);
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
        if (sweep) {
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

/* solves contacts in the build that the env's features ask for */
template <int spin, int rolling, int cohesive> struct gg_gpu_sweeper {
    struct contact {
        gg_gpu_pair of;
        uint32_t at;
        int32_t live;
        gg_scalar_vec normal;
        gg_gpu_iterates impulse, torque;
        float mass, bias, attraction, friction, roll_weight, roll_limit, twist_limit;
        float own[GG_BODY], other[GG_BODY];
    };
    gg_scalar_sweep s;

    __device__ __forceinline__ void load(contact *c) const {
        const gg_view *v = s.v;
        uint32_t at = c->at, at3 = gg_gpu_contact3(at);
        c->normal = gg_scalar_load3(v->normal + at3);
        c->mass = v->effective_mass[at];
        c->bias = v->bias[at];
        c->friction = v->friction[at];
        c->impulse = gg_gpu_iterates_of(s.impulse + at3, s.impulse_next + at3, s.sweep);
        c->attraction = cohesive ? v->attraction[at] : 0.0f;
        if (rolling) {
            c->torque = gg_gpu_iterates_of(s.roll + at3, s.roll_next + at3, s.sweep);
            c->roll_weight = v->roll_weight[at];
            c->roll_limit = v->roll_limit[at];
            c->twist_limit = cohesive ? v->twist_limit[at] : 0.0f;
        }
    }
    /* none of a contact that is not live: others write them meanwhile. It has no mass, so that its impulse stays 0 beside
     * any bodies */
    __device__ __forceinline__ void load_bodies(contact *c) const {
        if (c->live) {
            gg_body_load(s.bodies + (uint32_t)c->of.own * GG_BODY, c->own);
            gg_body_load(s.bodies + (uint32_t)c->of.other * GG_BODY, c->other);
        }
    }
    __device__ __forceinline__ void solve(const contact &of) const {
        gg_scalar_swept c;
        c.at.contact3 = c.at.roll3 = gg_gpu_contact3(of.at);
        c.normal = of.normal;
        c.mass = of.mass;
        c.bias = of.bias;
        c.attraction = of.attraction;
        c.friction = of.friction;
        c.start = gg_scalar_advanced(of.impulse.now, of.impulse.before, s.sweep, s.beta);
        for (int k = 0; k < GG_BODY; k++) {
            c.own[k] = of.own[k];
            c.other[k] = of.other[k];
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
        if (of.live) {
            gg_body_store(s.bodies + (uint32_t)of.of.own * GG_BODY, c.own);
            gg_body_store(s.bodies + (uint32_t)of.of.other * GG_BODY, c.other);
        }
    }

    static __device__ __forceinline__ void sweep(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t number) {
        gg_gpu_sweeper job = {gg_scalar_sweep_of(v, e, number)};
        if (gg_gpu_near(team, v, e)) {
            job.s.bodies = gg_near_memory();
            gg_gpu_each_colour(team, v, e, job);
        } else {
            gg_gpu_each_colour(team, v, e, job);
        }
    }
};

/* one sweep over all colours but the last */
__device__ __forceinline__ void gg_gpu_sweep(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t number) {
    if (v->env[e].converged) {
        return;
    }
    const gg_params *p = &v->params;
    if (p->cohesive) {
        p->rolling ? gg_gpu_sweeper<1, 1, 1>::sweep(team, v, e, number)
        : p->spin  ? gg_gpu_sweeper<1, 0, 1>::sweep(team, v, e, number)
                   : gg_gpu_sweeper<0, 0, 1>::sweep(team, v, e, number);
    } else if (p->rolling) {
        gg_gpu_sweeper<1, 1, 0>::sweep(team, v, e, number);
    } else {
        p->spin ? gg_gpu_sweeper<1, 0, 0>::sweep(team, v, e, number)
                : gg_gpu_sweeper<0, 0, 0>::sweep(team, v, e, number);
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
    gg_each_slot(team, [&](int64_t slot) {
        float own = 0.0f, body[GG_BODY], old[GG_BODY];
        if (near) {
            gg_body_load(gg_near_memory() + slot * GG_BODY, body);
            gg_body_store(bodies + slot * GG_BODY, body);
        } else {
            gg_body_load(bodies + slot * GG_BODY, body);
        }
        gg_body_load(before + slot * GG_BODY, old);
        for (int k = 0; k < GG_BODY; k++) {
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
