"""calibration: fits friction and rolling friction of grains to measurements."""
