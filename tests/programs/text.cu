// Text and sequences: search for a pattern, a state machine, distance of words, local alignment.
// nvrtc --std=c++17 -lineinfo

// Where a pattern of up to 64 bytes begins: the block's text with its overlap lies in shared memory.
extern "C" __global__ void find_pattern(const char *text, int length, const char *pattern, int size,
                                        int *places, int *count)
{
    __shared__ char part[256 + 64], wanted[64];
    int start = blockIdx.x * 256;
    for (int i = threadIdx.x; i < 256 + 64; i += blockDim.x)
        part[i] = start + i < length ? text[start + i] : 0;
    if (threadIdx.x < size)
        wanted[threadIdx.x] = pattern[threadIdx.x];
    __syncthreads();
    int at = threadIdx.x;
    if (start + at + size > length)
        return;
    for (int i = 0; i < size; i++)
        if (part[at + i] != wanted[i])
            return;
    places[atomicAdd(count, 1)] = start + at;
}

// Words, lines and numbers in a text, by a machine whose states are told by what it has read; each thread has
// a piece and looks at the byte before it.
enum Kind { SPACE, LETTER, DIGIT, OTHER };

__device__ Kind kind(unsigned char c)
{
    switch (c) {
    case ' ': case '\t': case '\n': case '\r': return SPACE;
    case '0': case '1': case '2': case '3': case '4':
    case '5': case '6': case '7': case '8': case '9': return DIGIT;
    default: return (c | 32) >= 'a' && (c | 32) <= 'z' ? LETTER : OTHER;
    }
}

extern "C" __global__ void count_words(const unsigned char *text, int length, int piece, int *counts)
{
    int begin = (blockIdx.x * blockDim.x + threadIdx.x) * piece, end = min(begin + piece, length);
    int words = 0, lines = 0, numbers = 0;
    if (begin < length) {
        Kind before = begin == 0 ? SPACE : kind(text[begin - 1]);
        for (int i = begin; i < end; i++) {
            Kind now = kind(text[i]);
            words += now == LETTER && before != LETTER;
            numbers += now == DIGIT && before != DIGIT;
            lines += text[i] == '\n';
            before = now;
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        words += __shfl_down_sync(~0u, words, d);
        lines += __shfl_down_sync(~0u, lines, d);
        numbers += __shfl_down_sync(~0u, numbers, d);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(counts, words);
        atomicAdd(counts + 1, lines);
        atomicAdd(counts + 2, numbers);
    }
}

// Levenshtein's distance by Myers' bit vectors: words of up to 64 letters, a pair for each thread.
extern "C" __global__ void edit_distance(const unsigned char *a, const int *lengths_a,
                                         const unsigned char *b, const int *lengths_b, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned char *x = a + 64 * i, *y = b + 64 * i;
    int m = lengths_a[i], score = m;
    unsigned long long equal[26] = {};
    for (int k = 0; k < m; k++)
        equal[x[k] - 'a'] |= 1ULL << k;
    unsigned long long up = ~0ULL, down = 0, last = 1ULL << (m - 1);
    for (int k = 0; k < lengths_b[i]; k++) {
        unsigned long long e = equal[y[k] - 'a'], vertical = e | down;
        unsigned long long horizontal = (((e & up) + up) ^ up) | e;
        unsigned long long plus = down | ~(horizontal | up), minus = up & horizontal;
        score += (plus & last) != 0;
        score -= (minus & last) != 0;
        plus = plus << 1 | 1;
        up = minus << 1 | ~(vertical | plus);
        down = plus & vertical;
    }
    out[i] = score;
}

// Smith and Waterman with affine gaps: a block for each pair, along the anti-diagonals, a thread for each row.
extern "C" __global__ void align_local(const char *a, int m, const char *b, int n, int *scores)
{
    __shared__ int h[3][65], e[2][65];
    __shared__ int best;
    const char *x = a + blockIdx.x * m, *y = b + blockIdx.x * n;
    int i = threadIdx.x + 1, f = 0, mine = 0;
    for (int k = threadIdx.x; k < 65; k += blockDim.x)
        h[0][k] = h[1][k] = h[2][k] = e[0][k] = e[1][k] = 0;
    if (threadIdx.x == 0)
        best = 0;
    __syncthreads();
    for (int diagonal = 2; diagonal <= m + n; diagonal++) {
        int j = diagonal - i, now = diagonal % 3, one = (diagonal + 2) % 3, two = (diagonal + 1) % 3;
        int score = 0, gap = 0;
        if (i <= m && j >= 1 && j <= n) {
            gap = max(e[(diagonal + 1) % 2][i - 1] - 1, h[one][i - 1] - 3);
            f = max(f - 1, h[one][i] - 3);
            int match = h[two][i - 1] + (x[i - 1] == y[j - 1] ? 2 : -1);
            score = max(max(0, match), max(gap, f));
            mine = max(mine, score);
        }
        h[now][i] = score;
        e[diagonal % 2][i] = gap;
        __syncthreads();
    }
    atomicMax(&best, mine);
    __syncthreads();
    if (threadIdx.x == 0)
        scores[blockIdx.x] = best;
}
