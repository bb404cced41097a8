#include <__cudarun/float.h>
