import { createClient, type LoopwrightClient } from "@loopwright/client";
import { systemText } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { expect, it, onTestFinished } from "vitest";
import { createShop, type Order, type ShopUser } from "./shop.ts";

const users = new Map<string, ShopUser>([
  ["annescookie", { name: "anne", team: "tulips", role: "clerk" }],
  ["benscookie", { name: "ben", team: "tulips", role: "manager" }],
  ["carlscookie", { name: "carl", team: "roses", role: "manager" }],
  ["nightlyjob", { name: "nightly", team: "tulips", role: "service" }],
]);

const call = (name: string, args: object = {}) => ({ calls: [{ name, args: { ...args } }] });

it("a product with its own users, module and tools gets an assistant: layered prompt, approval by a manager, live updates, teams apart", async () => {
  const orders: Order[] = [
    { id: "o1", team: "tulips", item: "a wedding", euros: 400, status: "open" },
    { id: "o2", team: "tulips", item: "a bunch", euros: 12, status: "open" },
    { id: "o3", team: "roses", item: "a garden", euros: 900, status: "open" },
  ];
  const provider = scripted([
    call("refund_order", { id: "o2" }),
    call("refund_order", { id: "o1" }),
    { text: "Both are refunded." },
    call("refund_order", { id: "o1" }),
    { text: "There is no such order." },
  ]);
  const { server } = createShop({ provider, store: memoryStore(), users, orders });
  onTestFinished(() => server.close());
  const as = (cookie: string): LoopwrightClient =>
    createClient({ url: "http://localhost", headers: { Cookie: `shop=${cookie}` }, fetch: (request) => server.fetch(request) });
  const [anne, ben, carl, nightly] = [as("annescookie"), as("benscookie"), as("carlscookie"), as("nightlyjob")];

  const leaving = new AbortController();
  const opened = Promise.withResolvers<void>();
  const news: string[] = [];
  const watching = (async () => {
    const onState = ({ state }: { readonly state: string }): void => void (state === "open" && opened.resolve());
    for await (const batch of anne.notifications({ signal: leaving.signal, onState }))
      for (const event of batch)
        if (event.type === "notification") news.push(`${event.notification.type} ${JSON.stringify(event.notification.data)}`);
  })();
  await opened.promise;

  const asked = await anne.execute("Refund both.", { sessionId: "one", context: {}, labels: { activeModule: "orders" } }).result();
  expect([asked.status, orders.map(({ status }) => status)]).toEqual(["awaiting_tool_execution", ["open", "refunded", "open"]]);
  expect(systemText(provider.requests[0]?.system)?.split("\n\n")).toEqual([
    "You are the assistant of a flower shop. Be brief.",
    "The team writes without exclamation marks.",
    "The user looks at the list of orders.",
  ]);

  // A clerk may not decide, another team sees nothing, and the manager has it in the inbox.
  expect([(await anne.approvals.list()).approvals, (await carl.approvals.list()).approvals]).toEqual([[], []]);
  const [waiting] = (await ben.approvals.list()).approvals;
  expect(waiting).toMatchObject({ sessionId: "one", toolName: "refund_order", args: { id: "o1" }, reason: "It is more than 100 euros." });
  const { callKey = "", argsDigest = "" } = waiting ?? {};
  await expect(anne.sessions.decide("one", callKey, { decision: "allow", argsDigest })).rejects.toMatchObject({ code: "FORBIDDEN" });
  await expect(carl.sessions.decide("one", callKey, { decision: "allow", argsDigest })).rejects.toMatchObject({
    code: "SESSION_NOT_FOUND",
  });
  const decided = await ben.sessions.decide("one", callKey, { decision: "allow", argsDigest });
  expect([(await decided.stream().result()).text, orders[0]?.status]).toEqual(["Both are refunded.", "refunded"]);

  await nightly.notify({ type: "system_message", data: "The shop closes at six." });
  await expect
    .poll(() => news)
    .toEqual(['refresh_orders {"order":"o2"}', 'refresh_orders {"order":"o1"}', 'system_message "The shop closes at six."']);
  leaving.abort();
  await watching;

  // The tools of the module work for the caller's team alone.
  await carl.execute("Refund o1.", { sessionId: "two", context: {}, labels: { activeModule: "orders" } }).result();
  expect(JSON.stringify(provider.requests.at(-1)?.messages.at(-1))).toContain("There is no order o1.");
  await expect(carl.sessions.get("one")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  await expect(as("stolen").agents()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
});
