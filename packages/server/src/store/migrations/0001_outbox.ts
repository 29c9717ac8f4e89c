/** Calls that edges must receive. A queue holds the calls about one tunnel, which are delivered in the order of `id`. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table outbox (
    id bigint generated always as identity primary key,
    queue text not null,
    call jsonb not null,
    created_at bigint not null,
    due_at bigint not null,
    attempts integer not null default 0 check (attempts >= 0),
    leased_until bigint not null default 0,
    refused_at bigint,
    refusal text,
    constraint outbox_refusal_is_whole check ((refused_at is null) = (refusal is null))
  )`,
  `create index outbox_queue on outbox (queue, id) where refused_at is null`,
  `create index outbox_due on outbox (due_at, id) where refused_at is null`
)
