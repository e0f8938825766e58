"""An encoder and a decoder with attention that learn to write one text from another: words, network, training."""
