"""The stores of logs and traces beside a cluster's own programs in its node, each with what it is filled by.

`store.py` starts and ends any of them; `logs.py` and `traces.py` say what they are. `modules/` pins their programs.
"""
