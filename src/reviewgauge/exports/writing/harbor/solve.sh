#!/bin/sh
set -eu
mkdir -p /logs/artifacts
cp /solution/review.json /logs/artifacts/review.json
