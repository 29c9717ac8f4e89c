/** Keeps the options of a tunnel in one column, so that a new option needs none of its own. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table tunnels add column options jsonb default '{}' not null`,
  `update tunnels set options = '{"http_only": true}' where http_only`,
  `alter table tunnels drop column http_only`,
  `update outbox set about = 'SetOptions',
    call = jsonb_build_object('_tag', 'SetOptions', 'options', jsonb_build_object('http_only', call -> 'required'))
    where call ->> '_tag' = 'SetHttpOnly'`
)
