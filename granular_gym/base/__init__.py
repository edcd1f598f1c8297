"""base: what every room needs: checks of arguments, rotations, random numbers, assets, files in the cache."""
