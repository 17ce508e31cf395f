"""The wheel, as its user meets it: built, installed into a new virtual environment, called from outside the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from support import environment, rows

from tests.tools.database import ROOT


def run(*command: str | Path, cwd: Path, **extra: str) -> str:
    env = {name: text for name, text in environment().items() if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env | extra, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built without a look at any registry: the build's own tool is one of the tests' requirements."""
    target = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel"]
    run(*pip, "-q", "--no-index", "--no-deps", "--no-build-isolation", "--no-cache-dir", "-w", target, ROOT / "python", cwd=target)
    (built,) = target.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new virtual environment with the wheel in it, which finds what the wheel depends on in the one of the tests."""
    place = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--without-pip", place, cwd=place)
    (packages,) = place.glob("lib/python*/site-packages")
    # A directory named here is searched, but its own .pth files are not read: the checkout stays out of sight.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", place / "bin" / "python"]
    run(*pip, "install", "-q", "--no-index", "--no-deps", wheel, cwd=place)
    return place / "bin"


def test_it_carries_the_sql_and_the_licence_and_no_more(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert archive.read("pgclaim/sql/install.sql") == (ROOT / "sql" / "install.sql").read_bytes()
    package = {path.relative_to(ROOT / "python" / "src") for path in (ROOT / "python" / "src" / "pgclaim").rglob("*.py")}
    schema = {"pgclaim" / path.relative_to(ROOT) for path in (ROOT / "sql").rglob("*.sql")}
    assert inside == {str(path) for path in package | schema} | {"pgclaim/py.typed", "pgclaim/LICENSE"}


def test_it_installs_the_schema_from_outside_the_checkout(scripts: Path, db, empty_db, tmp_path: Path) -> None:
    where = run(scripts / "python", "-c", "import pgclaim; print(pgclaim.__file__)", cwd=tmp_path)
    assert where.startswith(str(scripts.parent) + os.sep)
    answer = run(scripts / "python", "-m", "pgclaim", "install", cwd=tmp_path, DATABASE_URL=empty_db.dsn)
    assert answer == f"schema jobs is at version {rows(db.connect(), 'select jobs.version()')[0][0]}\n"
    functions = "select oid::regprocedure::text from pg_proc where pronamespace = 'jobs'::regnamespace order by 1"
    assert rows(empty_db.connect(), functions) == rows(db.connect(), functions)


def test_its_command_explains_itself(scripts: Path, tmp_path: Path) -> None:
    text = run(scripts / "pgclaim", "--help", cwd=tmp_path)
    for command in ("install", "uninstall", "status", "enqueue", "work", "version"):
        assert f" {command} " in text
