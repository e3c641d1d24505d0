"""Sentences: the only place where results become English. One function for each code of a note and kind of result."""

from reidrisk.present.words.frequencies import *
from reidrisk.present.words.register import *
