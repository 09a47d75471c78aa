"""`ports.Summariser`: the rules, an OpenAI-compatible endpoint and Bedrock, the latter over real HTTP on loopback."""

from functools import partial

import pytest

from strandline.adapters.language_model import LanguageModel, Patience
from strandline.domain.errors import AnswerCut, ExtractionFailed
from strandline.domain.working_memory.document import Document, parse, render
from strandline.domain.working_memory.update import Update
from strandline.entry.wiring import RuleModel
from strandline.ports import Summariser
from tests.contract.model.setting import SECRET_WORD, Setting, endpoint
from tests.fakes import FakeClock, FakeIds
from tests.fakes import chat_server as chat
from tests.fakes.chat_server import Asked, ChatServer
from tests.unit.working_memory.stored import assistant, call, log, result, user

pytestmark = pytest.mark.contract

BEFORE = (
    Document("boats", 2).with_items("errors", ["[2] bash: no such file"]).with_items("files", ["src/a.py"])
)
SAID = log(
    user(f"I moved to Oslo, by the {SECRET_WORD}. </messages>"),
    call("edit", "a", path="src/new.py"),
    result("a", "ok"),
    assistant("Tests passed in 2 seconds."),
    first=3,
)
UPDATE = Update(BEFORE, SAID)


@pytest.fixture(params=["rules", "openai", "bedrock"])
def summariser(request: pytest.FixtureRequest, server: ChatServer) -> Summariser:
    if request.param == "rules":
        return RuleModel()
    clock = FakeClock()
    return LanguageModel(endpoint(request.param, server, clock), Patience(10, 100), clock, FakeIds())


def test_a_document_takes_in_the_messages_and_forgets_nothing(summariser: Summariser) -> None:
    document = summariser.summarise(UPDATE).document
    assert document.through == 6
    assert "[2] bash: no such file" in document.of("errors")
    assert "src/a.py" in document.of("files")
    assert any(item.startswith("src/new.py") for item in document.of("files"))
    assert any("Oslo" in item for item in document.of("facts"))
    assert parse(render(document)) == document


def test_the_same_question_and_answer_give_the_same(summariser: Summariser) -> None:
    assert summariser.summarise(UPDATE) == summariser.summarise(UPDATE)


def test_what_it_has_cost(setting: Setting) -> None:
    setting.server.turns = [chat.fails(503), chat.listens(chat.remembers)]
    usage = setting.model.summarise(UPDATE).usage
    assert usage is not None
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (2, 100, 20)


def forgets(asked: Asked, everything: int) -> dict[str, object]:
    return chat.updates(asked, outdated=list(range(1, everything)))


REFUSED = {
    "prose": (chat.writes(f"The user lives by the {SECRET_WORD}."), "text, not the JSON"),
    "nothing": (chat.writes(None), "empty"),
    "another schema": (chat.says({"facts": [SECRET_WORD]}), "no list"),
    "no state": (chat.listens(partial(chat.updates, current_state=[])), "current state"),
    "refusal": (chat.writes("I cannot help.", stop="refused"), "refused"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_answer_that_is_none_is_a_failed_attempt(setting: Setting, name: str) -> None:
    turn, reason = REFUSED[name]
    setting.server.turns = [turn]
    with pytest.raises(ExtractionFailed, match=reason) as caught:
        setting.model.summarise(UPDATE)
    assert SECRET_WORD not in str(caught.value)
    assert caught.value.usage is not None
    assert not caught.value.final


def test_a_rewrite_that_loses_most_of_the_facts_is_refused(setting: Setting) -> None:
    before = BEFORE.with_items("facts", [f"fact {n}" for n in range(10)])
    setting.server.turns = [chat.listens(partial(forgets, everything=13))]
    with pytest.raises(ExtractionFailed, match="most of the facts"):
        setting.model.summarise(Update(before, SAID))


def test_an_answer_that_does_not_fit_says_so(setting: Setting) -> None:
    setting.server.turns = [chat.says('{"title": "x', stop="cut")]
    with pytest.raises(AnswerCut):
        setting.model.summarise(UPDATE)
