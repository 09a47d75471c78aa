"""What is said to be polite: thanks, wishes, praise, encouragement. It tells nothing of who says it."""

import re
from collections.abc import Collection

from strandline.domain.rules.lead import without_lead
from strandline.domain.rules.patterns import any_of, compiled

_EAST_ASIAN = re.compile(
    any_of(
        """
        你好 您好 大家好 嗨 哈喽 早上好 早安 下午好 晚上好 晚安 谢谢你 谢谢 謝謝你 謝謝 多谢 不客气
        没关系 没问题 最近怎么样 怎么样 最近如何 好的 好吧 好 是的 是 对的 对 嗯 哦 啊 哇 喔 哈 再见
        拜拜 太好了 太棒了 真棒 真好 不错 很好 很高兴认识你 我也是 听起来 很不错 很棒 很有趣 那很好
        祝你好运 加油 没事 没有 明白了 明白 知道了 好厉害 厉害 真的 当然 哈哈 呵呵 嘿嘿 可爱 不是 不 太 也 很 真
        那 我 你 您 的 了 吧 呀 呢 吗
        こんにちは こんばんは おはようございます おはよう ありがとうございました
        ありがとうございます ありがとう どうも どういたしまして すみません ごめんなさい はい いいえ
        ええ うん うわー うわ わー おー ああ すごい 凄い お元気 元気 素晴らしい 素敵 いい 良い
        はじめまして 初めまして よろしくお願いします よろしくお願いいたします よろしく 了解 承知しました
        わかりました 分かりました 違います 本当に 本当 ほんとう とても 頑張って かわいい 可愛い 楽しみ じゃあ
        お疲れ様 もちろん 大丈夫
        よかった そう なるほど さようなら またね 私も です でした ます ました ね よ な も は か 안녕하세요 안녕
        감사합니다 고마워요 고마워 네 아니요 좋아요 정말 와
        """
    )
)
_VERY = rf"(?:{any_of('so really very super just also truly always')} )*"
_MOOD = any_of("glad delighted happy proud excited thrilled pleased impressed sorry stoked amazed inspired")
_LISTENER = any_of("you you're you've you'll your yours")
_SOMETHING = any_of("everything it it'll it's this more all that")
_I_AM_GLAD = rf"(?:i['’]m |i am )?{_VERY}{_MOOD} "
_PRAISED = any_of(
    """
    support words encouragement faith dedication determination passion hard_work positivity kindness empathy
    friendship enthusiasm amazing awesome great inspiring inspiration incredible talented strong welcome right
    rock got_this got_talent a_great a_good such
    """
)
_TIME = any_of("time day evening night weekend week trip one blast")
_GREETING = any_of(
    "good_morning good_afternoon good_evening good_night happy_birthday welcome welcome_back you're_welcome"
)
_COURTESY = compiled(
    any_of("hi hey hello hiya howdy bye goodbye") + r"(?:[ ,]+\w+){0,2}\W*\Z",
    any_of("thanks thank_you thx congrats congratulations") + r"\b[^.!]{0,60}[.!]*\Z",
    any_of(
        """
        good_luck best_of_luck fingers_crossed sending keep_it keep_up keep_me keep_going keep_pushing keep_on
        let_me_know take_care way_to_go well_done no_problem i'm_here i_am_here i'll_keep_you i'll_let_you_know
        i'll_definitely_keep you_can_do i_knew_you i_appreciate_your i_appreciate_it i_really_appreciate
        """
    )
    + r"\b",
    _I_AM_GLAD + rf"(?:{any_of('of by for that to_hear to_see to_be_of with')} )?{_LISTENER}\b",
    _I_AM_GLAD + r"(?:to (?:hear|help|see|meet you)|it (?:went|helped|made|worked))\b",
    rf"(?:i )?{any_of('hope hoping wish wishing')} (?:that )?(?:{_LISTENER}|{_SOMETHING})\b",
    rf"{any_of('''can't_wait_to_see can't_wait_to_hear looking_forward_to_seeing looking_forward_to_hearing''')}\b",
    rf"{_LISTENER} (?:\w+ ){{0,3}}?{_PRAISED}\b",
    rf"(?:{any_of('great awesome good nice amazing cool love loving')} )"
    + any_of(
        """
        job work going idea news to_hear to_see to_meet to_chat to_talk meeting_you that_you hearing seeing how_you
        what_you question choice one
        """
    )
    + r"\b",
    _GREETING + r"(?:[ ,]+\w+){0,3}\W*\Z",
    rf"{any_of('have enjoy')} (?:an? (?:\w+ )?{_TIME}|fun|your|the rest)\b[^,;]*\Z",
    r"long time no \w+(?:[ ,]+\w+){0,2}\W*\Z",
)
_OPINION = compiled(
    any_of("that this it they those these he she your")
    + r"(?: \w+){0,4}? "
    + any_of("sounds sound looks look seems seem must must've")
    + r"\b",
)
_OF_SUBSTANCE = re.compile(r"\b(?:I|my|me|we|our)\b|\d|(?<=[\w,;] )[A-Z]\w+")


def is_courtesy(sentence: str, listeners: Collection[str] = ()) -> bool:
    """Whether it thanks, wishes, praises or encourages, whatever its other words.

    So does an opinion on what the other has told (`that must have been hard`) that names nothing of its own.
    """
    said = without_lead(sentence, listeners)
    if _COURTESY.match(said) or _COURTESY.match(sentence):
        return True
    return _OPINION.match(said) is not None and _OF_SUBSTANCE.search(said) is None


def without_politeness(sentence: str) -> str:
    """A Chinese, Japanese or Korean sentence without its polite words and endings."""
    return _EAST_ASIAN.sub("", sentence)
