// Local memory: arrays with indices that data tell, stacks instead of recursion, an interpreter with a large
// switch.
// nvcc -arch=compute_80

// How many ways n queens do not attack each other: a search over an explicit stack; the thread's first row
// is its own.
extern "C" __global__ void queens(int n, int *solutions)
{
    int first = threadIdx.x, stack[16], row = 1, count = 0;
    if (first >= n)
        return;
    stack[0] = first;
    stack[1] = -1;
    while (row > 0) {
        bool placed = false;
        for (int column = stack[row] + 1; column < n && !placed; column++) {
            bool safe = true;
            for (int k = 0; k < row && safe; k++)
                safe = stack[k] != column && abs(stack[k] - column) != row - k;
            if (safe) {
                stack[row] = column;
                placed = true;
            }
        }
        if (!placed) {
            row--;
        } else if (row == n - 1) {
            count++;
        } else {
            stack[++row] = -1;
        }
    }
    solutions[first] = count;
}

// Permutations in the order of the dictionary: the i-th, its parity and its cycles.
extern "C" __global__ void permutations(unsigned char *out, int2 *facts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned char items[8], image[8];
    int rest = i, factorial = 5040;
    for (int k = 0; k < 8; k++)
        items[k] = k;
    for (int k = 0; k < 8; k++) {
        int which = rest / factorial;
        rest %= factorial;
        if (k < 7)
            factorial /= 7 - k;
        image[k] = items[which];
        for (int j = which; j < 7; j++)
            items[j] = items[j + 1];
    }
    int cycles = 0, seen = 0;
    for (int k = 0; k < 8; k++) {
        out[8 * i + k] = image[k];
        if (seen >> k & 1)
            continue;
        cycles++;
        for (int j = k; !(seen >> j & 1); j = image[j])
            seen |= 1 << j;
    }
    facts[i] = make_int2((8 - cycles) % 2, cycles);
}

// A machine with a stack and sixteen instructions: a byte of code each, an operand where one is needed. Every
// thread runs the same program on its own number.
enum Code { PUSH, ADD, SUB, MUL, DIV, MOD, DUP, SWAP, OVER, DROP, JUMP, IF_ZERO, LESS, STORE, LOAD, HALT };

extern "C" __global__ void interpret(const signed char *program, const long long *in, long long *out,
                                     int *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long stack[16], memory[4] = {in[i], 0, 0, 0};
    int top = 0, at = 0, step = 0;
    for (bool running = true; running && step < 5000; step++) {
        switch (program[at++]) {
        case PUSH: stack[top++] = program[at++]; break;
        case ADD: top--; stack[top - 1] += stack[top]; break;
        case SUB: top--; stack[top - 1] -= stack[top]; break;
        case MUL: top--; stack[top - 1] *= stack[top]; break;
        case DIV: top--; stack[top - 1] /= stack[top]; break;
        case MOD: top--; stack[top - 1] %= stack[top]; break;
        case DUP: stack[top] = stack[top - 1]; top++; break;
        case SWAP: {
            long long swap = stack[top - 1];
            stack[top - 1] = stack[top - 2];
            stack[top - 2] = swap;
            break;
        }
        case OVER: stack[top] = stack[top - 2]; top++; break;
        case DROP: top--; break;
        case JUMP: at += program[at]; break;
        case IF_ZERO: at += stack[--top] == 0 ? program[at] : 1; break;
        case LESS: top--; stack[top - 1] = stack[top - 1] < stack[top]; break;
        case STORE: memory[program[at++]] = stack[--top]; break;
        case LOAD: stack[top++] = memory[program[at++]]; break;
        case HALT: running = false; break;
        default: running = false;
        }
    }
    out[i] = stack[top - 1];
    steps[i] = step;
}

// A jump through a table, by ``brx.idx``; compilers make other things of a switch nowadays.
extern "C" __global__ void jump_table(const unsigned *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = in[i], r;
    asm volatile("{\n\t"
                 ".reg .u32 which;\n\t"
                 "and.b32 which, %1, 7;\n\t"
                 "shr.s32 %0, %1, 3;\n\t"
                 "places: .branchtargets ZERO, ONE, TWO, ONE, FOUR, ZERO, DONE, TWO;\n\t"
                 "brx.idx which, places;\n\t"
                 "FOUR: mul.lo.s32 %0, %0, %0;\n\t"
                 "ZERO: add.s32 %0, %0, 1;\n\t"
                 "bra.uni DONE;\n\t"
                 "TWO: neg.s32 %0, %0;\n\t"
                 "ONE: xor.b32 %0, %0, 85;\n\t"
                 "DONE:\n\t}"
                 : "=&r"(r) : "r"(x));
    out[i] = r;
}
