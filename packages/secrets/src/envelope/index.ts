/** The encryption of one value, which secrets and stores share. */
export { keyBytes, open, randomKey, seal } from "./envelope.ts";
