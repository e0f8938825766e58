"""Where the files of a data set come from: shipped, fetched, given, or in the shape of entries."""
