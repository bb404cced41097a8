/* The stack of the thread that launches. */
#ifndef CUDARUN_STACK_H
#define CUDARUN_STACK_H

/* The frames of Python, if the program runs it, and those of compiled code, a line each, innermost
 * first; the caller frees the text. */
char *launching_stack(void);

#endif
