"""What ``cuLibraryLoadData`` returns for an image, with whatever loading mode is set."""

import importlib
import sys
from pathlib import Path

driver = importlib.import_module(sys.argv[1])
driver.cuInit(0)
image = Path(sys.argv[2]).read_bytes()
_, context = driver.cuDevicePrimaryCtxRetain(0)
driver.cuCtxSetCurrent(context)
print(int(driver.cuLibraryLoadData(image, [], [], 0, [], [], 0)[0]))
