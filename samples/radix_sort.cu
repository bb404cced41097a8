// One pass of a radix sort by 4 bits, by one block of 256 threads. Each launch sorts by the next
// digit, so that 8 launches, each with the output of the one before, sort 32-bit keys.
__device__ unsigned int digit;

extern "C" __global__ void radix_pass(const unsigned int* in, unsigned int* out, int n)
{
    __shared__ int place[16][256];
    int thread = threadIdx.x, shift = 4 * digit;
    int share = (n + 255) / 256, begin = min(thread * share, n), end = min(begin + share, n);
    for (int value = 0; value < 16; value++) place[value][thread] = 0;
    for (int i = begin; i < end; i++) place[in[i] >> shift & 15][thread]++;
    __syncthreads();
    if (thread == 0) {  // the first place of each digit of each thread
        int sum = 0;
        for (int value = 0; value < 16; value++)
            for (int other = 0; other < 256; other++) {
                int count = place[value][other];
                place[value][other] = sum;
                sum += count;
            }
        digit = (digit + 1) % 8;
    }
    __syncthreads();
    for (int i = begin; i < end; i++) out[place[in[i] >> shift & 15][thread]++] = in[i];
}
