"""What the names of columns say: who, when, what, how much and where, in any case and several languages."""

import re
from collections.abc import Sequence
from functools import cache


def _known(words: str) -> frozenset[str]:
    return frozenset(words.split())


_USER = _known(
    "customer cust client user member person panelist panellist patient visitor subscriber household "
    "respondent participant individual employee student rider driver passenger cardholder shopper buyer "
    "listener viewer reader player guest traveller traveler citizen people who kunde kunden kundin nutzer "
    "benutzer mitglied patienten cliente usuario utilisateur adherent klient gebruiker utente crm partner "
    "loyalty"
)
_USER_TOO = _known("account card device cookie browser msisdn imei wallet konto karte")
_ID = _known("id no nr num number key hash code uuid uid guid pseudonym pid ref nummer ids identifier")
_WEAK_USER = _known("id uid uuid guid pseudonym pid identifier")
_NOT_USER = _known(
    "name first last city country state zip postcode age gender sex type segment group status since date time "
    "agent email street birth class score value region lang language level rating"
)
_TIME = _known("date datetime timestamp time when ts datum zeit zeitpunkt fecha data dt moment zeitstempel")
_TIME_TOO = _known("day week month hour period epoch created at tag woche monat jahr year start started")
_NOT_TIME = _known(
    "birth dob born zone weekday dow expiry expires end until valid updated modified duration min minute "
    "minutes spent of due delivery number index per hours"
)
_AMOUNT = _known(
    "quantity qty count weight plays units pieces menge anzahl times freq frequency cantidad amount n stueck"
)
_NOT_AMOUNT = _known("price total value unit usd eur gbp dollar dollars euro id currency")
_ITEM = _known(
    "item product description category place location venue article artist topic page url site shop store "
    "merchant app event action sku isbn title genre movie song track what label token stock artikel produkt "
    "warengruppe kategorie ort seite domain host channel query term keyword station stop poi symptom "
    "diagnosis drug procedure answer brand department interest tag book film game code service cell"
)
_NOT_ITEM = _known("price total value latitude longitude lat lon lng country currency cost count quantity qty type")
_LATITUDE, _LONGITUDE = _known("lat latitude"), _known("lon lng long longitude")
_NEVER_TIME = _known(
    "birth birthday dob born expiry expires until geb geburt geburtstag geburtsdatum nacimiento naissance"
)
_SEEN = _known(
    "age alter edad eta sex gender geschlecht sexo genre birth birthday birthdate birthyear born dob yob geburt "
    "geburtstag geburtsdatum geburtsjahr jahrgang nacimiento naissance zip zipcode postcode postal plz cp codigo city "
    "town village ort stadt wohnort ville ciudad municipality county district region state province bundesland country "
    "land nation nationality citizenship native staatsangehoerigkeit pais pays job occupation profession beruf "
    "profesion metier employer workplace department abteilung title role position grade education bildung degree "
    "school marital familienstand married race ethnicity ethnic religion height weight size children kids household "
    "language sprache tenure seniority"
)
"""What others see of a person or look up: words of the names of columns."""
_WORDS = _SEEN | _USER | _USER_TOO | _TIME | _TIME_TOO | _AMOUNT | _ITEM | _LATITUDE | _LONGITUDE | _NEVER_TIME
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@cache
def words_of(name: str) -> tuple[str, ...]:
    """Cut the name of a column into its words; one that is known is no two, however it is written.

    >>> words_of("InvoiceDate"), words_of("userID"), words_of("number_of_cds"), words_of("custid"), words_of("CateGory")
    (('invoice', 'date'), ('user', 'id'), ('number', 'of', 'cds'), ('cust', 'id'), ('category',))
    """
    parts = (part.lower() if part.lower() in _WORDS else _CAMEL.sub(" ", part) for part in re.findall(r"[^\W_]+", name))
    found = []
    for word in " ".join(parts).lower().split():
        whole = next((who for who in (*_USER, *_USER_TOO) if word.startswith(who) and word[len(who) :] in _ID), None)
        found += [word] if whole is None else [whole, word[len(whole) :]]
    return tuple(found)


def _has(words: Sequence[str], known: frozenset[str]) -> bool:
    """Tell whether one of the words is known, also as a plural."""
    return any(word in known or (len(word) > 3 and word.removesuffix("s") in known) for word in words)


def user_score(name: str) -> int:
    """Say how much a name looks like that of a column of people: 0 = not at all."""
    words = words_of(name)
    if not words or _has(words, _NOT_USER):
        return 0
    is_id = words[-1] in _ID or len(words) == 1
    if _has(words, _USER):
        return 5 + is_id
    if _has(words, _USER_TOO):
        return 3 + is_id
    return 1 if len(words) == 1 and words[0] in _WEAK_USER else 0


def time_score(name: str) -> int:
    """Say how much a name looks like that of a column of times."""
    words = words_of(name)
    if _has(words, _NOT_TIME):
        return 0
    return 2 if _has(words, _TIME) else int(_has(words, _TIME_TOO))


def amount_score(name: str) -> int:
    """Say how much a name looks like that of a column of numbers of items."""
    words = words_of(name)
    if words[:2] in (("number", "of"), ("num", "of"), ("n", "of")) or words[:1] == ("num",):
        return 2
    return 2 if _has(words, _AMOUNT) and not _has(words, _NOT_AMOUNT) else 0


def item_score(name: str) -> int:
    """Say how much a name looks like that of a column of what people did."""
    words = words_of(name)
    return 2 if _has(words, _ITEM) and not _has(words, _NOT_ITEM) else 0


def place_of(names: Sequence[str]) -> tuple[str, str] | None:
    """Return the columns of latitude and longitude, where there is one of each."""
    lat, lon = ([name for name in names if _has(words_of(name)[-1:], which)] for which in (_LATITUDE, _LONGITUDE))
    return (lat[0], lon[0]) if len(lat) == len(lon) == 1 else None


def never_time(name: str) -> bool:
    """Tell whether a date under this name is no time of an event, such as a date of birth."""
    return _has(words_of(name), _NEVER_TIME)


def is_seen_by_others(name: str) -> bool:
    """Tell whether a column is named like what others see of a person or look up: age, sex, place, job.

    >>> [is_seen_by_others(name) for name in ("Age", "birth_year", "PLZ", "q7", "free_text", "BusinessTravel")]
    [True, True, True, False, False, False]
    """
    return _has(words_of(name), _SEEN)


def is_id(name: str) -> bool:
    """Tell whether a column is named like an id."""
    return _has(words_of(name), _ID)
