import { createClient } from "@loopwright/client";
import { scripted } from "@loopwright/core/memory";
import { expect, test } from "vitest";
import { createUiControl } from "./ui-control.ts";

test("A27, A28: a page that the user watches has the tools that work in it, and a side panel those of the server alone", async () => {
  const provider = scripted(() => ({ text: "Hello." }));
  const server = createUiControl(provider);
  const client = createClient({ url: "http://localhost", fetch: (request) => server.fetch(request, { remoteAddress: "127.0.0.1" }) });
  const shownOn = async (surface: string): Promise<readonly string[]> => {
    await client.execute("Hello.", { labels: { surface } }).result();
    return provider.requests.at(-1)?.tools?.map(({ name }) => name) ?? [];
  };
  expect(await shownOn("full-page")).toEqual(["find_customer", "inspect_page", "set_field", "click_button", "navigate", "select_row"]);
  expect(await shownOn("side-panel")).toEqual(["find_customer"]);
  await server.close();
});
