/** Credits: an account's balance, the payments that fill it, the routing tokens that spend it. */
import { Schema } from "effect"
import { word } from "../values/Pattern.ts"
import { AccountId, PaymentId } from "../values/Ids.ts"
import { Count, UnixSeconds } from "../values/Numbers.ts"
import { Subject } from "../values/Subject.ts"

/** What a routing token costs, in credits. */
export const tokenPrice = 1

/** The balance is never negative and equals the sum of the ledger. */
export class Account extends Schema.Class<Account>("Account")({
  account: AccountId,
  balance: Count,
  subject: Subject
}) {}

/** Credits that were asked for; they count only after the provider has confirmed the payment. */
export class PaymentIntent extends Schema.Class<PaymentIntent>("PaymentIntent")({
  payment: PaymentId,
  account: AccountId,
  credits: Count,
  confirmed: Schema.Boolean,
  created_at: UnixSeconds
}) {}

/** A routing token that was bought. The token itself is in the answer that issued it. */
export class Issuance extends Schema.Class<Issuance>("Issuance")({ price: Count, at: UnixSeconds }) {}

/** The provider's event. Only `succeeded` credits an account. */
export class PaymentEvent extends Schema.Class<PaymentEvent>("PaymentEvent")({
  payment: PaymentId,
  status: Schema.String
}) {}

/** Typed by a person who means to delete an account. */
export const DeleteConfirmation = word(["DELETE"])
