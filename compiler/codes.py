"""The diagnostics of compilation: ITB9xx, what a checked scenario asks for and can't be had on the chosen target."""

from __future__ import annotations

from itbc.dsl.diagnostics import Code

TARGET_HOSTS = Code("ITB901", "target-hosts", "error", "the target has no such hosts")
TARGET_SIGNAL = Code("ITB902", "target-signal", "error", "the target doesn't collect this signal")
TARGET_NODES = Code("ITB903", "target-nodes", "error", "the target's clusters are smaller")
TARGET_IMAGES = Code("ITB904", "target-images", "error", "the target builds no images")
IMAGE_FILE = Code("ITB905", "image-file", "error", "a file of the image's source can't be used")
NOTHING_STANDS = Code("ITB906", "nothing-stands", "error", "the environment has no cluster")
SEVERAL_SCENARIOS = Code("ITB907", "several-scenarios", "error", "one scenario is compiled at a time")

CODES = (TARGET_HOSTS, TARGET_SIGNAL, TARGET_NODES, TARGET_IMAGES, IMAGE_FILE, NOTHING_STANDS, SEVERAL_SCENARIOS)
"""All of them."""
