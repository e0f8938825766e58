"""A gold set grows: unmatched comments of runs become findings to judge, and the accepted ones references."""
