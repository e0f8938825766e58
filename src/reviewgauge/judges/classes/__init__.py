"""The classes that models sort comments and changes into."""
