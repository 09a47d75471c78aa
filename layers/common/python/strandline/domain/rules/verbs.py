"""Tables of English verbs, and the third person of those that are in them."""

BE_HAVE_DO = {
    "am": "is", "was": "was", "have": "has", "haven't": "hasn't", "had": "had", "hadn't": "hadn't", "do": "does",
    "don't": "doesn't", "did": "did", "didn't": "didn't", "wasn't": "wasn't", "dont": "doesn't", "didnt": "didn't",
}  # fmt: skip

MODALS = frozenset(
    """
    can could will would shall should might must can't cannot couldn't won't wouldn't shouldn't cant
    couldnt wont
    """.split()
)

PAST = frozenset(
    """
    became began bent blew bore bought bound bred broke brought built burnt came caught chose clung
    crept dealt drank dreamt drew drove dug fed fell felt flew fled forgave forgot forgave fought found
    froze gave got grew heard held hid hung kept knelt knew laid lay leant learnt led left lent lit lost
    made meant met mistook overcame overheard paid ran rang rebuilt redid retook rewrote rode rose said
    sang sank sat saw sent shone shook shot showed shrank slept slid sold sought spent spoke sprang spun
    stole stood stuck stung struck swam swept swore swung taught thought threw told took tore understood
    undertook undid went withdrew woke won wore wound wove wrote used
    """.split()
)

BASE = frozenset(
    """
    accept achieve act add admire admit adopt adore advise agree aim allow answer apply appreciate arrange
    arrive ask assume attend avoid bake bear become begin believe belong bet bike book borrow break
    breathe bring build buy call camp care carry catch celebrate change chat cherish choose clean climb
    coach code collect come commute compete compose complete connect consider contribute cook count cover
    create cry cycle dance deal decide dedicate depend deserve design detest develop dislike discover
    discuss do donate doubt draw dream dress drink drive earn eat edit embrace encourage end enjoy enter
    exercise expect experience explore express face feed feel fight figure find finish fish fix fly focus
    follow forget garden get give go grow guess handle happen hate have hear help hide hike hold hope host
    hunt imagine improve include inspire intend invest invite join journal jump keep know lack laugh lead
    learn leave lend lie like listen live look lose love maintain make manage mean meditate meet mentor
    mind miss move need notice offer open order organize own owe paint participate pass pay perform
    photograph pick plan plant play post practice practise pray prefer prepare print program promise pull push
    rate reach realize realise recall receive recommend recycle reflect refuse regret relate relax rely
    remain remember remind rent repair represent research respect rest return ride run save say search see
    seem sell send serve sew share shop show sing sit skate sketch ski sleep smell smile smoke snowboard
    speak spend stand start stay stop strive struggle study suffer suggest support suppose surf swear swim
    take talk teach tell tend thank think throw train travel treasure treat trust try turn understand use
    value visit volunteer wait wake walk want wash watch wear welcome win wish wonder work worry worship
    write yearn
    """.split()
)

ED_BASE = frozenset("need feed bleed breed speed succeed proceed exceed heed weed embed shed wed".split())
"""Words in -ed that are not past forms."""

ADVERB = frozenset(
    """
    really just also always still never often usually finally recently actually even only definitely
    totally probably sometimes currently already now once truly absolutely certainly mostly mainly
    generally normally typically rarely constantly gradually slowly quickly eventually simply honestly
    personally deeply strongly highly especially particularly both almost nearly barely hardly seriously
    completely fully regularly occasionally
    """.split()
)

SUBJECTLESS = frozenset(
    """
    so glad happy excited sorry proud thankful grateful can't cannot couldn't won't been never had got no
    not too don't didn't hasn't haven't wasn't sure thrilled hopefully guess lucky such been what how why
    when who which if please check look see imagine
    """.split()
)
"""First words of sentences whose subject is left out, is in question, or comes in a turned order."""

_SIBILANT = ("s", "x", "z", "ch", "sh", "o")


def third_person(verb: str) -> str | None:
    """The form that follows a name for a form that follows `I`; None when the verb or its tense is not certain."""
    if verb in BE_HAVE_DO:
        return BE_HAVE_DO[verb]
    if verb in MODALS or is_past(verb):
        return verb
    return _with_s(verb) if verb in BASE or verb in ED_BASE else None


def is_past(verb: str) -> bool:
    return verb in PAST or (verb.endswith("ed") and len(verb) > 4 and verb not in ED_BASE)


def _with_s(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(_SIBILANT) else "s")


BASE_WITH_S = frozenset(_with_s(verb) for verb in BASE)
"""`gives`, `makes`, …: at the head of a sentence their subject is left out."""
