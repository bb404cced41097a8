/* The stack of the thread that launches: of Python by its own API, of compiled code by glibc's. */
#define _GNU_SOURCE
#include "stack.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 64 };

/* Python code that leaves the stack as a text in `_cudarun_stack` of the module builtins. */
static const char program[] =
    "def _cudarun_stack():\n"
    "    import sys\n"
    "    frame, lines = sys._getframe(1), []\n"
    "    while frame is not None and len(lines) < 64:\n"
    "        code = frame.f_code\n"
    "        if code.co_filename != '<cudarun>':\n"
    "            lines.append(f'{code.co_filename}:{frame.f_lineno} {code.co_name}')\n"
    "        frame = frame.f_back\n"
    "    return '\\n'.join(lines) + '\\n'\n"
    "result = _cudarun_stack()\n";

#define PYTHON(X)                                                                                  \
    X(int, Py_IsInitialized, (void))                                                               \
    X(int, PyGILState_Ensure, (void))                                                              \
    X(void, PyGILState_Release, (int))                                                             \
    X(void *, PyDict_New, (void))                                                                  \
    X(void *, PyDict_GetItemString, (void *, const char *))                                        \
    X(int, PyDict_SetItemString, (void *, const char *, void *))                                   \
    X(void *, PyEval_GetBuiltins, (void))                                                          \
    X(void *, Py_CompileString, (const char *, const char *, int))                                 \
    X(void *, PyEval_EvalCode, (void *, void *, void *))                                           \
    X(const char *, PyUnicode_AsUTF8, (void *))                                                    \
    X(void, PyErr_Fetch, (void **, void **, void **))                                              \
    X(void, PyErr_Restore, (void *, void *, void *))                                               \
    X(void, PyErr_Clear, (void))                                                                   \
    X(void, Py_DecRef, (void *))

static void python_frames(FILE *out) {
    enum { FILE_INPUT = 257 };
#define LOAD(type, name, parameters)                                                               \
    type(*name) parameters = (type(*) parameters)dlsym(RTLD_DEFAULT, #name);                       \
    if (!name) return;
    PYTHON(LOAD)
#undef LOAD
    if (!Py_IsInitialized()) return;
    int state = PyGILState_Ensure();
    void *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    void *names = PyDict_New(), *code = Py_CompileString(program, "<cudarun>", FILE_INPUT);
    if (names && code) {
        PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins());
        void *done = PyEval_EvalCode(code, names, names);
        void *text = done ? PyDict_GetItemString(names, "result") : 0;
        const char *lines = text ? PyUnicode_AsUTF8(text) : 0;
        if (lines) fputs(lines, out);
        Py_DecRef(done);
    }
    Py_DecRef(code);
    Py_DecRef(names);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
}

static void compiled_frames(FILE *out) {
    void *frames[FRAMES];
    int count = backtrace(frames, FRAMES);
    Dl_info own, where;
    dladdr((void *)launching_stack, &own);
    for (int i = 0; i < count; i++) {
        if (!dladdr(frames[i], &where) || where.dli_fbase == own.dli_fbase) continue;
        const char *slash = strrchr(where.dli_fname, '/');
        const char *file = slash ? slash + 1 : where.dli_fname;
        size_t offset = (char *)frames[i] - (char *)where.dli_fbase;
        if (where.dli_sname)
            fprintf(out, "%s+%#zx %s\n", file, offset, where.dli_sname);
        else
            fprintf(out, "%s+%#zx\n", file, offset);
    }
}

char *launching_stack(void) {
    char *text = 0;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return 0;
    python_frames(out);
    compiled_frames(out);
    fclose(out);
    return text;
}
