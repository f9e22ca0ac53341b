"""What all tests share: signals as a terminal has them, however the suite was started."""

from __future__ import annotations

import signal

# Started in the background or by nohup, a suite inherits some of them ignored, and so would every process that it tests.
for _number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number is signal.SIGINT else signal.SIG_DFL)
