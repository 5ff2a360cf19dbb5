"""What every test can rely on, wherever the suite is started from."""

from __future__ import annotations

import signal

# A suite that is started in the background, as by CI, may inherit an ignored Ctrl-C, and so would what it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
