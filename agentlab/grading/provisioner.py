"""Start Jupyter kernels in a box: a kernel provisioner, which works under unmodified nbval, nbclient or JupyterLab.

A kernelspec names it, and may say what to hide:

```
{"argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "language": "python",
 "display_name": "Python (boxed)", "interrupt_mode": "message",
 "metadata": {"kernel_provisioner": {"provisioner_name": "agentlab-box", "config": {"masked": ["/srv/answers"]}}}}
```
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, cast

import msgspec
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Dict, Int, List, Unicode

from agentlab.grading.box import Limits, Sandbox, box_command, box_environment

NAME = "agentlab-box"


class BoxProvisioner(LocalProvisioner):
    """Runs a kernel in its box.

    The connection goes through sockets in a folder that the box shares with us, so that no port is taken. Signals do
    not reach into the box: the kernel is interrupted by message.

    Attributes:
        sandbox: `bwrap`, or `limits` for bounds of time and memory without a box.
        masked: Files and folders that the kernel must not see.
        limits: Fields of `Limits` that differ from its defaults.
        folder: Where the shared folder is made; the system's temporary folder where it is empty.
        user: Where we are root, the number of the user to run as; 0 for ourselves.
        private: The shared folder.
    """

    sandbox = Unicode("bwrap", config=True)
    masked = List(Unicode(), config=True)
    limits = Dict(config=True)
    folder = Unicode("", config=True)
    user = Int(0, config=True)
    private: Path | None = None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Choose the sockets, and wrap the command."""
        if self.private is None:
            self.private = Path(tempfile.mkdtemp(prefix="agentlab-kernel-", dir=self.folder or None))
        manager: Any = self.parent
        manager.cache_ports = False
        # Absolute, since each side has a working folder of its own.
        manager.transport, manager.ip = (
            "ipc",
            str(self.private / "socket"),
        )
        manager.connection_file = str(self.private / "connection.json")
        cast("Any", self.kernel_spec).interrupt_mode = "message"
        kwargs = await super().pre_launch(**kwargs)
        sandbox, work = cast("Sandbox", self.sandbox), self.private
        if sandbox == "bwrap" and self.user:
            for path in (self.private, *self.private.iterdir()):
                os.chown(path, self.user, self.user)
        if sandbox == "limits":
            work = self.private / "work"
            work.mkdir(exist_ok=True)
        environment = (
            box_environment(sandbox)
            if sandbox == "bwrap"
            else box_environment(sandbox, home=str(self.private), temporary=str(self.private))
        )
        kwargs["cmd"] = box_command(
            kwargs["cmd"],
            sandbox=sandbox,
            private=self.private,
            limits=msgspec.convert(self.limits, Limits),
            masked=[Path(path) for path in self.masked],
            environment=environment,
            user=self.user if sandbox == "bwrap" else 0,
        )
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return kwargs | streams | {"env": environment, "cwd": str(work)}

    async def cleanup(self, restart: bool = False) -> None:  # noqa: FBT001, FBT002 - the base class's signature
        """Take the shared folder away."""
        await super().cleanup(restart)
        if self.private is not None and not restart:
            shutil.rmtree(self.private, ignore_errors=True)
