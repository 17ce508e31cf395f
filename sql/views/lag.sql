create or replace view jobs.lag as
select
    s.kind,
    o.key,
    s.stream,
    coalesce(w.seq, s.from_seq) as watermark,
    count(*) as unread,
    date_trunc('millisecond', min(clock.at) - min(o.published_at)) as oldest_age
from jobs.subscription as s
inner join jobs.outbox as o on s.stream = o.stream
left join jobs.watermark as w on s.kind = w.kind and o.key = w.key
cross join (select jobs.clock() as at offset 0) as clock
where o.seq > coalesce(w.seq, s.from_seq)
group by s.kind, o.key, s.stream, coalesce(w.seq, s.from_seq)
order by 6 desc, 1, 2;

comment on view jobs.lag is 'Per subscribed kind and key: how many rows it has not handled, oldest first. A key that is not listed has handled all.';
comment on column jobs.lag.kind is 'The subscribed kind.';
comment on column jobs.lag.key is 'The key.';
comment on column jobs.lag.stream is 'The stream it replays.';
comment on column jobs.lag.watermark is 'The last row that was handled.';
comment on column jobs.lag.unread is 'Committed rows after it.';
comment on column jobs.lag.oldest_age is 'Time since the oldest of them was published.';
