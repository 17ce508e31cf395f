begin;
select plan(49);

create or replace function jobs.clock() returns timestamptz language sql volatile as $$
    select current_setting('test.clock')::timestamptz
$$;
set local test.clock = '2030-01-01 12:00:00+00';

create temp table texts (what text, value text);
insert into texts values
('a quote', 'it''s "quoted" \ and $$dollared$$'),
('an injection', '''); drop table jobs.job; --'),
('an emoji', '🦊🇩🇪👩‍👩‍👧'),
('right to left', 'שלום עולם'),
('white space', E' \t\r\n '),
('array syntax', '{a,"b",NULL}'),
('wildcards', '%_*'),
('the word null', 'NULL'),
('2,000 characters', repeat('0123456789', 200)),
('2,048 bytes', repeat('é', 1024)),
('random 2,048 bytes', (select string_agg(md5(n::text), '') from generate_series(1, 64) as n));
select is(e.outcome, 'inserted', t.what || ' is inserted') from texts as t cross join lateral jobs.enqueue('k', t.value) as e;
select is(e.outcome, 'reset', t.what || ' is met again')
from texts as t cross join lateral jobs.enqueue('k', t.value, delay => '1 s') as e;
select is((select count(*) from jobs.job as j where j.key = t.value), 1::bigint, t.what || ' is one job') from texts as t;
create temp table held as
select c.* from texts as t cross join lateral jobs.enqueue(left(t.value, 32), 'x') as e cross join lateral jobs.claim(array[left(t.value, 32)]) as c;
select is((select count(*) from held as h where h.kind = left(t.value, 32)) > 0, true, t.what || ' is a kind') from texts as t;
select is(e.outcome, 'inserted', 'a kind of 128 bytes') from jobs.enqueue(repeat('é', 64)) as e;
select is(e.outcome, 'inserted', 'the empty key is a key') from jobs.enqueue('k', '') as e;
select is(e.outcome, 'reset', 'and not the same as none') from jobs.enqueue('k', '', delay => '1 s') as e;
select is(e.outcome, 'inserted', 'keys differ by case') from jobs.enqueue('k', 'A') as e cross join lateral jobs.enqueue('k', 'a') as f;
select is(e.outcome, 'inserted', 'the same key of another kind is another job') from jobs.enqueue('l', 'A') as e;

select * from finish();
rollback;
