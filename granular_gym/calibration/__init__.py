"""calibration: finds friction and rolling friction of grains from measurements."""
