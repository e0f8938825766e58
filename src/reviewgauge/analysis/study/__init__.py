"""The tables of a study, one small module for each kind; all make the one form of core/reports/study.py."""
