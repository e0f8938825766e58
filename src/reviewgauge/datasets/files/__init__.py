"""The files of data sets: cards, fetching, the code behind changes, and what several file formats share."""
