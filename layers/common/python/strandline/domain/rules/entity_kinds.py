"""What named things are called by their kind, and which written words are no names."""

from collections.abc import Collection

from strandline.domain.rules.verbs import ADVERB, BASE, BASE_WITH_S, MODALS, is_past
from strandline.domain.rules.words import FUNCTION, INTERJECTION, POLITE

KINDS = {
    "people": """
        friend friends bestie buddy wife husband partner girlfriend boyfriend fiance fiancee son sons daughter
        daughters kid kids child children twins baby mom mum mother dad father brother brothers sister sisters
        cousin cousins uncle aunt aunty niece nephew grandma grandpa grandmother grandfather boss colleague
        colleagues coworker coworkers teacher coach mentor neighbor neighbour roommate roommates doctor therapist
        manager professor classmate teammate teammates author singer woman man girl guy lady resident residents
        someone somebody veteran stranger actor actress director artist
        """,
    "pets": """
        dog dogs puppy puppies pup pups cat cats kitty kitten kittens turtle turtles tortoise furry_friend
        furry_friends hamster horse bird parrot rabbit bunny fish pet pets snake labrador retriever
        """,
    "places": """
        city town village country island beach park lake mountain river state museum restaurant cafe café bar pub
        trail street neighborhood neighbourhood
        """,
    "organisations": """
        company startup school university college team club band charity shelter agency organization
        organisation church gym studio shop store hotel academy
        """,
    "works": """
        book novel movie film series show song album game videogame podcast poem play trilogy magazine screenplay
        """,
    "projects": "project repo repository app website library channel",
}
CATEGORY = {kind: category for category, listed in KINDS.items() for kind in listed.split()}
ANIMATE = frozenset(("people", "pets"))
"""Categories whose names may follow a comma: `my dog, Max`; `the shelter, Cindy` is not the shelter's name."""

_CALENDAR = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december christmas thanksgiving easter halloween xmas spring summer autumn fall winter
    """.split()
)
_NOT_NAMES = frozenset(
    """
    i'm i've i'll i'd it's that's there's here's he's she's they're we're let's what's however besides meanwhile
    therefore unfortunately lgbtq ai tv diy usa us uk nba nfl mlb english french german spanish italian chinese
    japanese american european asian african christian god internet covid gps ceo phd dj instagram facebook youtube
    twitter tiktok google netflix discord ps5 xbox premier one two three first last next another other every
    """.split()
)


def is_common(word: str) -> bool:
    """Whether a lower-cased word is no name although it may be written with a capital, as at the head of a sentence."""
    return (
        word in _CALENDAR
        or word in _NOT_NAMES
        or word in CATEGORY
        or word in FUNCTION
        or word in POLITE
        or word in INTERJECTION
        or _is_verb(word)
        or word.endswith(("ly", "ing"))
    )


def _is_verb(word: str) -> bool:
    known: tuple[Collection[str], ...] = (BASE, BASE_WITH_S, ADVERB, MODALS)
    return any(word in listed for listed in known) or is_past(word)
