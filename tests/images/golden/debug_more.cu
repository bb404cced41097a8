// A second unit, to be linked with debug.cu.
struct Pair {
  int first;
  double second;
};

extern "C" __global__ void more(Pair pair, double *sum) { *sum = pair.first + pair.second; }
