import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileBlobs } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";

it("a plain object is a file of exactly its bytes for other programs, and `get` refuses it", async () => {
  const folder = freshFolder();
  const blobs = fileBlobs({ folder });
  const bytes = new TextEncoder().encode('{"format":1}\n');
  await blobs.put("views/one.json", bytes, { isPlain: true, isDurable: false });
  expect(readFileSync(join(folder, "views/one.json"), "utf8")).toBe('{"format":1}\n');
  await expect(blobs.get("views/one.json")).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  await blobs.remove("views/one.json");
  expect(await blobs.has("views/one.json")).toBe(false);
  await blobs.close();
});
