from pathlib import Path
from typing import Any

import pytest

from infra.local.template import Template

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def template() -> Template:
    return Template(ROOT / "template.yaml", {})


@pytest.fixture(scope="session")
def functions(template: Template) -> dict[str, Any]:
    return dict(template.resources("AWS::Serverless::Function"))
