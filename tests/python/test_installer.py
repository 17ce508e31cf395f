"""Installing from Python: the same script that psql runs."""

from __future__ import annotations

import threading

import pytest
from pgclaim import NewerDatabase, installer, script
from support import cli, rows, value

CATALOGUE = """
select 'function', p.oid::regprocedure::text, md5(pg_get_functiondef(p.oid)) || coalesce(p.proacl::text, '')
from pg_proc as p where p.pronamespace = 'jobs'::regnamespace and p.proname <> 'clock'
union all
select 'column', a.attrelid::regclass::text || '.' || a.attname, format_type(a.atttypid, a.atttypmod) || a.attnotnull::text
from pg_attribute as a join pg_class as c on c.oid = a.attrelid
where c.relnamespace = 'jobs'::regnamespace and a.attnum > 0
order by 1, 2
"""


def test_python_installs_what_psql_installs(db, empty_db):
    installer.install(empty_db.dsn)
    assert rows(empty_db.connect(), CATALOGUE) == rows(db.connect(), CATALOGUE)


def test_a_second_run_changes_nothing(empty_db):
    installer.install(empty_db.dsn)
    conn = empty_db.connect()
    before = rows(conn, CATALOGUE), rows(conn, "select * from jobs.migration")
    installer.install(empty_db.dsn)
    assert (rows(conn, CATALOGUE), rows(conn, "select * from jobs.migration")) == before


def test_many_installers_at_once_all_succeed(empty_db):
    """A20, C32"""
    errors = []

    def install():
        try:
            installer.install(empty_db.dsn)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=install) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    known = script.migrations(script.directory() / "install.sql")
    assert rows(empty_db.connect(), "select version from jobs.migration order by 1") == [(n,) for n in known]


def test_a_newer_database_is_refused_and_left_as_it_is(db):
    conn = db.connect()
    conn.execute("insert into jobs.migration (version, name, applied_at) values (999, 'of the future', jobs.clock())")
    before = rows(conn, CATALOGUE)
    with pytest.raises(NewerDatabase, match="999"):
        installer.install(db.dsn)
    assert rows(conn, CATALOGUE) == before


def test_uninstall_removes_the_schema(db):
    installer.uninstall(db.dsn)
    assert value(db.connect(), "select to_regnamespace('jobs')") is None


def test_a_script_that_fails_changes_nothing(empty_db, tmp_path):
    (tmp_path / "a.sql").write_text("create table a (n int);\n")
    (tmp_path / "main.sql").write_text("\\set ON_ERROR_STOP on\nbegin;\n\\ir a.sql\nselect 1 / 0;\ncommit;\n")
    conn = empty_db.connect()
    with pytest.raises(Exception, match="zero"):
        script.run(conn, tmp_path / "main.sql")
    conn.rollback()
    assert value(conn, "select to_regclass('a')") is None


def test_conditions_are_followed(empty_db, tmp_path):
    (tmp_path / "a.sql").write_text("create table a (n int);\n")
    (tmp_path / "b.sql").write_text("create table b (n int);\n")
    (tmp_path / "main.sql").write_text(
        "select 1 = 1 as yes, 1 = 2 as no \\gset\n\\if :yes\n\\ir a.sql\n\\if :no\n\\ir b.sql\n\\endif\n\\else\nselect 1 / 0;\n\\endif\n\\echo done\n"  # noqa: E501
    )
    conn, said = empty_db.connect(), []
    script.run(conn, tmp_path / "main.sql", said.append)
    assert said == ["done"]
    assert rows(conn, "select to_regclass('a') is null, to_regclass('b') is null") == [(False, True)]


def test_an_unknown_command_is_not_passed_over(empty_db, tmp_path):
    (tmp_path / "main.sql").write_text("\\gexec\n")
    with pytest.raises(ValueError, match="gexec"):
        script.run(empty_db.connect(), tmp_path / "main.sql")


def test_the_command_line_installs_enqueues_and_shows(empty_db):
    dsn = empty_db.dsn
    done = cli("install", "--dsn", dsn)
    assert (done.returncode, done.stdout) == (0, "schema jobs is at version 0.1.0\n"), done.stderr
    done = cli("enqueue", "mail", '{"a": 1}', "--key", "ann", DATABASE_URL=dsn)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(" inserted\n")
    done = cli("status", "--json", DATABASE_URL=dsn)
    assert '"kind": "mail", "due": 1' in done.stdout, done.stderr
    assert "mail" in cli("status", "--dsn", dsn).stdout
    assert cli("version", "--dsn", dsn).stdout == "package 0.1.0\nschema 0.1.0\n"
    assert cli("uninstall", "--yes", "--dsn", dsn).returncode == 0


@pytest.mark.parametrize(
    "args",
    [["enqueue", "mail", "{"], ["enqueue", "mail", "--priority", "99999"]],
    ids=str,
)
def test_the_command_line_explains_what_is_wrong(db, args):
    done = cli(*args, "--dsn", db.dsn)
    assert done.returncode == 1
    assert done.stderr.startswith("pgclaim: ")
    assert "Traceback" not in done.stderr


def test_the_command_line_says_that_nothing_is_installed(empty_db):
    done = cli("status", "--dsn", empty_db.dsn)
    assert done.returncode == 1
    assert done.stderr.startswith("pgclaim: ")
