import { checkedRef } from "@loopwright/core/memory";
import type { DraftStore } from "@loopwright/core/ports";
import type { Connection } from "./connection/connection.ts";
import { textOf } from "./connection/reply.ts";
import { answerOf } from "./connection/script.ts";
import type { StoreKeys } from "./keys.ts";
import { putDraftScript } from "./views/index-scripts.ts";

/** One hash per session; goes with it. */
export function redisDrafts({ connection, keys }: { readonly connection: Connection; readonly keys: StoreKeys }): DraftStore {
  return {
    async put(ref, name, value) {
      const { meta, drafts } = keys.session(checkedRef(ref));
      await answerOf(connection, putDraftScript, { keys: [meta, drafts], args: [name, JSON.stringify(value)] });
    },
    async get(ref, name) {
      const outcome = await connection.ask(["HGET", keys.session(checkedRef(ref)).drafts, name]);
      // A draft that cannot be read any more is lost, as drafts may be.
      if (outcome.type === "refused" && outcome.refusal.word === "WRONGTYPE") return undefined;
      const text = textOf(connection.answerOf(outcome));
      return text === undefined ? undefined : JSON.parse(text);
    },
    async remove(ref, name) {
      await connection.answer(["HDEL", keys.session(checkedRef(ref)).drafts, name]);
    },
  };
}
