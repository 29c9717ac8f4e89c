/**
 * The checks that a column holds so many hex digits, said so that they cost a twentieth. A counted repetition in a
 * pattern is 20 microseconds for 64 digits and 50 for 128, for every row that is written; its length and a search for
 * anything else are one and a few. What is refused is the same.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `do $$
    declare c record;
    begin
      for c in
        select f.conrelid::regclass as place, f.conname as name, part[1] as held, part[2] as digits
        from pg_constraint f, regexp_match(pg_get_constraintdef(f.oid),
          '^CHECK \\(\\((\\w+) ~ ''\\^\\[0-9a-f\\]\\{(\\d+)\\}\\$''::text\\)\\)$') as part
        where f.contype = 'c' and f.connamespace = current_schema()::regnamespace and part is not null
      loop
        execute format('alter table %s drop constraint %I, add constraint %I check (length(%I) = %s and %I !~ ''[^0-9a-f]'')',
          c.place, c.name, c.name, c.held, c.digits, c.held);
      end loop;
    end $$`
)
