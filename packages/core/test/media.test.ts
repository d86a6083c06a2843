import { describe, expect, it } from "vitest";
import { execute } from "../src/index.ts";
import { world } from "./harness.ts";

const image = (source: { blob: string } | { data: string }) =>
  ({
    role: "user",
    content: [
      { type: "text", text: "look" },
      { type: "image", mediaType: "image/png", source },
    ],
  }) as const;

describe("an image in the blob store", () => {
  it("reaches the provider with its bytes, while the log keeps the key", async () => {
    const { session, store, provider, facts } = world([{ text: "seen" }, { text: "again" }]);
    const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => i % 256);
    await store.blobs.put("local", "picture", { bytes, mediaType: "image/png" });
    expect((await execute(session, image({ blob: "picture" })).result()).text).toBe("seen");
    await execute(session, "and now?").result();
    const [first, second] = provider.requests.map(({ messages }) => messages[0]);
    expect(first).toEqual(image({ data: Buffer.from(bytes).toString("base64") }));
    expect(second).toBe(first);
    expect(JSON.stringify(await facts())).toContain('"blob":"picture"');
  });

  it("that is gone fails the run with its name, without a request", async () => {
    const { session, provider } = world([{ text: "never" }]);
    const result = await execute(session, image({ blob: "gone" })).result();
    expect(result.error).toMatchObject({ code: "BLOB_NOT_FOUND", message: expect.stringContaining("gone") });
    expect(provider.requests).toHaveLength(0);
  });
});
