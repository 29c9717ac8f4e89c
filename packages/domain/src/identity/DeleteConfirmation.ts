/** What a person types who means to delete an account. */
import { word } from "../values/Pattern.ts"

export const DeleteConfirmation = word(["DELETE"])
