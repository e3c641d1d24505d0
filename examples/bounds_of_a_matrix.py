"""Every bound on a randomised-response channel: n people each report their own value, or a random one."""

import numpy as np

from reidrisk import bounds

n, truthful = 50, 0.2
P = np.full((n, n), (1 - truthful) / n) + truthful * np.eye(n)

results = bounds.summary(P)
for result in results:
    print(f"{result.name:28} {result.value:8.3f}  {result.reading}")
print(bounds.tightest(results, "random user").reading)
