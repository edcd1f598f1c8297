/* tangent_values.h: what the stress of particles makes of the gradient of a direction, in single precision. Included once for
 * each kind of value, one float a particle, by who defines GG_TANGENT(name), GG_TANGENT_VALUE and GG_TANGENT_HALF.
 *
 * g[i][j]: derivative of component i along axis j; it becomes what is given along the axes.
 */
GG_FN void GG_TANGENT(times)(const GG_TANGENT_VALUE g[3][3], const GG_TANGENT_VALUE b[6], GG_TANGENT_VALUE out[3][3]) {
    for (int i = 0; i < 3; i++) {
        out[i][0] = g[i][0] * b[0] + g[i][1] * b[3] + g[i][2] * b[4];
        out[i][1] = g[i][0] * b[3] + g[i][1] * b[1] + g[i][2] * b[5];
        out[i][2] = g[i][0] * b[4] + g[i][1] * b[5] + g[i][2] * b[2];
    }
}
GG_FN void GG_TANGENT(apply)(GG_TANGENT_VALUE bulk, GG_TANGENT_VALUE shear, GG_TANGENT_VALUE soften,
                             const GG_TANGENT_VALUE lever[6], const GG_TANGENT_VALUE flow[6],
                             GG_TANGENT_VALUE g[3][3]) {
    GG_TANGENT_VALUE t[3][3], s[6];
    GG_TANGENT(times)(g, lever, t);
    GG_TANGENT_VALUE xy = (t[0][1] + t[1][0]) * GG_TANGENT_HALF, xz = (t[0][2] + t[2][0]) * GG_TANGENT_HALF;
    GG_TANGENT_VALUE yz = (t[1][2] + t[2][1]) * GG_TANGENT_HALF;
    GG_TANGENT_VALUE pressed = bulk * (t[0][0] + t[1][1] + t[2][2]);
    GG_TANGENT_VALUE across = flow[3] * xy + flow[4] * xz + flow[5] * yz;
    GG_TANGENT_VALUE flows = flow[0] * t[0][0] + flow[1] * t[1][1] + flow[2] * t[2][2] + (across + across);
    flows = soften * flows;
    for (int k = 0; k < 3; k++) {
        s[k] = shear * t[k][k] + pressed - flows * flow[k];
    }
    s[3] = shear * xy - flows * flow[3];
    s[4] = shear * xz - flows * flow[4];
    s[5] = shear * yz - flows * flow[5];
    const GG_TANGENT_VALUE full[3][3] = {{s[0], s[3], s[4]}, {s[3], s[1], s[5]}, {s[4], s[5], s[2]}};
    GG_TANGENT(times)(full, lever, g);
}

#undef GG_TANGENT
#undef GG_TANGENT_VALUE
#undef GG_TANGENT_HALF
