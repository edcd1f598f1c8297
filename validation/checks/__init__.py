from . import packing,janssen,heap,collapse,silo,incline,drum
CHECKS=[packing.CHECK,janssen.CHECK,heap.CHECK,collapse.CHECK,silo.CHECK,incline.CHECK,drum.CHECK,drum.MIXTURE]
