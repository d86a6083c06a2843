import type { RequestBuilder } from "../../prompt/request-builder.ts";
import type { Deps } from "../setup/session-deps.ts";
import type { Reservations } from "./ledger-reservations.ts";

/** The reservations of a session. The first model call loads the code for them. */
export interface LoadedReservations {
  /** Present once the code is loaded. */
  readonly current: Reservations | undefined;
  load(): Promise<Reservations>;
}

/** `undefined` if there is no usage ledger. */
export function loadedReservations(deps: Deps, builder: RequestBuilder): LoadedReservations | undefined {
  const { ledger } = deps;
  if (!ledger) return undefined;
  let current: Reservations | undefined;
  return {
    get current() {
      return current;
    },
    async load() {
      const { Reservations } = await import("./ledger-reservations.ts");
      current ??= new Reservations(deps, ledger, builder);
      return current;
    },
  };
}
