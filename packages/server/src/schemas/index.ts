export type { Principal } from "../server-options.ts";
