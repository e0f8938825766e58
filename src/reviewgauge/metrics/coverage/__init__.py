"""Which sentences of a review speak about which claims on the change: sentences, vectors, coverage."""
