/**
 * The queue for certificates by the domain whose budget a hostname uses, so that the sweep reads of each domain only as
 * many hostnames as could be offered one; and the calls that an edge refused, found by their queue.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table hosts add column domain text not null generated always as (
    case when hostname like '%.%.%' then substr(hostname, strpos(hostname, '.') + 1) else hostname end) stored`,
  `create index hosts_queue_of_domain on hosts (domain, queued_at, hostname) where claim = 'queued'`,
  `drop index hosts_queue`,
  `create index outbox_refused on outbox (queue, refused_at) where refused_at is not null`
)
