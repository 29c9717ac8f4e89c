/** What a person types who means to delete an account. */
import { literal } from "../values/Pattern.ts"

export const DeleteConfirmation = literal(["DELETE"])
