#!/usr/bin/env bash
# Makes a bare Debian ready for the tests: installs the system packages that are missing, then the virtual
# environment .venv with the package (editable) and the tools. Safe to run again; does nothing twice.
set -euo pipefail
cd "$(dirname "$0")/../.."

say() { printf 'setup: %s\n' "$*"; }

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        say "needs root for: $*" >&2
        return 1
    fi
}

updated=
apt_install() {
    say "installing $*"
    if [ -z "$updated" ]; then
        as_root apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 update >/dev/null
        updated=1
    fi
    # RUNLEVEL: what a package would start stays down; the tests start their own.
    as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -q --no-install-recommends \
        -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold "$@" >/dev/null
}

newest_major() {
    local path
    for path in /usr/lib/postgresql/*/bin/initdb; do
        [ -x "$path" ] && basename "$(dirname "$(dirname "$path")")"
    done | sort -n | tail -n 1
}

if [ -z "$(newest_major)" ]; then
    # The tests start servers of their own: the packages need not make one.
    if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
        apt_install postgresql-common
        as_root sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
    fi
    apt_install postgresql
fi
major=$(newest_major)
share=/usr/share/postgresql/$major/extension

missing=()
[ -e "$share/pgtap.control" ] || missing+=("postgresql-$major-pgtap")
[ -e "$share/plpgsql_check.control" ] || missing+=("postgresql-$major-plpgsql-check")
command -v pg_prove >/dev/null || missing+=(libtap-parser-sourcehandler-pgtap-perl)
command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ] || missing+=(pgbouncer)
python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
if [ ${#missing[@]} -gt 0 ]; then
    apt_install "${missing[@]}"
fi

if ! .venv/bin/python -c 'import pip' 2>/dev/null; then
    say "making .venv"
    python3 -m venv --clear .venv
fi
say "installing the tools and the package into .venv"
.venv/bin/python -m pip install -q --disable-pip-version-check --retries 10 --timeout 60 \
    -r tests/requirements.txt -e python
say "ready: $(.venv/bin/python --version), PostgreSQL $major and the embedded one"
touch .venv/.ready
