#!/bin/sh
exec python3 /tests/verify.py /tests/cases.jsonl /logs/artifacts/review.json /logs/verifier/reward.json
