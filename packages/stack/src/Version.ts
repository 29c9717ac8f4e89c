/** The version of the platform, as every program of it prints it. */
export const version = "0.1.0"
export const line = `catenet ${version}`
