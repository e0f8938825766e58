"""The files of data sets: cards, fetching, labels, the code behind changes, tables, and what several share."""
