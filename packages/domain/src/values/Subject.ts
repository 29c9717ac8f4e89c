/** Who owns things: the verified subject of a token or session, as the identity provider names it. */
import { Schema } from "effect"
import { line } from "./Text.ts"

export const Subject = line(255).pipe(Schema.brand("Subject"))
export type Subject = typeof Subject.Type
