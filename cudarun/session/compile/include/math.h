#include <__cudarun/math.h>
