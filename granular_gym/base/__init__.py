"""base: what every package needs: argument checks, rotations, random numbers, assets, the cache on disk."""
