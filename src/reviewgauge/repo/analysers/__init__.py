"""Static analysers, run on plain files without the settings of the repository."""
