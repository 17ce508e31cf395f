"""Sessions in any time zone mean the same instants."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.sql.play import run_all

ZONES = ["UTC", "Asia/Tokyo", "America/New_York", "Asia/Kathmandu", "Europe/Berlin"]


def set_clock(db, s, when: str) -> None:
    """Let the clock stand still at that time."""
    db.stop_clock()
    db.advance(s.value("select extract(epoch from %s::timestamptz - jobs.clock())::float8", when))


def test_one_instant_from_five_zones(db, session):
    """C33: the same instant as a literal with its zone and as a parameter; due in all of them at once, and not before."""
    sessions = {zone: session(TimeZone=zone) for zone in ZONES}
    set_clock(db, sessions["UTC"], "2027-01-15 11:59:59+00")
    instant = datetime(2027, 1, 15, 12, tzinfo=UTC)
    for zone, s in sessions.items():
        s.run("select jobs.enqueue('k', %s, run_after => '2027-01-15 21:00:00+09')", zone + " literal")
        s.enqueue("k", zone + " parameter", run_after=instant)
        s.one("enqueue_many", kind="k", keys=[zone + " bulk"], run_after=[instant])
    for s in sessions.values():
        assert s.claim(batch=100) == []
    db.advance(1)
    assert len(sessions["Asia/Tokyo"].claim(batch=100)) == 15


@pytest.mark.parametrize("now", ["2027-03-13 20:00+00", "2027-03-27 12:00+00", "2027-11-06 20:00+00", "2027-01-31 12:00+00"])
def test_a_day_is_as_long_in_every_zone(db, session, now):
    """
    C33, A12: delays, leases and waits of a day or more, over the nights in which clocks are changed: the same instant in each zone.
    """
    sessions = {zone: session(TimeZone=zone) for zone in ZONES}
    first = sessions["UTC"]
    set_clock(db, first, now)
    first.call("define", kind="lease", lease="2 days")
    first.call("define", kind="wait", backoff_base="2 days", backoff_max="2 days", jitter=0)
    first.call("define", kind="kept", keep_done="2 days", keep_failed="2 days")
    seen: dict[str, list] = {}
    for zone, s in sessions.items():
        s.enqueue("later", zone, delay="2 days")
        times = [s.value("select run_after from jobs.job where kind = 'later' and key = %s", zone)]
        s.enqueue("lease", zone)
        job = s.take("lease")
        times += [job.claimed_until, s.extend(job), s.extend(job, "3 days")]
        s.enqueue("wait", zone)
        times.append(s.fail(s.take("wait")).run_after)
        s.enqueue("retry", zone)
        times.append(s.fail(s.take("retry"), retry_in="2 days").run_after)
        s.enqueue("snooze", zone)
        job = s.take("snooze")
        s.release(job, delay="2 days")
        times.append(s.value("select run_after from jobs.job where id = %s", job.id))
        seen[zone] = times
    assert {zone for zone, times in seen.items() if times != seen["UTC"]} == set()


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
def test_a_whole_life_in_two_zones(db, session, zone):
    """A12: one session in UTC, one elsewhere, in turns: lease, expiry, late calls, backoff, schedule."""
    here, there = session(TimeZone="UTC"), session(TimeZone=zone)
    db.stop_clock()
    here.enqueue("k", "a", delay="10 s")
    assert there.claim() == []
    assert there.one("next_due")[0].total_seconds() == 10
    db.advance(10)
    job = there.take()
    assert (job.claimed_until - here.value("select jobs.clock()")).total_seconds() == 60
    assert here.holds(job) is True
    db.advance(59.999)
    assert here.claim() == []
    db.advance(0.001)
    assert there.holds(job) is False
    again = here.take()
    assert again.attempts == 1
    until = there.extend(again, "1 hour")
    assert (until - here.value("select jobs.clock()")).total_seconds() == 3600
    there.fail(again, retry_in="5 s")
    assert here.claim() == []
    db.advance(5)
    assert len(run_all(db, there)) == 1
