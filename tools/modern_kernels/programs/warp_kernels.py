"""Warp kernels to PTX for sm_90: python wp.py FOLDER"""

import warp as wp

wp.config.quiet = True
wp.init()


@wp.kernel
def scale(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i]


@wp.kernel
def gravity(p: wp.array(dtype=wp.vec3), v: wp.array(dtype=wp.vec3), dt: float):
    i = wp.tid()
    f = wp.vec3(0.0, -9.81, 0.0)
    v[i] = v[i] + f * dt
    p[i] = p[i] + v[i] * dt


@wp.kernel
def total(x: wp.array(dtype=float), s: wp.array(dtype=int)):
    i = wp.tid()
    wp.atomic_add(s, 0, int(x[i]))


m = wp.get_module("__main__")
print(m)
try:
    wp.compile_aot_module("__main__", arch=90, module_dir="w", use_ptx=True)
except Exception as e:
    print(type(e), e)
