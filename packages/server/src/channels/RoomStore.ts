/** The table of room pairs: the two holders of each channel of a room. */
import { RoomPair } from "@catenet/domain/channels/Channel"
import { Array as Arr, Effect } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { keysetOn, PageRequest } from "../store/KeysetPage.ts"

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const keyset = keysetOn(sql)
  return {
    put: (pairs: Arr.NonEmptyReadonlyArray<RoomPair>) =>
      sql`insert into room_pairs ${sql.insert(Arr.map(pairs, (pair) => ({ ...pair })))} on conflict do nothing`,
    list: SqlSchema.findAll({
      Request: PageRequest,
      Result: RoomPair,
      execute: (slice) => sql`
        select r.a, r.b, r.channel from channels c join room_pairs r on r.channel = c.channel
        where c.owner = ${slice.of} ${keyset("c.channel", slice)}`
    })
  }
})
