import type { Clock, SessionStore } from "@loopwright/core/ports";
import { replaceLogMethods } from "../store/replace-log-methods.ts";
import type { OfferHint } from "./offer-hint.ts";

/** The store for handles that do not drive: after each append that leaves a session in need of an owner, a hint is offered to the workers. */
export function hintingStore(store: SessionStore, { hint, clock }: { readonly hint: OfferHint; readonly clock: Clock }): SessionStore {
  return replaceLogMethods(store, {
    async append(ref, request) {
      const outcome = await store.log.append(ref, request);
      const isDue = typeof request.due === "number" && request.due <= clock.now();
      if (isDue && (outcome.type === "ok" || outcome.type === "dup")) void hint(ref);
      return outcome;
    },
  });
}
