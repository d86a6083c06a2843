/** What an embedding product adds to the runtime. */
export { type Embedding, type EmbedOptions, embedOptions } from "./embed-options.ts";
export type { Modules } from "./modules.ts";
export { notificationsDialect, type TaskStatus } from "./notifications-dialect.ts";
export { withModules } from "./with-modules.ts";
