"""The loop of Galozy et al., figures 2 to 4: agents share what they learnt, a newcomer starts with what fits it.

Forty people of four kinds move between six activities. Their agents share transition matrices with a service on this
machine; an agent of a new person asks with its metadata, gets the mean of a group, and recommends by model-based
Thompson sampling. The picture `sharing_agent.png` shows the regret it saved. Everyone here is made up.
"""

import altair as alt
import numpy as np
import vl_convert

from reidrisk import bandits
from reidrisk.bandits.service.local import LocalService

STATES, KINDS, PEOPLE, RUNS, STEPS = 6, 4, 40, 150, 400
lots = np.random.default_rng(2)


def a_person(kind):
    """Return a transition matrix and metadata: what a person of this kind does next, and how often they are active."""
    next_one = np.roll(np.eye(STATES), 1 + kind, axis=1)
    habits = 0.75 * next_one + 0.15 * np.eye(STATES) + 0.1 / STATES
    matrix = np.array([lots.dirichlet(60 * row) for row in habits])
    return matrix, np.array([10.0 * kind, 0.0]) + lots.normal(size=2)


everyone = [a_person(i % KINDS) for i in range(PEOPLE)]
with LocalService(bandits.ServiceSpec(strategy="microaggregation:5", max_risk=0.5)) as service:
    # Figure 3: members join and share.
    for agent, (matrix, profile) in zip(service.joined(PEOPLE), everyone, strict=True):
        agent.share(matrix, profile)
        agent.close()
    service.rebuild()

    # Figure 4: a newcomer asks for what fits its metadata.
    newcomer, (true, profile) = service.joined(1)[0], a_person(2)
    prior = newcomer.fetch(profile)
    risk = service.publisher.snapshot.risk["likelihood"]
    newcomer.close()

env = bandits.LatentBandit(true, bandits.hard_rewards(STATES), sigma=0.5)
assumed = {"nothing known": np.full((STATES, STATES), 1 / STATES), "what was fetched": prior.matrix, "the truth": true}
found = {name: bandits.regret(env, matrix, RUNS, STEPS, seed=1) for name, matrix in assumed.items()}
saved = bandits.compare(found["nothing known"], found["what was fetched"])
print(f"fetched: the mean of at least {prior.members_at_least} members ({prior.strategy}, version {prior.version})")
for name, one in found.items():
    print(f"regret after {STEPS} recommendations, {name}: {one.mean:.1f} ({one.low:.1f} to {one.high:.1f})")
print(f"saved by asking: {saved.difference:.1f} ({saved.low:.1f} to {saved.high:.1f})")
print(f"what it costs the members: an attacker finds {risk['rate']:.1%} of them (up to {risk['high']:.1%})")

rows = [
    {"starts with": name, "recommendations": int(at), "regret": float(mean)}
    for name, one in found.items()
    for at, mean in zip(one.at, one.curve, strict=True)
]
chart = (
    alt.Chart(alt.Data(values=rows), width=520, height=300, title="Regret of a newcomer's agent: less is better")
    .mark_line(strokeWidth=2.5)
    .encode(x="recommendations:Q", y="regret:Q", color="starts with:N", strokeDash="starts with:N")
)
with open("sharing_agent.png", "wb") as file:
    file.write(vl_convert.vegalite_to_png(chart.to_dict(), scale=2))
print("picture: sharing_agent.png")
