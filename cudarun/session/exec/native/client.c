/* A connection of each thread with the server: requests, and what the server asks for meanwhile.
 *
 * A request is the number of a call, the number of launches posted before it, by any thread, and its
 * arguments in 8-byte slots. The server answers with messages, the last of which has the result and
 * the bytes that the call writes. Memory is read and written by the server itself
 * (process_vm_readv(2)); page-locked and managed memory is an arena that both map at the same
 * address. */
#define _GNU_SOURCE
#include "client.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define BUFFER (128 << 10)
#define LAUNCH_WORDS 9
#define POSSIBLE_CALLS (1u << 31) /* above the numbers of calls of the tables */
#define CODE 48 /* bytes after a call, which show whether its result is used */
enum { NOT_INITIALIZED = 3, NOT_PERMITTED = 800 };

enum { DONE, PRINT, CALL_BACK, SHARE, UNSHARE, START_CALLBACKS };

struct message {
  int32_t result;
  uint32_t kind;
  uint64_t words[];
};

static __thread int t_fd = -1;
static __thread pid_t t_pid;
static __thread char *t_buffer;
static __thread int t_calls_back; /* the thread of host functions, which make no calls */
static __thread int t_is_clear;   /* a call has returned that there is no last error */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pid_t user; /* the process that uses CUDA: not one that it forks */
static int arena_fd = -1;
static char *arena;

static struct registration {
  uint64_t w[4];
  char *name;
} *registrations;
static uint32_t registered, sent, capacity;

/* Launches that have succeeded, with the number of changes then. */
static __thread struct {
  uint64_t changes, w[LAUNCH_WORDS];
} t_accepted[8];
static __thread unsigned t_next; /* the one to be replaced */
static uint64_t changes = 1;     /* what can make a launch fail that has succeeded, by any thread */
static uint64_t posted;          /* launches whose answer no thread waits for */
static const void *poster;       /* the thread that can post launches: others wait for it */

static void die(const char *what) {
  fprintf(stderr, "cudarun exec: %s: %s\n", what, strerror(errno));
  _exit(7);
}

static void note_change(void) { __atomic_fetch_add(&changes, 1, __ATOMIC_ACQ_REL); }

/* --- connections ------------------------------------------------------------------------------ */

static void disconnect(void *unused) {
  (void)unused;
  if (t_fd >= 0 && t_pid == getpid()) close(t_fd);
  free(t_buffer);
  t_fd = -1, t_buffer = 0;
}

static void make_key(void) { pthread_key_create(&key, disconnect); }

static void send_message(const struct msghdr *message) {
  ssize_t n;
  do n = sendmsg(t_fd, message, MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  if (n < 0) die("the connection with the server has ended");
}

static void send_all(const void *data, size_t size) {
  struct iovec part = {(void *)data, size};
  send_message(&(struct msghdr){.msg_iov = &part, .msg_iovlen = 1});
}

static ssize_t receive(void *data, size_t size) {
  ssize_t n;
  do n = recv(t_fd, data, size, 0);
  while (n < 0 && errno == EINTR);
  if (n < 0) die("the connection with the server has ended");
  if (!n) errno = ECONNRESET, die("the connection with the server has ended");
  return n;
}

static void map_arena(int fd, uint64_t base, uint64_t size) {
  int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  arena = mmap((void *)base, size, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (arena != (void *)base) die("the memory that is shared with the device cannot be mapped");
  arena_fd = fd;
  user = getpid();
}

/* Leave the numbers of the standard streams, which the program can have closed, to it. */
static int above_streams(int fd) {
  if (fd > 2) return fd;
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  close(fd);
  return moved;
}

/* Connect the thread: for calls, or for the callbacks of all threads. */
static void connect_thread(uint32_t for_callbacks) {
  const char *path = getenv("CUDARUN_EXEC_SOCKET");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!path || strlen(path) >= sizeof address.sun_path) {
    fprintf(stderr, "cudarun exec: CUDARUN_EXEC_SOCKET is not set: keep the environment\n");
    _exit(7);
  }
  strcpy(address.sun_path, path);
  /* Note the use first: the servers can still be starting when the process ends. */
  char used[sizeof address.sun_path + sizeof "used"], *name = strrchr(strcpy(used, path), '/');
  if (name) strcpy(name, "/used"), mknod(used, S_IFREG | 0600, 0);
  int fd = above_streams(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  int error;
  do error = connect(fd, (void *)&address, sizeof address);
  while (error && errno == EINTR);
  if (error) die("the server has ended");
  t_fd = fd, t_pid = getpid();
  note_change(); /* its variables can have the addresses of those of one that has ended */
  if (!t_buffer) t_buffer = malloc(BUFFER);
  pthread_once(&once, make_key);
  pthread_setspecific(key, t_buffer);
  uint64_t hello[2] = {for_callbacks, *(uint64_t *)getauxval(AT_RANDOM)};
  send_all(hello, sizeof hello);
  /* The answer has the descriptor of the arena. */
  uint64_t answer[3];
  char control[CMSG_SPACE(sizeof(int))];
  struct iovec part = {answer, sizeof answer};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  ssize_t n;
  do n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : 0;
  if (!head) die("the server has ended");
  int descriptor;
  memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
  descriptor = above_streams(descriptor);
  pthread_mutex_lock(&lock);
  if (!user) {
    prctl(PR_SET_PTRACER, answer[0]);
    map_arena(descriptor, answer[1], answer[2]);
  } else close(descriptor);
  pthread_mutex_unlock(&lock);
}

/* --- what the server asks for ----------------------------------------------------------------- */

static uint64_t copied(ssize_t n, uint64_t size) {
  return n == (ssize_t)size ? 0 : n < 0 ? errno : EFAULT;
}

/* Call host functions, and copy memory where the system forbids the server to do so. */
static void *serve_callbacks(void *unused) {
  (void)unused;
  connect_thread(1);
  t_calls_back = 1;
  for (;;) {
    uint64_t w[5];
    ssize_t n;
    do n = recv(t_fd, w, sizeof w, 0);
    while (n < 0 && errno == EINTR);
    if (n <= 0) break;
    uint64_t result = 0;
    if (w[0] == 0) ((void (*)(uint64_t))w[1])(w[2]);
    else if (w[0] == 1) ((void (*)(uint64_t, int, uint64_t))w[1])(w[2], (int)w[3], w[4]);
    else if (w[0] == 2) result = ((size_t (*)(int))w[1])((int)w[2]);
    else if (w[0] == 3) result = copied(pwrite(arena_fd, (void *)w[1], w[2], w[3]), w[2]);
    else result = copied(pread(arena_fd, (void *)w[1], w[2], w[3]), w[2]);
    send_all(&result, sizeof result);
  }
  return 0;
}

static uint64_t start_callbacks(void) {
  sigset_t all, old;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are for the program's own threads */
  int error = pthread_create(&thread, 0, serve_callbacks, 0);
  pthread_sigmask(SIG_SETMASK, &old, 0);
  if (!error) pthread_detach(thread);
  return error;
}

/* Replace pages by those of the arena, so that kernels reach them. */
static uint64_t share(uint64_t at, uint64_t size, uint64_t offset) {
  char here;
  if ((uint64_t)&here - at < size) return EINVAL; /* a stack in use cannot be replaced */
  if (pwrite(arena_fd, (void *)at, size, offset) != (ssize_t)size) return errno ? errno : EFAULT;
  int flags = MAP_SHARED | MAP_FIXED;
  void *made = mmap((void *)at, size, PROT_READ | PROT_WRITE, flags, arena_fd, offset);
  return made == MAP_FAILED ? errno : 0;
}

/* Replace shared pages by private ones with their contents. */
static uint64_t restore(uint64_t at, uint64_t size) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  char *copy = mmap(0, size, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (copy == MAP_FAILED) return errno;
  memcpy(copy, (void *)at, size);
  void *moved = mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)at);
  return moved == MAP_FAILED ? errno : 0;
}

static int answers(void) {
  for (;;) {
    ssize_t n = receive(t_buffer, BUFFER);
    struct message *m = (void *)t_buffer;
    char *at = (char *)m->words, *end = t_buffer + n;
    uint64_t *w = m->words, result = 0;
    switch (m->kind) {
    case DONE: /* what the call writes: address, size, bytes */
      while (at < end) {
        uint64_t *part = (void *)at;
        memcpy((void *)part[0], part + 2, part[1]);
        at += 16 + ((part[1] + 7) & ~7ull);
      }
      return m->result;
    case PRINT: fwrite(at, 1, end - at, stdout); continue;
    case SHARE: result = share(w[0], w[1], w[2]); break;
    case UNSHARE: result = restore(w[0], w[1]); break;
    case START_CALLBACKS: result = start_callbacks(); break;
    default: die("unknown message");
    }
    send_all(&result, sizeof result);
  }
}

/* --- requests --------------------------------------------------------------------------------- */

EXPORT void cr_register(const uint64_t w[4], const char *name) {
  pthread_mutex_lock(&lock);
  if (registered == capacity) {
    capacity = capacity ? 2 * capacity : 256;
    registrations = realloc(registrations, capacity * sizeof *registrations);
  }
  struct registration *made = &registrations[registered++];
  memcpy(made->w, w, sizeof made->w);
  made->name = name ? strdup(name) : 0;
  note_change();
  pthread_mutex_unlock(&lock);
}

static void request(uint32_t id, uint64_t before, const uint64_t *w, uint32_t n, const void *data,
                    uint32_t bytes) {
  uint64_t head[2] = {id, before};
  struct iovec parts[3] = {{head, sizeof head}, {(void *)w, 8 * n}, {(void *)data, bytes}};
  send_message(&(struct msghdr){.msg_iov = parts, .msg_iovlen = 3});
}

/* Send the registrations, and wait until the server has them: other threads use them next. */
static void send_registrations(void) {
  pthread_mutex_lock(&lock);
  if (sent < registered) {
    for (uint32_t at = sent; at < registered; at++) {
      struct registration *each = &registrations[at];
      request(REGISTER, 0, each->w, 4, each->name, each->name ? strlen(each->name) : 0);
      free(each->name);
    }
    request(SYNC, 0, 0, 0, 0, 0);
    answers();
    /* Not before: other threads look at it without the lock. */
    __atomic_store_n(&sent, registered, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
}

/* Describe the caller of a call that failed. */
static void send_site(uint32_t id, uint64_t caller, int result) {
  Dl_info info;
  struct link_map *map;
  int saved = errno;
  if (!dladdr1((void *)caller, &info, (void **)&map, RTLD_DL_LINKMAP)) return;
  char data[CODE + 4096] = {0};
  const char *file = map->l_name[0] ? map->l_name : "/proc/self/exe";
  /* The code of the last page of a segment can end before CODE bytes. */
  uint64_t room = 4096 - caller % 4096;
  memcpy(data, (void *)caller, room < CODE ? room : CODE);
  ssize_t size;
  if (map->l_name[0]) size = stpncpy(data + CODE, file, 4095) - data - CODE;
  else size = readlink(file, data + CODE, 4095);
  uint64_t w[3] = {id, (uint32_t)result, caller - map->l_addr};
  request(SITE, 0, w, 3, data, CODE + (size < 0 ? 0 : size));
  errno = saved;
}

EXPORT int cr_call_data(uint32_t id, uint64_t caller, const uint64_t *w, uint32_t n,
                        const void *data, uint32_t bytes) {
  if (t_calls_back) return NOT_PERMITTED;
  if (t_fd < 0 || t_pid != getpid()) {
    if (user && user != getpid()) return NOT_INITIALIZED; /* forked after the use of CUDA */
    connect_thread(0);
  }
  int is_neutral = id & NEUTRAL, reads_error = id < POSSIBLE_CALLS && id & READS_ERROR;
  if (id < POSSIBLE_CALLS) id &= ~(NEUTRAL | READS_ERROR);
  if (reads_error && t_is_clear) return 0;
  if (__atomic_load_n(&sent, __ATOMIC_ACQUIRE) != registered) send_registrations();
  if (!is_neutral) note_change();
  request(id, __atomic_load_n(&posted, __ATOMIC_ACQUIRE), w, n, data, bytes);
  int result = answers();
  if (!is_neutral || result) note_change(); /* again: a launch can have succeeded meanwhile */
  if (result || reads_error) t_is_clear = !result;
  if (result && caller) send_site(id, caller, result);
  return result;
}

/* Send a launch that must succeed without waiting; return whether it was sent. */
static int post(const uint64_t *w, const void *parameters, uint32_t bytes) {
  uint64_t now = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
  for (unsigned i = 0; i < sizeof t_accepted / sizeof *t_accepted; i++)
    if (t_accepted[i].changes == now && !memcmp(t_accepted[i].w, w, sizeof t_accepted[i].w)) {
      uint64_t words[LAUNCH_WORDS + 1];
      int state;
      if (t_pid != getpid()) return 0;
      memcpy(words, w, sizeof t_accepted[i].w);
      words[LAUNCH_WORDS] = now;
      /* A number that has been drawn must be sent: the server waits for it. */
      pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
      uint64_t number = __atomic_fetch_add(&posted, 1, __ATOMIC_ACQ_REL);
      request(POST, number, words, LAUNCH_WORDS + 1, parameters, bytes);
      pthread_setcancelstate(state, 0);
      return 1;
    }
  return 0;
}

EXPORT int cr_launch(uint32_t id, uint64_t caller, const uint64_t *w, uint32_t n,
                     const void *parameters, uint32_t bytes) {
  if (post(w, parameters, bytes)) return 0;
  if (__atomic_exchange_n(&poster, t_accepted, __ATOMIC_ACQ_REL) != t_accepted) note_change();
  uint64_t before = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
  int result = cr_call_data(id | NEUTRAL, caller, w, n, parameters, bytes);
  if (!result) {
    unsigned at = t_next++ % (sizeof t_accepted / sizeof *t_accepted);
    t_accepted[at].changes = before;
    memcpy(t_accepted[at].w, w, sizeof t_accepted[at].w);
  }
  return result;
}

/* Of the server: compare and swap a value that the program shares. */
#define EXCHANGE(size, kind) \
  case size: { \
    kind expected = (kind)old; \
    return __atomic_compare_exchange_n((kind *)at, &expected, (kind)new, 0, __ATOMIC_SEQ_CST, \
                                       __ATOMIC_SEQ_CST); \
  }
EXPORT int cr_exchange(uint64_t at, int size, uint64_t old, uint64_t new) {
  switch (size) {
    EXCHANGE(2, uint16_t)
    EXCHANGE(4, uint32_t)
    EXCHANGE(8, uint64_t)
  default: return 0;
  }
}

EXPORT int cr_call(uint32_t id, uint64_t caller, const uint64_t *w, uint32_t n) {
  return cr_call_data(id, caller, w, n, 0, 0);
}
