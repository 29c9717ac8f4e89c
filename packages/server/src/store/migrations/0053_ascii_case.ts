/**
 * The checks that e-mail addresses and actors are kept in lower case ask for ASCII letters alone, as the program folds
 * them. What `lower` does to others depends on the locale of the database, and some of them become ASCII letters.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `do $$
    declare c record;
    begin
      for c in
        select f.conrelid::regclass as place, f.conname as name, part[1] as held
        from pg_constraint f, regexp_match(pg_get_constraintdef(f.oid), '^CHECK \\(\\((\\w+) = lower\\(\\1\\)\\)\\)$') as part
        where f.contype = 'c' and f.connamespace = current_schema()::regnamespace and part[1] in ('email', 'actor')
      loop
        execute format('alter table %s drop constraint %I, add constraint %I check (%I = lower(%I collate "C"))',
          c.place, c.name, c.name, c.held, c.held);
      end loop;
    end $$`
)
