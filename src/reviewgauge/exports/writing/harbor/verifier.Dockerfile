# The one place that brings ReviewGauge in: an image that has it, so that nothing is installed when a review is scored.
FROM $image
COPY --chmod=755 . /tests/
ENTRYPOINT []
