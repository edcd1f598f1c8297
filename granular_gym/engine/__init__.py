"""engine: scenes and worlds: what is described, stepped, set and read; states and beds; devices and outputs."""
