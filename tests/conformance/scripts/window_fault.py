"""What synchronizing returns after an access at the address of a local or shared variable: BODY."""

import ctypes
import importlib
import sys

from tests.conformance.conftest import Driver

TEXT = """.version 8.1
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {{
  .local .align 16 .b8 own[64];
  .shared .align 16 .b8 part[64];
  .reg .b64 %o, %l, %s; .reg .b32 %r;
  ld.param.u64 %o, [out];
  mov.u32 %r, 5;
  st.local.u32 [own], %r; cvta.local.u64 %l, own;
  st.shared.u32 [part], %r; cvta.shared.u64 %s, part;
  {body}
  st.global.u32 [%o], %r;
  ret;
}}\0"""

cuda = Driver(importlib.import_module(sys.argv[1]))
cuda.cuInit(0)
cuda.create_context(0, cuda.cuDeviceGet(0))
module = cuda.cuModuleLoadData(TEXT.format(body=sys.argv[2]).encode())
cuda.launch(cuda.cuModuleGetFunction(module, b"k"), (int(cuda.cuMemAlloc(64)),), (ctypes.c_uint64,))
print(cuda.result("cuCtxSynchronize"))
