// Dynamic memory: malloc and free, new and delete, lists and trees of what they give.
// nvcc -arch=compute_80

// A binary search tree for each thread: insert the row's keys, walk it in order, give all of it back.
struct Node {
    int key;
    Node *left, *right;
};

__device__ __noinline__ int walk(const Node *node, int *out, int place)
{
    if (!node)
        return place;
    place = walk(node->left, out, place);
    out[place++] = node->key;
    return walk(node->right, out, place);
}

__device__ __noinline__ int destroy(Node *node)
{
    if (!node)
        return 0;
    int count = destroy(node->left) + destroy(node->right) + 1;
    delete node;
    return count;
}

extern "C" __global__ void sort_by_tree(const int *rows, int *sorted, int *freed, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    Node *root = nullptr;
    for (int i = 0; i < columns; i++) {
        int key = rows[row * columns + i];
        Node **place = &root;
        while (*place)
            place = key < (*place)->key ? &(*place)->left : &(*place)->right;
        *place = new Node{key, nullptr, nullptr};
    }
    walk(root, sorted + row * columns, 0);
    freed[row] = destroy(root);
}

// One allocation for the whole block, of a size that the data tell; the last thread frees it.
extern "C" __global__ void reverse_blocks(const float *in, float *out, const int *lengths)
{
    __shared__ float *buffer;
    int length = lengths[blockIdx.x];
    if (threadIdx.x == 0)
        buffer = (float *)malloc(length * sizeof(float));
    __syncthreads();
    const float *from = in + blockIdx.x * 64;
    for (int i = threadIdx.x; i < length; i += blockDim.x)
        buffer[i] = from[i];
    __syncthreads();
    for (int i = threadIdx.x; i < length; i += blockDim.x)
        out[blockIdx.x * 64 + i] = buffer[length - 1 - i];
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1)
        free(buffer);
}

// Lists that outlive their block: all blocks push onto one, by compare-and-swap; the last block to end adds
// it up and gives it back. More than the heap holds is a null pointer.
struct Link {
    Link *next;
    int value;
};

__device__ Link *HEAD;
__device__ unsigned DONE;

extern "C" __global__ void push_and_sum(const int *values, int n, long long *sum, int *count, int *refused)
{
    __shared__ bool last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        Link *link = (Link *)malloc(sizeof(Link)), *head;
        link->value = values[i];
        do {
            head = HEAD;
            link->next = head;
            __threadfence();
        } while (atomicCAS((unsigned long long *)&HEAD, (unsigned long long)head,
                           (unsigned long long)link) != (unsigned long long)head);
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(&DONE, 1) == gridDim.x - 1;
    __syncthreads();
    if (!last || threadIdx.x != 0)
        return;
    long long total = 0;
    int links = 0;
    for (Link *link = HEAD; link;) {
        Link *next = link->next;
        total += link->value;
        links++;
        free(link);
        link = next;
    }
    *sum = total;
    *count = links;
    *refused = malloc((size_t)1 << 40) == nullptr;
}
