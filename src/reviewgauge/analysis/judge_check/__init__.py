"""A judge as an instrument: agreement, biases, what it can be talked into, and the correction for it."""
