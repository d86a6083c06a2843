import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionRef } from "@loopwright/core/ports";
import type { World } from "./world.ts";

/** Every key of one session becomes a text that means nothing. */
const ruinScript = `local count = 0
for _, key in ipairs(redis.call('KEYS', '*')) do
  if string.find(key, ARGV[1], 1, true) then redis.call('SET', key, 'nonsense') count = count + 1 end
end
return count`;

/** Makes all that the store holds of a session unreadable, past the store. @throws Error where there is nothing */
export async function ruinSession({ store, ground }: World, { scope, session }: SessionRef): Promise<void> {
  let count = 0;
  if (store.type === "redis" && ground.redis)
    count = Number((await ground.redis.command("EVAL", ruinScript, "0", `{${scope}.${session}}`)).replace(":", ""));
  if (store.type === "files") {
    const own = join(store.folder, "sessions", scope, session);
    for (const entry of await readdir(own, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      await writeFile(join(entry.parentPath, entry.name), "nonsense");
      count += 1;
    }
    await writeFile(join(store.folder, "summaries", scope, session), "nonsense");
  }
  if (!(count > 0)) throw new Error(`Nothing of ${session} was found to be ruined.`);
}
