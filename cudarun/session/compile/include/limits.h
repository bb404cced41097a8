#include <__cudarun/limits.h>
