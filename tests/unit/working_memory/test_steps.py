"""What a text names, and what looking for it costs."""

import time

from strandline.domain.working_memory.steps import SCANNED_CHARS, paths


def test_files_are_named_and_addresses_of_the_web_are_not() -> None:
    text = "see src/a.py and svn+ssh://host/trunk/b.py, then HTTPS://example.org/c.py; setup.py"
    assert paths(text) == ["src/a.py", "setup.py"]


def test_a_word_without_an_end_is_looked_through_once() -> None:
    """Looked through from each of its letters for an address it took two seconds; now it is a hundredth of one."""
    word = "x" * SCANNED_CHARS
    began = time.process_time()
    assert paths(word) == []
    assert time.process_time() - began < 0.5
