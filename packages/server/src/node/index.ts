export type { PageFile } from "../server-options.ts";
