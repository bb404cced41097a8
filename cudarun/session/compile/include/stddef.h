#include <__cudarun/stddef.h>
