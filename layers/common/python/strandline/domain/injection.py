"""Text that seems to talk to a model rather than to a person: flagged where it is stored, never dropped.

A small set that knows the usual wordings. It is a hint for whoever builds a prompt and no protection: protection is
that remembered text is framed as data, and that an extraction is checked against its archive.
"""

from strandline.domain.folding import fold
from strandline.domain.redaction.span import Literals, Pattern

INSTRUCTION = "sounds like an instruction to a model"

_LITERALS = Literals(
    (
        "ignor", "disregard", "forget", "override", "system prompt", "systemprompt", "jailbreak", "developer mode",
        "do anything now", "<|", "<<sys>>", "[inst]", "[/inst]", "system>", "instructions>", "conversation>",
        "transcript>",
        "### system", "### instruction", "olvida", "vergiss", "oublie", "dimentica",
        "игнорир", "забудь", "忽略", "无视", "忘记", "無視", "忘れ", "무시",
    )
)  # fmt: skip
_EARLIER = r"(?:previous|prior|preceding|earlier|above|foregoing|existing|original|system|your)"
_RULES = (
    r"(?:instructions?|prompts?|directions?|directives?|guidelines?|rules|commands?|programming|training)"
)
_PATTERN = Pattern(
    "|".join(
        (
            r"(?:ignor(?:e|ing)|disregard|forget|override|bypass)\s"
            rf"(?:[a-z]+\s){{0,3}}{_EARLIER}\s(?:[a-z]+\s){{0,2}}{_RULES}",
            r"(?:ignore|disregard|forget)\s(?:all|everything|anything)\s(?:above|before|you were told|you know)",
            r"(?:reveal|print|show|repeat|leak|output|override|replace|new|updated)\s(?:[a-z]+\s){0,2}system\s?prompt",
            r"system\s?prompt\s(?:override|update|change)|system\soverride",
            r"(?:you are|you're|act as|enter|enable|activate)\s(?:now\s)?(?:in\s)?(?:an?\s)?"
            r"(?:jailbr(?:eak|oken)|developer mode)",
            r"do anything now|developer mode enabled",
            r"<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id)\|>|<<sys>>|\[/?inst\]",
            r"</?(?:system|instructions|conversation|transcript)>",
            r"###\s?(?:system|instructions?)(?:\s(?:prompt|message))?:",
            r"ignor(?:ier\w*|a|e|ez|i|á)\s(?:\w+\s){0,3}(?:vorherig|bisherig|obig|anterior|précédent|precedent)\w*",
            r"(?:ignor(?:a|e|ez|i|á)|oublie[zr]?|olvida|dimentica|vergiss)\s(?:\w+\s){0,3}"
            r"(?:instruc\w+|instruç\w+|istruzioni|anweisungen|consignes)",
            r"(?:игнорируй\w*|забудь\w*)\s(?:\w+\s){0,3}(?:инструкци|указани)\w*",
            r"(?:忽略|无视|忘记)(?:[^。\n]{0,8})(?:之前|以上|前面|先前|所有)(?:[^。\n]{0,8})(?:指令|指示|提示|规则)",
            r"(?:これまで|以前|前|上記|すべて)の[^。\n]{0,8}(?:指示|命令|プロンプト)[^。\n]{0,4}(?:無視|忘れ)",
            r"(?:이전|위의|모든)\s?(?:\w+\s){0,2}(?:지시|명령|지침)\w*\s?(?:을|를)?\s?무시",
        )
    )
)


def injected(text: str) -> bool:
    """Whether the text has one of the usual wordings of an instruction to a model."""
    folded = fold(text)
    return _LITERALS.any_in(folded) and _PATTERN.compiled.search(folded) is not None
