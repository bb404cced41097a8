namespace std { using namespace cuda::std; }
#include <__cudarun/sizes.h>
