/** The development authority that takes only accounts which are bound to this one. */
export const boundPath = "/bound"
export const boundAccount = "development"
