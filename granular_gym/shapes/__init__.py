"""shapes: distance fields, meshes, planar shapes and pair fields. Knows neither grains nor worlds."""
