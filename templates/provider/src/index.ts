/** Acme as a model provider of Loopwright. */
export { acme } from "./acme.ts";
export type { AcmeOptions } from "./options.ts";
