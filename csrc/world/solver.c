/* solver.c: the settings of the solver: defaults, checks, and the relaxation that is stable by rule. */
#include <math.h>
#include <string.h>

#include "../solvers/spheres/coloured/coloured.h"
#include "expect.h"

gg_solver gg_solver_default(void) {
    gg_solver s;
    memset(&s, 0, sizeof s);
    s.mode = GG_MODE_GAUSS_SEIDEL;
    s.iterations = 10;
    s.nesterov = 1;
    s.spin = 1;
    s.broad_phase = GG_BROAD_CELLS;
    s.alpha = 0.8f;
    s.tool_alpha = 0.5f;
    s.margin = 0.02f;
    s.skin = 0.15f;
    s.bounce_speed = 0.05f;
    s.correction_share = 0.2f;
    s.hash_ratio = 2.0f;
    s.tangential_stiffness = s.damping = s.tangential_damping = 0.5f;
    s.bell_damping_quarters = 2;
    s.bell_stiffness_quarters = 6;
    return s;
}

/* what GG_MODE_BELL asks for */
static gg_status check_bell(const gg_solver *s, gg_message out) {
    int bell = s->mode == GG_MODE_BELL;
    GG_EXPECT(out, s->integrator == GG_INTEGRATOR_VERLET || (bell && s->integrator == GG_INTEGRATOR_RKF45),
              "integrator: expected 0, in mode bell 0 or 1, got %d", (int)s->integrator);
    GG_EXPECT(out, s->integrator != GG_INTEGRATOR_RKF45 || s->tolerance > 0.0f,
              "tolerance: expected a speed > 0 for integrator rkf45, got %g", s->tolerance);
    GG_EXPECT(out, gg_within(s->bell_modulus, 0.0f, 1e15f), "bell_modulus: expected [0, 1e15] Pa, got %g",
              s->bell_modulus);
    GG_EXPECT(out, gg_within(s->bell_stiffness, 0.0f, 1e15f), "bell_stiffness: expected [0, 1e15] N/m^b, got %g",
              s->bell_stiffness);
    GG_EXPECT(out, !bell || s->bell_modulus > 0.0f || s->bell_stiffness > 0.0f,
              "bell_modulus, bell_stiffness: expected one of them > 0 for mode bell");
    GG_EXPECT(out, s->bell_stiffness > 0.0f || s->bell_stiffness_quarters == 6,
              "bell_stiffness_quarters: expected 6 with a modulus, as in the contact of Hertz, got %d",
              (int)s->bell_stiffness_quarters);
    GG_EXPECT(out, gg_within(s->bell_damping, 0.0f, 1e15f), "bell_damping: expected [0, 1e15] N s/m^(1+a), got %g",
              s->bell_damping);
    GG_EXPECT(out, gg_within(s->bell_sliding, 0.0f, 1e15f), "bell_sliding: expected [0, 1e15] N s/m, got %g",
              s->bell_sliding);
    GG_EXPECT(out, s->bell_damping_quarters >= 0 && s->bell_damping_quarters <= 16,
              "bell_damping_quarters: expected 0 to 16, got %d", (int)s->bell_damping_quarters);
    GG_EXPECT(out, s->bell_stiffness_quarters >= 4 && s->bell_stiffness_quarters <= 16,
              "bell_stiffness_quarters: expected 4 to 16, got %d", (int)s->bell_stiffness_quarters);
    GG_EXPECT(out, !bell || !s->sleep, "sleep: expected 0 in mode bell, whose grains creep");
    return GG_OK;
}

gg_status gg_solver_check(const gg_solver *s, char *message, size_t message_size) {
    gg_message out = {message, message_size};
    GG_EXPECT(out, s->mode >= GG_MODE_GAUSS_SEIDEL && s->mode <= GG_MODE_TABLE, "mode: expected 0 to 6, got %d",
              (int)s->mode);
    GG_EXPECT(out, s->broad_phase == GG_BROAD_CELLS || s->broad_phase == GG_BROAD_LINKED_HASH,
              "broad_phase: expected 0 or 1, got %d", (int)s->broad_phase);
    GG_EXPECT(out, s->iterations >= 1 && s->iterations <= GG_MAX_ITERATIONS, "iterations: expected 1 to %d, got %d",
              GG_MAX_ITERATIONS, (int)s->iterations);
    GG_EXPECT(out, gg_within(s->alpha, 0.0f, 1.0f), "alpha: expected a share in [0, 1], got %g", s->alpha);
    GG_EXPECT(out, gg_within(s->tool_alpha, 0.0f, 1.0f), "tool_alpha: expected a share in [0, 1], got %g",
              s->tool_alpha);
    GG_EXPECT(out, gg_within(s->relaxation, 0.0f, 2.0f), "relaxation: expected 0 (safe value) or (0, 2], got %g",
              s->relaxation);
    GG_EXPECT(out, gg_within(s->relaxation_sum, 0.0f, 100.0f),
              "relaxation_sum: expected 0 (safe value) or (0, 100], got %g", s->relaxation_sum);
    GG_EXPECT(out, gg_within(s->margin, 0.0f, 0.5f), "margin: expected a share in [0, 0.5], got %g", s->margin);
    GG_EXPECT(out, gg_within(s->skin, 0.01f, GG_SKIN_MAX), "skin: expected a share in [0.01, 1], got %g", s->skin);
    GG_EXPECT(out, gg_within(s->bounce_speed, 0.0f, 1e6f), "bounce_speed: expected a speed in [0, 1e6], got %g",
              s->bounce_speed);
    GG_EXPECT(out, gg_within(s->correction_share, 1e-6f, 1.0f),
              "correction_share: expected a share in [1e-6, 1], got %g", s->correction_share);
    GG_EXPECT(out, gg_within(s->tolerance, 0.0f, 1e6f), "tolerance: expected a speed in [0, 1e6], got %g",
              s->tolerance);
    GG_EXPECT(out, gg_within(s->hash_ratio, 0.01f, 64.0f), "hash_ratio: expected a ratio in [0.01, 64], got %g",
              s->hash_ratio);
    GG_EXPECT(out, s->sleep == 0 || s->sleep == 1, "sleep: expected 0 or 1, got %d", (int)s->sleep);
    GG_EXPECT(out, gg_within(s->stiffness, 0.0f, 1e15f), "stiffness: expected [0, 1e15] N/m, got %g", s->stiffness);
    GG_EXPECT(out, s->mode != GG_MODE_PENALTY || s->stiffness > 0.0f,
              "stiffness: expected a value > 0 N/m for mode penalty, got %g", s->stiffness);
    GG_EXPECT(out, gg_within(s->tangential_stiffness, 0.0f, 1.0f),
              "tangential_stiffness: expected a share in [0, 1], got %g", s->tangential_stiffness);
    GG_EXPECT(out, gg_within(s->damping, 0.0f, 1.0f), "damping: expected a share in [0, 1], got %g", s->damping);
    GG_EXPECT(out, gg_within(s->tangential_damping, 0.0f, 1.0f),
              "tangential_damping: expected a share in [0, 1], got %g", s->tangential_damping);
    GG_EXPECT(out, s->mode != GG_MODE_TABLE || !s->sleep, "sleep: expected 0 in mode table, whose grains creep");
    return check_bell(s, out);
}

float gg_penalty_step_bound(const gg_solver *s, float mass) {
    double zeta = s->damping;
    return (float)(2.0 * sqrt((double)mass / s->stiffness) * (sqrt(1.0 + zeta * zeta) - zeta));
}

void gg_solver_safe_relaxation(const gg_solver *s, int tools, float *relaxation, float *sum) {
    if (s->mode == GG_MODE_GAUSS_SEIDEL) {
        /* over-relaxed, jammed grains are thrown; without acceleration so is a bed that is ploughed */
        *relaxation = s->nesterov && !tools && s->iterations <= GG_OVER_RELAXED ? GG_OVER_RELAXATION : 1.0f;
        *sum = 100.0f; /* contacts are solved in turn: their sum has no bound */
        return;
    }
    if (s->mode == GG_MODE_PAPER || !s->spin) {
        /* without spin the tangential rows couple harder */
        *relaxation = 0.3f;
        *sum = s->nesterov || s->mode == GG_MODE_PAPER ? 1.2f : 1.6f;
        return;
    }
    *relaxation = 0.5f;
    /* acceleration bears less relaxation with many iterations, and with tools, which can jam a bed */
    *sum = !s->nesterov ? 3.0f : (s->iterations >= 20 || tools) ? 1.5f : 2.0f;
}
