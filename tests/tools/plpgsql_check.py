"""Checks the body of every PL/pgSQL function of schema jobs with plpgsql_check, on Debian's server."""

from __future__ import annotations

import sys

from tests.tools.database import Cluster

FINDINGS = """
select p.oid::regprocedure::text, c.level, c.lineno, c.statement, c.message, c.detail, c.hint
from pg_catalog.pg_proc as p
inner join pg_catalog.pg_language as l on p.prolang = l.oid
left join pg_catalog.pg_trigger as t on p.oid = t.tgfoid
cross join lateral plpgsql_check_function_tb(
    p.oid, coalesce(t.tgrelid, 0), fatal_errors => false, performance_warnings => false, extra_warnings => true
) as c
where p.pronamespace = 'jobs'::regnamespace and l.lanname = 'plpgsql'
order by 1, c.lineno
"""

FUNCTIONS = """
select count(*)
from pg_catalog.pg_proc as p
inner join pg_catalog.pg_language as l on p.prolang = l.oid
where p.pronamespace = 'jobs'::regnamespace and l.lanname = 'plpgsql'
"""


def main() -> int:
    """Print the findings; non-zero when there is one."""
    cluster = Cluster("debian")
    try:
        database = cluster.create()
        database.psql("create extension plpgsql_check;")
        [(functions,)] = database.query(FUNCTIONS)
        findings = database.query(FINDINGS)
        for function, level, line, statement, message, detail, hint in findings:
            print(f"{function}:{line}: {level}: {message} ({statement})")
            for more in filter(None, (detail, hint)):
                print(f"    {more}")
        print(f"plpgsql_check on PostgreSQL {cluster.major}: {functions} functions, {len(findings)} findings")
        return 1 if findings or not functions else 0
    finally:
        cluster.remove()


if __name__ == "__main__":
    sys.exit(main())
