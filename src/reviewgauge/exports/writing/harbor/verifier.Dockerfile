# The one place that brings ReviewGauge in: an image that has it, so that nothing is installed when a review is scored.
FROM $image
# Its user may have no rights, and the reward goes into a folder of root's.
USER root
COPY --chmod=755 . /tests/
ENTRYPOINT []
