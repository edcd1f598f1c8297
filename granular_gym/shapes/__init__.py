"""shapes: distance fields, meshes, plane shapes and the contact of two of them. Knows neither grains nor worlds."""
