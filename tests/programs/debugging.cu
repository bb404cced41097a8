// What a debug build looks like: every variable in local memory, no inlining, line tables.
// nvcc -arch=compute_80 -G -std=c++17

template <typename T, int N> struct Stack {
    T items[N];
    int size = 0;
    __device__ void push(const T &item) { items[size++] = item; }
    __device__ T pop() { return items[--size]; }
    __device__ bool empty() const { return size == 0; }
};

struct Token {
    char kind;  // a digit's value is in number
    int number;
};

__device__ int precedence(char op) { return op == '*' || op == '/' ? 2 : op == '+' || op == '-' ? 1 : 0; }

__device__ int apply(char op, int a, int b)
{
    switch (op) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    }
    return b == 0 ? 0 : a / b;
}

// Expressions in text, a line of 32 bytes for each thread, by two stacks.
extern "C" __global__ void evaluate(const char *lines, int *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const char *line = lines + 32 * i;
    Stack<int, 16> numbers;
    Stack<char, 16> operators;
    auto reduce = [&](int least) {
        while (!operators.empty() && precedence(operators.items[operators.size - 1]) >= least) {
            int b = numbers.pop(), a = numbers.pop();
            numbers.push(apply(operators.pop(), a, b));
        }
    };
    for (int k = 0; k < 32 && line[k]; k++) {
        Token token = {line[k], 0};
        if (token.kind >= '0' && token.kind <= '9') {
            for (; k < 32 && line[k] >= '0' && line[k] <= '9'; k++)
                token.number = 10 * token.number + line[k] - '0';
            k--;
            numbers.push(token.number);
        } else if (token.kind == '(') {
            operators.push('(');
        } else if (token.kind == ')') {
            reduce(1);
            operators.pop();
        } else {
            reduce(precedence(token.kind));
            operators.push(token.kind);
        }
    }
    reduce(1);
    values[i] = numbers.pop();
}
