"""Whether a value looks like a secret, or like a word, a variable or a piece of code."""

from strandline.domain.redaction.span import Pattern

_WORDS = frozenset(
    """a an and any are as at be bytes bool can cannot change changed char const dict empty enter error expired false
    field for forgot from get has have hidden his her if in incorrect input int invalid is it its let may minimum
    missing more most must my needs never new nil no none not null number object of on one only optional or our
    password passwords passwd pwd passphrase please prompt protected read required reset self set should str string
    symbol text that the their then these they this to token tokens secret undefined unknown unset use used user value
    varchar was we weak when which will with wrong yes you your true type""".split()
)
_HASHES = (
    "base64",
    "sha1",
    "sha256",
    "sha-256",
    "sha512",
    "sha-512",
    "md5",
    "utf8",
    "utf-8",
    "argon2",
    "bcrypt2",
)
_PLACEHOLDER = Pattern(
    r"<[^<>]*>?|\$\{[^{}]*\}?|\$\([^()]*\)?|\$[A-Za-z_]+|\$[A-Z_][A-Z0-9_]*|\{\{?[^{}0-9]*\}?\}?|%[A-Za-z_]*%?"
    r"|%\([a-z_]+\)s|[*•x.…_#-]+|\[[A-Za-z :_-]*\]?|\.\.\..*|(?i:your|enter|insert)[_ -][A-Za-z_ -]*"
)
_CODE = Pattern(r"(?:[A-Za-z_$]++(?:\.|->|::))*+[A-Za-z_$]++(?:[(\[].*|(?<=\W[A-Za-z_$])[A-Za-z_$]*);?")
_ADDRESS = Pattern(r"(?:[a-z][a-z0-9+.-]{1,20}://|arn:|\.{0,2}/|~/)")
_UPPER_IN = Pattern(r"[a-z][A-Z]|[A-Z]{2,}[a-z]{1,2}[A-Z]")
LONG = 64


def placeholder(value: str) -> bool:
    """Whether it stands for a value, or says that there is none: `<password>`, `${TOKEN}`, `***`, `null`."""
    return value.lower() in _WORDS or _PLACEHOLDER.compiled.fullmatch(value[:256]) is not None


def code(value: str) -> bool:
    """Whether it is an expression: `getpass(`, `os.environ[`, `settings.password`."""
    return _CODE.compiled.match(value[:256]) is not None


def plain_word(value: str) -> bool:
    return value.isalpha() and (value.islower() or value.istitle() or value.isupper())


def spoken_password(value: str) -> bool:
    """Whether it is no word of a language: letters and digits together, `hunter2`."""
    letters = any(map(str.isalpha, value))
    return (
        len(value) >= 5 and letters and any(map(str.isdigit, value)) and not value.lower().startswith(_HASHES)
    )


def random(value: str) -> bool:
    """Whether it looks like chance: long, of several kinds of characters, and no address."""
    if len(value) < 10 or _ADDRESS.compiled.match(value) or any(map(str.isspace, value)):
        return False
    if len(value) > LONG:
        return True
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    various = len(set(value)) >= 6
    return (
        various and letters and (digits or (len(value) >= 16 and len(_UPPER_IN.compiled.findall(value)) >= 3))
    )
