"""One way per file to put a defect into sound code: mutation operators that know syntax."""
