/* The module cuda.bindings.cyruntime, whose functions are those of a runtime that is a part of it: it
 * becomes one of the functions of our library. It takes them from the table that Cython gives each
 * module (__pyx_capi__). Python's functions are looked up, so that no header of it is needed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))
#define PYTHON_OR(otherwise, result, name, ...) \
  result (*name)(__VA_ARGS__); \
  *(void **)&name = dlsym(RTLD_DEFAULT, #name); \
  if (!name) otherwise
#define PYTHON(result, ...) PYTHON_OR(return, result, __VA_ARGS__)

typedef void *object;

static void replace_functions(void) {
  PYTHON(object, PyImport_ImportModule, const char *);
  PYTHON(object, PyObject_GetAttrString, object, const char *);
  PYTHON(const char *, PyUnicode_AsUTF8, object);
  PYTHON(int, PyDict_Next, object, long *, object *, object *);
  PYTHON(int, PyCapsule_SetPointer, object, void *);
  PYTHON(void, PyErr_Clear, void);
  object bindings = PyImport_ImportModule("cuda.bindings"), key, value;
  object version = bindings ? PyObject_GetAttrString(bindings, "__version__") : 0;
  object module = PyImport_ImportModule("cuda.bindings._internal.runtime");
  object table = module ? PyObject_GetAttrString(module, "__pyx_capi__") : 0;
  PyErr_Clear(); /* other versions have other modules */
  if (!version || !table) return;
  char name[64];
  snprintf(name, sizeof name, "libcudart.so.%d", atoi(PyUnicode_AsUTF8(version)));
  void *runtime = dlopen(name, RTLD_NOW);
  for (long at = 0; runtime && PyDict_Next(table, &at, &key, &value);) {
    const char *function = PyUnicode_AsUTF8(key);
    void *ours = function[0] == '_' ? dlsym(runtime, function + 1) : 0;
    if (ours) PyCapsule_SetPointer(value, ours);
  }
}

EXPORT object PyInit_cyruntime(void) {
  void *module = dlopen("cyruntime.@nvidia", RTLD_NOW);
  object (*init)(void) = 0;
  if (module) *(void **)&init = dlsym(module, "PyInit_cyruntime");
  if (!init) {
    PYTHON_OR(return 0, void, PyErr_SetString, object, const char *);
    object *error = dlsym(RTLD_DEFAULT, "PyExc_ImportError");
    if (error) PyErr_SetString(*error, "cudarun: cuda.bindings.cyruntime cannot be loaded");
    return 0;
  }
  replace_functions();
  return init();
}
