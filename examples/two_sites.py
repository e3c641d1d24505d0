"""Two sites see one topic per week of the same people. How many can they link, and what would lower it?"""

from reidrisk import attacks, measure, populations, topics

people = populations.published(5_000, epochs=8, seed=0)

for noise in (0.0, 0.05, 0.25):
    api = topics.TopicsAPI(n_topics=people.n_tokens, top_k=5, noise=noise)
    site_a, site_b = (api.expose(people, seed=0, site=site) for site in ("a", "b"))
    for weeks in (1, 4, 8):
        risk = measure.random_user(
            attacks.WeightedHamming(top_k=5, noise=noise),
            site_a.epochs(weeks),
            site_b.epochs(weeks),
            sample=2_000,
            seed=0,
        )
        print(f"noise {noise:4.0%}, {weeks} weeks: {risk.rate:6.2%} ({risk.low:.2%} to {risk.high:.2%})")
