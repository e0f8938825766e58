"""Parcel lockers: the API and the jobs."""
