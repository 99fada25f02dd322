"""Where everything is put together: start, processes, reload, audit, metrics."""

from herma.runtime.log import Log
from herma.runtime.serve import serve
from herma.runtime.sockets import StartError

__all__ = ["Log", "StartError", "serve"]
