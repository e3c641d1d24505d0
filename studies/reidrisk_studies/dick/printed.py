"""The numbers that dick prints: rates of topics and pairs, and how stationary they are."""

from __future__ import annotations

__all__ = ["ACROSS", "SINGLE", "STATIONARY", "WITHIN"]

# dick, Figure 1: users with the topic in a week, in percent.
SINGLE = {
    "/News": 34.60,
    "/Arts & Entertainment": 24.52,
    "/Shopping": 23.34,
    "/Sports": 18.31,
    "/Games/Computer & Video Games": 17.70,
    "/Internet & Telecom": 12.97,
    "/Computers & Electronics/Software": 11.82,
    "/Computers & Electronics": 10.46,
    "/Food & Drink/Cooking & Recipes": 9.72,
    "/Arts & Entertainment/TV & Video": 8.02,
}
# dick, Figure 7a: users with both topics in a week, in percent.
WITHIN = {
    ("/Arts & Entertainment", "/News"): 11.77,
    ("/News", "/Sports"): 8.58,
    ("/Arts & Entertainment", "/Internet & Telecom"): 6.74,
    ("/Internet & Telecom", "/News"): 5.27,
    ("/Arts & Entertainment", "/Games/Computer & Video Games"): 5.00,
    ("/Sports", "/Sports/Soccer"): 4.60,
    ("/Arts & Entertainment", "/Arts & Entertainment/TV & Video"): 4.58,
    ("/News", "/Shopping"): 4.41,
    ("/News", "/Arts & Entertainment/TV & Video"): 4.18,
    ("/News", "/News/Local News"): 4.17,
}
# dick, Figure 7b: users with the first topic in a week and the second in the next, in percent.
ACROSS = {
    ("/News", "/News"): 22.01,
    ("/Arts & Entertainment", "/Arts & Entertainment"): 12.27,
    ("/Shopping", "/Shopping"): 12.05,
    ("/Sports", "/Sports"): 11.66,
    ("/Games/Computer & Video Games", "/Games/Computer & Video Games"): 10.84,
    ("/News", "/Arts & Entertainment"): 10.16,
    ("/Arts & Entertainment", "/News"): 10.11,
    ("/Sports", "/News"): 8.20,
    ("/News", "/Sports"): 7.97,
    ("/News", "/Shopping"): 5.86,
}
# dick, Figure 8: correlations between weeks 1-2, 1-3, 1-4, 2-3, 2-4, 3-4, and between the three steps.
STATIONARY = {
    "single": {
        (0, 1): 0.999865,
        (0, 2): 0.998922,
        (0, 3): 0.998571,
        (1, 2): 0.999311,
        (1, 3): 0.998756,
        (2, 3): 0.999546,
    },
    "within": {
        (0, 1): 0.999682,
        (0, 2): 0.998101,
        (0, 3): 0.997261,
        (1, 2): 0.998816,
        (1, 3): 0.997761,
        (2, 3): 0.999091,
    },
    "across": {(0, 1): 0.999384, (0, 2): 0.998256, (1, 2): 0.999186},
}
