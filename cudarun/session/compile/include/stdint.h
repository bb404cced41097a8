#include <__cudarun/stdint.h>
