"""Recognises what a person states of themselves for good: name, age, home, work, studies, family, health, identity.

A change of such a fact counts as well (`I moved to Oslo last year`, `I got promoted`): it says what holds since.
"""

from strandline.domain.rules.oneself_east_asian import ASKED_IN_EAST_ASIAN, OF_ANOTHER, TOLD_IN_EAST_ASIAN
from strandline.domain.rules.patterns import any_of, compiled
from strandline.domain.rules.verbs import ADVERB

ADVERBS = rf"(?:{any_of(' '.join(sorted(ADVERB)) + ' much do very so originally')} )*"
_SUBORDINATING = any_of(
    """
    where when since if because why how what that than while whenever like as wish wished until after before cause
    once though although unless which think guess feel
    """
)
_DEPENDENT = compiled(rf"\b({_SUBORDINATING}) (?=(?:I|we)\b)")
SUBJECT = rf"\bI {ADVERBS}"
BEING = rf"\bI(?:['’]m| am) {ADVERBS}"
_HAVING = rf"\bI(?:['’]ve| have) {ADVERBS}"
_DID = rf"(?:\b(?:I|we)(?:['’]ve| have)? {ADVERBS}|\A(?:(?:just|finally|recently) )?)"
_CAPITAL = r"(?-i:[A-Z])"
_COUNT = rf"(?:{any_of('one two three four five six seven eight nine ten several twin')}|\d{{1,2}})"
_NUMBER = any_of(
    """
    four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
    twenty thirty forty fifty sixty seventy eighty ninety
    """
)
_AGE = rf"(?:\d{{1,3}}|{_NUMBER}(?:[- ]\w+)?)"

KIN = any_of(
    """
    wife husband partner girlfriend boyfriend fiance fiancee fiancé fiancée son sons daughter daughters kid kids
    child children mom mum mother dad father parents brother brothers sister sisters siblings grandma grandpa
    grandmother grandfather grandparents twins stepson stepdaughter uncle aunt cousin nephew niece
    """
)
_PET = any_of(
    "dog dogs cat cats pup puppy kitty kitten pet pets horse horses parrot rabbit turtle turtles hamster"
)
_NOT_A_ROLE = any_of(
    """
    bit lot little mix part big huge total few true sure while good great rookie beginner newbie bundle wreck
    mess bunch step day week member
    """
)
_NOT_ROLE_AT_ALL = rf"(?!(?:[\w-]+ ){{0,3}}{any_of('fan sucker believer supporter lover mess place one')}\b)"
_STATE = any_of(
    """
    allergic lactose_intolerant gluten_intolerant celiac diabetic autistic dyslexic deaf blind colorblind from
    single married divorced widowed engaged pregnant retired unemployed self-employed vegan vegetarian pescatarian
    gay lesbian trans transgender queer nonbinary non-binary bisexual bi straight asexual christian catholic muslim
    jewish buddhist hindu atheist left-handed american british german french italian spanish mexican indian chinese
    japanese korean canadian australian swedish norwegian dutch polish portuguese brazilian training_to majoring_in
    """
)
_IDENTITY = (
    r"\bcall me [A-Z]",
    rf"\bmy (?:\w+ )?name(?:['’]s| is)\b(?! {any_of('on in not')}\b)",
    rf"\A(?:\w+[,!] )*I(?:['’]m| am) {_CAPITAL}[a-z]+(?:,| and I\b| from\b|[.!]?\Z)",
    rf"{BEING}{_STATE}\b(?! {any_of('that it my this the')}\b)",
    rf"{BEING}(?:still |now )?an? (?!{_NOT_A_ROLE}\b){_NOT_ROLE_AT_ALL}",
    rf"{BEING}{_AGE}(?=[.,!;]|\Z| {any_of('years year and but now yrs too')}\b)",
    rf"{BEING}in my (?:\w+ )?(?:\d\ds|\w+ties|teens)\b",
    rf"{SUBJECT}(?:just )?turn(?:ed)? {_AGE}\b",
    rf"{SUBJECT}{any_of('identify_as came_out_as transitioned converted_to')}\b",
    rf"\b(?:I|my)\b[^,.;]{{1,60}} as an? {any_of('single trans transgender gay queer')} "
    + any_of("mom mum dad parent man woman")
    + r"\b",
    rf"\bmy {any_of('birthday zodiac religion faith pronouns nationality blood_type height age')}"
    rf"(?:['’]s| is| are) (?!{any_of('coming so really getting important a')}\b)",
)
_HOME = (
    rf"{SUBJECT}(?:live|lived) {any_of('in on at near with alone by outside close next_to here inland abroad')}\b"
    rf"(?! {any_of('the_moment the_present fear style peace it that this')}\b)",
    rf"{BEING}living (?:in|with|near|at) (?!the moment)",
    rf"{_DID}moved (?:back |over |out )?(?:to|from|into|here|in with)\b"
    rf"(?! {any_of('tears it the_next the_final that them this')}\b)",
    rf"{_DID}(?:bought|buy) (?:a|an|our|my) (?:\w+ )?{any_of('house apartment flat condo home')}\b",
    rf"{SUBJECT}(?:grew up|was born|was raised|come from {_CAPITAL}|was adopted)\b",
    rf"\bmy {any_of('hometown home_town home_country roots')}(?:['’]s|,| is| are| was) ",
    rf"\bmy (?:\w+ )?{any_of('house apartment flat car bike address')}(?:['’]s| is) (?:an? |in |on |near |at )",
)
_NOT_WORK = any_of("it that this them you me my our your making getting being the_moment least first times")
_NOT_A_JOB = rf"(?!{any_of('good great amazing awesome nice fantastic wonderful better')}\b)"
_JOB = rf"{any_of('job position internship career gig')}\b(?! {any_of('offer interview hunt search application fair')})"
_BUSINESS = any_of(
    """
    business biz company store shop studio restaurant cafe café bakery agency firm startup practice salon bar farm
    clinic gym school charity foundation nonprofit
    """
)
_WORK = (
    rf"{SUBJECT}(?:work|worked|used to work)(?: part[- ]time| full[- ]time)? (?:as|at|for|in) (?!{_NOT_WORK}\b)",
    rf"{SUBJECT}work {any_of('part-time full-time remotely nights from_home two_jobs night_shifts')}\b",
    rf"{SUBJECT}work with {any_of('kids children people animals patients computers students horses')}\b",
    rf"(?:{BEING}|{_HAVING}been )working (?:part[- ]time |full[- ]time )?(?:as|at|for) (?!{_NOT_WORK}\b|\w+ing\b)",
    rf"{SUBJECT}used to be (?:an? |in the )(?!{_NOT_A_ROLE}\b){_NOT_ROLE_AT_ALL}",
    rf"(?:\A|[,;.] |\band |\bbut )I {ADVERBS}used to "
    + any_of("play dance compete live have own teach study run smoke")
    + r" ",
    rf"{SUBJECT}(?:teach|coach) (?!{any_of('me you them myself him her it us')}\b)\w",
    rf"{SUBJECT}volunteer (?:at|for|with|in) (?:(?:an?|the|my|our|local|some)\b|{_CAPITAL})",
    rf"{SUBJECT}(?:own|(?:run|manage)(?= (?:my|our|an?) (?:\w+ ){{0,3}}{_BUSINESS}\b))\b",
    rf"{SUBJECT}(?:practice|practise) (?:law|medicine)\b|{SUBJECT}play for (?:the )?{_CAPITAL}",
    r"(?<!losing )(?<!lost )\bmy (?:[\w'’]+ )?"
    + any_of("job day_job profession occupation career major degree salary boss company")
    + rf"(?:['’]s| is| was) {any_of('a an the as at in to called')}\b",
)
_WORK_CHANGE = (
    rf"{_DID}(?:been |was |were |got |get |getting )(?:just )?"
    + any_of("promoted hired fired laid_off let_go elected drafted accepted_into accepted_to")
    + r"\b",
    rf"{_DID}(?:got|getting|received|earned) (?:a|the|my|that) promotion\b",
    rf"{_DID}(?:started|got|landed|found|accepted|took|have|applied)(?: out| on)? {any_of('a an my the this')} "
    rf"{_NOT_A_JOB}(?:[\w-]+ ){{0,3}}?{_JOB}",
    rf"(?:{_DID}(?:lost|quit|left|changed|switched)|{BEING}(?:quitting|leaving|changing)) my (?:\w+ ){{0,2}}{_JOB}",
    rf"(?:{_DID}(?:opened|launched|started|founded|run)"
    rf"|(?:{BEING}|{_HAVING}been )(?:opening|launching|starting|running)) "
    rf"(?:up )?(?:an?|my|our)(?: own)? (?:[\w-]+ ){{0,2}}?{_BUSINESS}\b",
    rf"{_DID}(?:retired|resigned|became an? (?!{_NOT_A_ROLE}\b))",
    rf"{BEING}changing careers?\b",
)
_DIPLOMA = any_of(
    "degree diploma bachelor master bachelor's master's masters phd doctorate license licence certificate"
)
_STUDIES = (
    rf"{SUBJECT}(?:study|studied) (?!{any_of('hard a_lot more for it that harder all every')}\b)",
    rf"{BEING}(?:also )?(?:studying|majoring in)(?! {any_of('for hard now a_lot all it that too')}\b)",
    rf"{BEING}(?:still )?in (?:(?:high|middle|junior|grad|primary|med|law) )?(?:school|college|university)\b",
    rf"{SUBJECT}(?:go to (?:school|college|preschool|university)|attend|major in|majored|dropped out)\b",
    rf"{_DID}(?:graduated|enrolled in)\b",
    rf"{_DID}(?:got|earned|received|finished|have) (?:my|a|an) (?:[\w'’]+ ){{0,3}}?{_DIPLOMA}\b",
    rf"{SUBJECT}speak (?:\w+ )?(?:{_CAPITAL}|{any_of('two three four five six several')} languages)",
    rf"{BEING}(?:fluent|bilingual)\b",
)
_HAS = r"\b(?:I|we)(?:['’]ve got|['’]ve| have got| have| do have)(?: also| only)? "
_TRAIT = any_of("called named from vegan vegetarian allergic retired pregnant deaf blind divorced married")
_IN_SCHOOL = (
    r"in (?:\w+ )?(?:school|grade|high|college|university|kindergarten|the army|the navy|the military)"
)
_NOT_A_TRAIT = any_of(
    "blessing joy source great huge big constant real rock lot bit handful little good total"
)
_MY_KIN = rf"\b(?:my|our) (?:\w+ )?{KIN}"
_FAMILY = (
    rf"{_HAS}(?:(?:an?|{_COUNT}|some|no) (?:[\w-]+ ){{0,2}}?|{any_of('older younger little twin')} )?(?:{KIN}|{_PET})\b"
    rf"(?!['’]| \w+ing\b)",
    rf"\b(?:I|we) (?:don['’]t|do not) have (?:any )?(?:{KIN}|{_PET})\b",
    rf"{_MY_KIN}(?:['’]s| is| are| was) (?:an? (?!{_NOT_A_TRAIT}\b)|{_TRAIT}\b|{_IN_SCHOOL}|{_AGE}\b)",
    rf"{_MY_KIN} {any_of('works work lives live lived teaches studies owns died passed_away worked served')}\b",
    rf"\bmy {KIN} and I (?:have been|['’]ve been|met|live|got|are) ",
    rf"\b(?:I|we)(?:['’]ve|['’]re|['’]m| have| are| am| were)?(?: just| been| finally| recently)* "
    rf"(?:got |getting |get )?(?:married|engaged|divorced)\b(?! {any_of('with in')}\b)",
    r"\b(?:I|we)(?: just| recently)* (?:had a (?:baby|son|daughter)|gave birth|broke up|split up)\b",
)
_ILLNESS = any_of(
    """
    asthma diabetes arthritis anxiety depression adhd ocd ptsd epilepsy celiac eczema migraines insomnia cancer
    dyslexia autism lupus gastritis a_heart_condition high_blood_pressure a_bad_back a_condition allergies
    an_allergy
    """
)
_HEALTH = (
    rf"{SUBJECT}(?:have|suffer from|struggle with|live with) (?:\w+ )?{_ILLNESS}\b",
    rf"{_HAVING}(?:got |been diagnosed with |had )(?:\w+ )?{_ILLNESS}\b",
    rf"{_DID}(?:was |were |been |got )?diagnosed with\b",
    r"\bI(?:['’]ve| have)? (?:\w+ )?(?:quit|stopped) (?:smoking|drinking)\b",
)
_PASSING = any_of(
    """
    waiting looking trying meaning wanting thinking dreaming hoping planning dying going staring struggling needing
    missing putting saving
    """
)
_SPAN = (
    r"(?:for (?:[\w-]+ ){0,4}?(?:years|year|decade|decades)\b|(?:all my|my whole|my entire) life|"
    r"as long as _?I can remember|since (?:_?I was|_?I['’]m|childhood|college|high school|birth|(?:19|20)\d\d))"
)
_ROOTED = any_of(
    "been lived worked played known taught practiced practised studied had owned loved trained married"
)
_INSTRUMENT = any_of(
    "guitar piano clarinet violin drums cello flute bass trumpet saxophone keyboard ukulele harp organ"
)
_HABITS = (
    rf"{_HAVING}(?!been {_PASSING}\b){_ROOTED}\b.{{0,80}}?\b{_SPAN}",
    rf"{SUBJECT}(?:started|began|took up|got into) .{{1,60}}?(?:\byears ago\b|\bwhen _?I was\b|\bas a (?:kid|child)\b)",
    rf"{SUBJECT}play (?:the )?{_INSTRUMENT}\b",
)
_MAX_ANSWER = 120
"""Characters of an answer that is still about its question."""

_PROFILE = compiled(
    *_IDENTITY,
    *_HOME,
    *_WORK,
    *_WORK_CHANGE,
    *_STUDIES,
    *_FAMILY,
    *_HEALTH,
    *_HABITS,
)
_PROFILE_IN_EAST_ASIAN = compiled(*TOLD_IN_EAST_ASIAN)

_WHO_ONE_IS = compiled(
    r"\bwhat(?:['’]s| is| do| are)? (?:you )?(?:do for (?:a living|work)|your (?:name|job|profession|major|age))\b",
    r"\bwhere (?:are you from|do you (?:live|work|come from)|did you grow up|were you born)\b",
    r"\bhow old are you\b|\bhow many (?:kids|children|siblings|pets|dogs|cats|brothers|sisters) do you have\b",
    rf"\b(?:do you have|have you got|you have) (?:any |a )?(?:{KIN}|{_PET})\b|\bare you (?:married|single)\b",
    *ASKED_IN_EAST_ASIAN,
)


def main_clauses(sentence: str) -> str:
    """The sentence with each `I` and `we` of a dependent clause made unrecognisable: `when I moved` states no move."""
    return _DEPENDENT.sub(r"\1 _", sentence)


def answers_who_one_is(question: str, answer: str) -> bool:
    """Whether an answer tells a lasting fact because of what was asked: `Where are you from?` – `Lisbon.`"""
    fits = len(answer) <= _MAX_ANSWER and OF_ANOTHER.match(answer) is None
    return fits and _WHO_ONE_IS.search(question) is not None


def is_profile(sentence: str) -> bool:
    """Whether the speaker states a lasting fact about themselves, or how one has changed."""
    if not sentence.isascii() and _PROFILE_IN_EAST_ASIAN.search(sentence):
        return OF_ANOTHER.match(sentence) is None
    return _PROFILE.search(main_clauses(sentence)) is not None
