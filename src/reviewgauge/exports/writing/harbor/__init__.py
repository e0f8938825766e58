"""The files of a Harbor task, as templates; `verify.py` and `metric.py` are copied as they are."""
