from . import flight, slopes, sliding, impacts, budgets, convergence
CHECKS=[flight.CHECK, slopes.CHECK, sliding.CHECK, impacts.CHECK, budgets.CHECK, convergence.CHECK]
