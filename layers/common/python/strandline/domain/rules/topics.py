"""The topics of preferences, and the words that tell of them."""

from strandline.domain.rules.words import words

_TOPICS = {
    "food": """
        food eat eating cook cooking cook recipe recipes bake baking cake cakes chocolate pizza pasta
        sushi salad vegan vegetarian kosher coffee tea wine beer restaurant restaurants breakfast lunch
        dinner dessert desserts ice cream vegetables fruit meat fish cheese spicy drink drinks snack
        snacks meal meals 吃 食物 早餐 午餐 晚餐 料理 食べ 甘い ケーキ アイス 咖啡
        """,
    "music": """
        music song songs sing singing band bands concert concerts guitar piano violin jazz rock classical
        album playlist instrument instruments 音乐 音樂 音楽
        """,
    "books": """
        book books read reading novel novels author authors poetry poem literature fantasy 读书 読書 阅读
        """,
    "films and series": """
        movie movies film films series show shows tv watch watching cinema anime documentary documentaries
        电影 電影 映画 ドラマ
        """,
    "games": """
        game games gaming videogame videogames chess console nintendo playstation xbox rpg 游戏 遊戲 ゲーム
        """,
    "sports": """
        sport sports basketball football soccer tennis baseball hockey running run yoga gym workout
        workouts surf surfing ski skiing swim swimming cycling bike biking skate skating boxing climbing
        marathon fitness 运动 運動 スポーツ
        """,
    "nature": """
        nature hike hikes hiking camp camping beach ocean sea mountain mountains garden gardening plants
        flowers forest outdoors outdoor park parks sunset sunsets 自然 户外
        """,
    "animals": """
        dog dogs cat cats pet pets animal animals turtle turtles horse horses bird birds 狗 猫 动物 犬 動物
        """,
    "art": """
        art paint painting paintings draw drawing pottery photography photos dance dancing design
        sculpture crafts theater museum museums writing write 绘画 写真
        """,
    "travel": """
        travel traveling travelling trip trips city cities country countries vacation beach hotel flight 旅行 旅游
        """,
    "work": """
        work job career office meeting meetings team project projects business code coding programming
        python javascript typescript tests 工作 仕事
        """,
    "technology": """
        tech technology computer computers phone app apps software linux editor ai robot robots 电脑 技术
        """,
    "home": "home house room decor furniture kitchen clean cleaning",
    "clothes": """
        clothes fashion wear wearing dress dresses shoes style color colour colors 衣服
        """,
    "family and friends": """
        family kids children son daughter mom dad parents friends friend together 家人 孩子 家族 友達
        """,
}
_BY_WORD = {word: topic for topic, listed in reversed(_TOPICS.items()) for word in listed.split()}
_UNSPACED = {word: topic for word, topic in _BY_WORD.items() if not word.isascii()}


def topic_of(sentence: str, default: str = "general") -> str:
    """The topic most of a sentence's words belong to; of two the one named first; `default` where none is."""
    found = [_BY_WORD[w] for w in words(sentence) if w in _BY_WORD]
    found += [topic for word, topic in _UNSPACED.items() if word in sentence]
    return max(dict.fromkeys(found), key=found.count, default=default)
