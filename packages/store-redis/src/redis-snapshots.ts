import type { SnapshotStore } from "@loopwright/core/ports";
import { checkedRef } from "@loopwright/core/stores";
import type { Connection } from "./connection/connection.ts";
import { textOf } from "./connection/reply.ts";
import { answerOf } from "./connection/script.ts";
import type { StoreKeys } from "./keys.ts";
import { putSnapshotScript } from "./views/index-scripts.ts";

/** One hash per session; goes with it. */
export function redisSnapshots({ connection, keys }: { readonly connection: Connection; readonly keys: StoreKeys }): SnapshotStore {
  return {
    async put(ref, name, value) {
      const { meta, snapshots } = keys.session(checkedRef(ref));
      await answerOf(connection, putSnapshotScript, { keys: [meta, snapshots], args: [name, JSON.stringify(value)] });
    },
    async get(ref, name) {
      const outcome = await connection.ask(["HGET", keys.session(checkedRef(ref)).snapshots, name]);
      // A snapshot that cannot be read is lost, as the port allows.
      if (outcome.type === "refused" && outcome.refusal.word === "WRONGTYPE") return undefined;
      const text = textOf(connection.answerOf(outcome));
      return text === undefined ? undefined : JSON.parse(text);
    },
    async remove(ref, name) {
      await connection.answer(["HDEL", keys.session(checkedRef(ref)).snapshots, name]);
    },
  };
}
