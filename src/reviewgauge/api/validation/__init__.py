"""The parts of `validate`: the judged data, judges as instruments, several metrics fitted to labels, thresholds."""
