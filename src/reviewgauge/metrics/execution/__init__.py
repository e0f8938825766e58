"""What metrics that rest on executed tests share."""
