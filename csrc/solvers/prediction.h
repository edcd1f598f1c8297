/* prediction.h: what the start of a substep reports and notes of each grain; predict.h finds it. */
#ifndef GG_PREDICTION_H
#define GG_PREDICTION_H

#include "drag.h"

/* gives the grain of a slot the velocity that was noted */
GG_FN_LARGE void gg_predict_undo(const gg_view *v, int64_t e, int64_t i) {
    int64_t id = v->grain_id[e * v->dims.slots + i];
    const float *note = gg_before_prediction(v, e) + id * 6;
    for (int k = 0; k < 3; k++) {
        gg_slot_body_at(v, e, i)[k] = note[k];
        v->velocity_error[(e * v->dims.slots + id) * 3 + k] = note[3 + k];
    }
}

/* contribution of one grain to the prediction of its slice */
typedef struct gg_prediction {
    float displacement2, speed2;
    int32_t bad;
    int32_t hurried; /* moves by more than GG_HURRY, see contact/narrow.h */
} gg_prediction;

/* records the predictions of the grains of a slice, in order of lanes */
GG_FN void gg_predicted(const gg_view *v, int64_t e, int64_t slice, const gg_prediction each[GG_LANES]) {
    gg_slice_stats *stats = &v->slice_stats[e * v->dims.slices + slice];
    float displacement2 = 0.0f, speed2 = 0.0f;
    int32_t bad = 0, hurried = 0;
    for (int lane = 0; lane < GG_LANES; lane++) {
        displacement2 = gg_maxf(displacement2, each[lane].displacement2);
        speed2 = gg_maxf(speed2, each[lane].speed2);
        bad += each[lane].bad;
        hurried += each[lane].hurried;
    }
    stats->displacement2 = displacement2;
    stats->speed2 = speed2;
    stats->bad = bad;
    stats->hurried = hurried;
}

#endif
