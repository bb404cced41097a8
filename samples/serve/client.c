// A client of `cudarun serve`: launches a kernel three times, and prints the answers.
//
//   cc -o client client.c && cudarun serve --socket "$PWD/s.sock" -d cpu & ./client "$PWD/s.sock"
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char *const REQUEST =
    "{\"id\": %d, \"command\": \"launch\", \"parameters\": {\"device\": \"cpu\", \"threads\": 4,"
    " \"args\": {\"y\": \"i32[4]\", \"k\": %d}, \"print\": [\"y\"], \"image\": "
    "\"extern \\\"C\\\" __global__ void f(int *y, int k) {\\n y[threadIdx.x] = k * threadIdx.x;\\n}\"}}\n";

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    if (argc != 2 || strlen(argv[1]) >= sizeof address.sun_path) {
        fprintf(stderr, "usage: client SOCKET\n");
        return 2;
    }
    strcpy(address.sun_path, argv[1]);
    if (connect(server, (struct sockaddr *)&address, sizeof address) != 0) {
        perror(argv[1]);
        return 2;
    }
    for (int k = 1; k <= 3; k++)  // all of them at once: the answers have their ids
        dprintf(server, REQUEST, k, k);
    shutdown(server, SHUT_WR);  // the server ends the connection after the last answer
    char part[4096];
    for (ssize_t n; (n = read(server, part, sizeof part)) > 0;)
        fwrite(part, 1, n, stdout);
    return 0;
}
