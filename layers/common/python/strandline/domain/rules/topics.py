"""The topics of preferences, and the words that tell of them."""

import re
from collections.abc import Iterator
from itertools import pairwise

from strandline.domain.rules.patterns import compiled
from strandline.domain.rules.words import FUNCTION, words

_TOPICS = {
    "food": """
        food eat eating cook cooking recipe bake baking cake chocolate pizza pasta sushi salad vegan vegetarian
        kosher coffee tea wine beer restaurant breakfast lunch dinner dessert vegetable fruit meat fish cheese spicy
        drink snack meal taste flavor flavour ingredient garlic cilantro coriander soup bread rice chicken beef pork
        steak burger taco curry noodle sandwich egg honey sugar sweet candy cookie pie sundae milk juice water
        whisky whiskey cocktail smoothie pancake shrimp seafood mushroom spinach avocado tomato potato onion
        strawberry apple banana mango lemon popcorn barbecue bbq cuisine dish icecream ice
        吃 食物 早餐 午餐 晚餐 料理 食べ 甘い ケーキ アイス 咖啡 茶 喝 披萨
        比萨 飲 肉 寿司 コーヒー ピザ
        """,
    "music": """
        music song sing singing band concert guitar piano violin drum clarinet jazz rock classical album playlist
        instrument rap pop metal hip-hop opera choir orchestra karaoke punk blues
        音乐 音樂 音楽 唱歌 歌 乐队 バンド ギター
        """,
    "books": """
        book read reading novel author poetry poem literature fantasy comic library story stories genre fiction
        读书 読書 阅读 书 本を
        """,
    "films and series": """
        movie film series show tv cinema drama romcom superhero comedy comedies anime documentary trilogy hollywood
        theatre sitcom netflix character 电影 電影 映画 ドラマ 电视
        """,
    "games": """
        game gaming videogame chess console nintendo playstation xbox rpg boardgame puzzle poker lego
        bowling 游戏 遊戲 ゲーム
        """,
    "sports": """
        sport basketball football soccer tennis baseball hockey running run jogging jog yoga pose gym workout
        surf surfing ski skiing swim swimming cycling bike biking skate skating boxing climbing marathon fitness
        sail sailing row rowing kayak kayaking canoe canoeing dive diving snorkeling golf volleyball rugby cricket
        exercise exercising skateboarding snowboarding gymnastics wrestling karate martial athlete court
        运动 運動 スポーツ 足球 篮球 跑步 サッカー
        """,
    "nature": """
        nature hike hiking camp camping beach ocean sea mountain garden gardening plant flower forest outdoors
        outdoor park sunset sunrise tree leaves river lake sky star scenery fishing hunting bird-watching wildlife
        自然 户外 花 海 山 钓鱼
        """,
    "animals": """
        dog cat pet animal turtle horse bird puppy puppies pup kitten reptile rabbit hamster snake parrot spider
        狗 猫 动物 犬 動物 宠物 ペット
        """,
    "art": """
        art paint painting draw drawing sketch pottery clay photography photo dance dances dancing design sculpture
        craft theater museum write writing jewelry knit knitting sewing quilt contemporary ballet gallery creative
        color colour blue red green purple pink yellow black 绘画 画画 写真 颜色 跳舞
        """,
    "travel": """
        travel traveling travelling trip city cities country countries vacation hotel flight adventure
        abroad journey cruise train plane 旅行 旅游
        """,
    "work": """
        work job career office meeting team project business code coding programming python javascript typescript
        test startup store student teach teaching 工作 仕事 働
        """,
    "learning": """
        learn learning school study studying language science history math maths class lesson course culture
        knowledge philosophy 学习 勉強 学校
        """,
    "technology": """
        tech technology computer phone app software linux editor ai robot car truck motorcycle internet gadget drone
        电脑 技术 车
        """,
    "home": "home house room decor furniture kitchen clean cleaning blanket cozy couch apartment",
    "clothes": "clothes fashion wear wearing dress shoes sneaker jersey style jacket hat shopping shop 衣服 购物",
    "wellbeing": """
        meditation meditate relax relaxing calm peace stress sleep sleeping nap therapy therapeutic mindfulness
        quiet alone silence solitude health healthy unwind freedom 睡
        """,
    "community": """
        volunteer volunteering community charity helping others veteran justice rights equality
        counseling mental inclusivity difference comfort
        """,
    "family and friends": """
        family kid children son daughter mom mum dad parent friend together wife husband brother sister mother
        father grandma grandpa 家人 孩子 家族 友達 朋友
        """,
    "people": "people crowd crowds party parties social strangers gossip conversation talking 人",
    "weather and seasons": """
        weather rain rainy snow sun sunny summer winter autumn fall spring cold heat warm storm thunderstorm 雪 雨 夏 冬
        """,
}
_BY_WORD = {word: topic for topic, listed in reversed(_TOPICS.items()) for word in listed.split()}
_UNSPACED = {word: topic for word, topic in _BY_WORD.items() if not word.isascii()}
_DESCRIBING = frozenset(
    """
    blue red green purple pink yellow black classical contemporary creative sweet spicy quiet calm healthy cozy cold
    warm sunny rainy
    """.split()
)
"""Words that tell the topic only where they describe nothing: green tea is not about colours."""

_PIECE = re.compile(r"[^,.;:!?()]+")
GOALS = "goals"
_OTHER_CLAUSE = compiled(
    r"[;:]|,? (?:and|but|because|since|so|while|when|than) _?(?:I|we|it|my|he|she|they|that)\b"
)


def topic_of(sentence: str, default: str = "general") -> str:
    """The topic most of a sentence's words belong to; of two the one named first; `default` where none is."""
    found = _topics_in(sentence)
    return max(dict.fromkeys(found), key=found.count, default=default)


def topic_of_liking(liked: str, rest: str, default: str = "general") -> str:
    """The topic of what is liked: that of the first thing it names, else one of the rest, else `default`."""
    clause = _OTHER_CLAUSE.split(liked, maxsplit=1)[0]
    first = next(iter(_topics_in(clause)), None)
    return first or topic_of(f"{liked} {rest}", default)


def _topics_in(text: str) -> list[str]:
    spaced = [topic for w in _telling(text) if (topic := _topic(w)) is not None]
    return spaced + [topic for word, topic in _UNSPACED.items() if word in text]


def _telling(text: str) -> Iterator[str]:
    """The words of a text without those that describe the next one."""
    for piece in _PIECE.findall(text):
        for word, behind in pairwise([*words(piece), ""]):
            if word not in _DESCRIBING or not behind or behind in FUNCTION:
                yield word


def _topic(word: str) -> str | None:
    """The topic of a word, or of what it is the plural of."""
    word = word.partition("'")[0]
    stems = (word, word.removesuffix("s"), word.removesuffix("es"))
    return next((_BY_WORD[stem] for stem in stems if stem in _BY_WORD), None)
