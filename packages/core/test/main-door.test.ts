import { expectTypeOf, it } from "vitest";
import type * as door from "../src/index.ts";
import type * as ports from "../src/ports/index.ts";

/** What callers write the names of: what they pass to `createAgent`, `createSession`, `readHistory`, and what they list. */
interface Named<Provider, Request, Capabilities, Prices, Store, Channel, Time, Ids, Log, Ref, Summary, Hit> {
  readonly passed: readonly [Provider, Request, Capabilities, Prices, Store, Channel, Time, Ids, Log, Ref];
  readonly listed: readonly [Summary, Hit];
}

it("every type of a port that an option of the main door takes is named by the main door too, and is the same", () => {
  type OfDoor = Named<
    door.ModelProvider,
    door.ModelRequest,
    door.ModelCapabilities,
    door.PriceTable,
    door.SessionStore,
    door.EventChannel,
    door.Clock,
    door.IdSource,
    door.Logger,
    door.SessionRef,
    door.SessionSummary,
    door.SessionHit
  >;
  type OfPorts = Named<
    ports.ModelProvider,
    ports.ModelRequest,
    ports.ModelCapabilities,
    ports.PriceTable,
    ports.SessionStore,
    ports.EventChannel,
    ports.Clock,
    ports.IdSource,
    ports.Logger,
    ports.SessionRef,
    ports.SessionSummary,
    ports.SessionHit
  >;
  expectTypeOf<OfDoor>().toEqualTypeOf<OfPorts>();
  expectTypeOf<NonNullable<door.SessionOptions["store"]>>().toEqualTypeOf<door.SessionStore>();
  expectTypeOf<door.Agent["provider"]>().toEqualTypeOf<door.ModelProvider>();
});
