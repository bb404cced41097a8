// A struct by value with a member of every kind: a scalar, a vector, a member with padding after it,
// a double, a pointer, a nested struct, an array. The host packs it; the kernel writes all members to
// its buffers, which shows whether the layout was correct.

struct Range {
    signed char low;
    float high;
};

struct Everything {
    float scale;
    float4 corner;
    short step;
    double exact;
    int* counts;
    Range range;
    unsigned short table[5];
};

extern "C" __global__ void unpack(bool first, Everything it, double* numbers, char last) {
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    numbers[0] = first;
    numbers[1] = it.scale;
    numbers[2] = it.corner.x;
    numbers[3] = it.corner.y;
    numbers[4] = it.corner.z;
    numbers[5] = it.corner.w;
    numbers[6] = it.step;
    numbers[7] = it.exact;
    numbers[8] = it.range.low;
    numbers[9] = it.range.high;
    for (int i = 0; i < 5; i++) {
        numbers[10 + i] = it.table[i];
        it.counts[i] = it.table[i] + it.step;
    }
    numbers[15] = last;
}
